#!/usr/bin/env python3
"""generate.py - from the table of settings to C and manual pages

    generate.py keys OUT TABLE...          rows of the schema: config/schema.h
    generate.py options OUT TABLE...       options of run, plan and why: cli/option/policy_options.h
    generate.py ids OUT TABLE...           enum setting
    generate.py values OUT TABLE...        what is one number, a word or a yes: policy/setting.h
    generate.py manual IN OUT TABLE...     a manual page, its marks replaced

README.md says what a row can have. A row that lacks something, or has something unknown, ends the build.
"""
import configparser
import os
import re
import sys

TYPES = ('table tables bool word count decimal size duration text path target variable host '
         'expectation command').split()
# What a project's file may do with a key, and what it fits.
PROJECT = 'never same smaller stricter network fewer more workspace within mounts commands free'.split()
FLAGS = {  # an attribute that is "yes", and its flag in config/schema.h
    'none': 'SCHEMA_NONE', 'required': 'SCHEMA_REQUIRED', 'unset-means-all': 'SCHEMA_UNSET_ALL',
    'secret': 'SCHEMA_SECRET',
}
NARROW = 'own less more same free'.split()  # enum setting_narrow in policy/setting.h
NUMBERS = 'count decimal size duration'.split()
OF_VALUE = set('value narrow range inverted check fill'.split())
OF_KEY = set(FLAGS) | set('type words other-word default project per-user same-as like short-for help man'.split())
OF_FLAG = set('flag flag-help flag-man apply early'.split())
SHARED = 'run, plan and why'


class Row(dict):
    """An attribute that a row does not have is ''."""

    def __missing__(self, name):
        return ''

    def fail(self, text):
        sys.exit(f'{self.file}: [{self.name}]: {text}')

    def lines(self, name):
        return self[name].strip('\n').split('\n') if self[name] else []


# ---- reading

def read(files):
    """The rows in the order of the files, and the lists of [order]."""
    rows, order = [], {}
    for file in files:
        parser = configparser.RawConfigParser(delimiters=('=',), comment_prefixes=('#',), strict=True)
        parser.SECTCRE = re.compile(r'\[(?P<header>.+)\]')
        with open(file, encoding='utf-8') as text:
            parser.read_file(text)
        for name in parser.sections():
            if name == 'order':
                order = {title: names.split() for title, names in parser.items(name)}
                continue
            row = Row(parser.items(name))
            row.name, row.file = name, os.path.basename(file)
            row.is_key = '--' not in name
            rows.append(row)
    by_name = {row.name: row for row in rows}
    for row in rows:
        if row['same-as']:
            row.main = by_name.get(row['same-as']) or row.fail('same-as names no key')
            row.main.also = row.name
            row.update({k: v for k, v in row.main.items()
                        if k not in ('help', 'man') and k not in OF_FLAG | OF_VALUE})
    for row in rows:
        check(row)
    return rows, order


def check(row):
    unknown = set(row) - OF_KEY - OF_FLAG - OF_VALUE
    if unknown:
        row.fail(f'unknown attribute {", ".join(sorted(unknown))}')
    if row.is_key:
        kind = re.sub('^list of ', '', row['type'])
        row.kind, row.is_list = kind, row['type'].startswith('list of ')
        rule, _, strict = row['project'].partition(' ')
        row.rule, row.strict = rule, strict
        if kind not in TYPES:
            row.fail(f'type must be one of {", ".join(TYPES)}, or "list of" one')
        if rule not in PROJECT:
            row.fail(f'project must be one of {", ".join(PROJECT)}: it says what a narrower value is')
        if strict not in ('', 'true', 'false') or (rule == 'stricter' and kind == 'bool' and not strict):
            row.fail('"stricter" of a bool says towards what: "stricter true" or "stricter false"')
        if (kind == 'word') != bool(row['words']):
            row.fail('words belong to the type word, and to no other')
        if not row['help'] or row['help'].endswith('.'):
            row.fail('help must be a sentence without the dot')
    if row['flag']:
        if not row['flag-help'] or not (row['apply'] or row['value']):
            row.fail('a flag needs flag-help, and a value or a function to apply it')
        words = row['flag'].split()
        row.option = words.pop(0)[2:]
        row.letter = words.pop(0)[1] if words and re.fullmatch('-[a-z]', words[0]) else ''
        row.value = ' '.join(words)
    elif not row.is_key:
        row.fail('has neither a key nor a flag')
    if row['value'] and row['narrow'] not in NARROW:
        row.fail(f'narrow must be one of {", ".join(NARROW)}: it says what a narrower value is')
    row.id = 'SETTING_' + re.sub('[^A-Z]+', '_', row.name.upper()).strip('_')


def options_of(rows, titles, order):
    """The rows of the options in these lists of [order]."""
    found = []
    for title in titles:
        of = title.split()[0] + ' ' if title.endswith(' alone') else ''
        named = {row.option: row for row in rows if row['flag'] and (row.is_key or row.name.startswith(of + '--'))}
        for name in order[title]:
            if name not in named:
                sys.exit(f'[order]: {title}: there is no option --{name}')
            found.append(named[name])
    return found


def check_order(rows, order):
    listed = options_of(rows, order, order)
    for row in rows:
        if row['flag'] and row not in listed:
            row.fail(f'--{row.option} is in no list of [order] in options.ini')


# ---- C

def quote(text):
    return 'NULL' if not text else '"' + text.replace('\\', '\\\\').replace('"', '\\"') + '"'


def print_keys(rows, order):
    """config/schema.h"""
    lists, text = {}, []
    for row in rows:
        if not row.is_key:
            continue
        flags = [flag for name, flag in FLAGS.items() if row[name] == 'yes']
        flags += ['SCHEMA_LIST'] if row.is_list else []
        flags += ['SCHEMA_STRICT_TRUE'] if row.strict == 'true' else []
        flags += ['SCHEMA_NO_OVERRIDE'] if row['per-user'] == 'no' else []
        members = [f'"{row.name}"', f'sizeof "{row.name}"', 'SCHEMA_' + row.kind.upper(),
                   'PROJECT_' + row.rule.upper(), ' | '.join(flags) or '0', quote(row['default']), quote(row['help'])]
        if row['words']:
            words = tuple(re.split(r',\s*', row['words']))
            members.append(f'.words = {lists.setdefault(words, f"words_{len(lists)}")}')
        if row['other-word']:
            members.append('.other_word = "{}", .other_means = "{}"'.format(*row['other-word'].split()))
        for member, value in (('also', getattr(row, 'also', '')), ('same_as', row['same-as']),
                              ('like', row['like']), ('short_for', row['short-for'])):
            if value:
                members.append(f'.{member} = {quote(value)}')
        text.append('    { ' + ', '.join(members) + ' },\n')
    head = ['#include "config/schema.h"\n\n']
    for words, name in lists.items():
        head.append(f'static const char *const {name}[] = {{ {", ".join(map(quote, words))}, NULL }};\n')
    return ''.join(head + ['\nconst struct schema_row schema_rows[] = {\n'] + text + ['    { 0 },\n};\n'])


def number(row, text):
    """1.5g, 30d, 512 or true as a number; none, or nothing, lifts a limit."""
    if row.kind == 'bool':
        return str(int(text == 'true'))
    if row.kind == 'word':
        return str(re.split(r',\s*', row['words']).index(text) if text else 0)
    if text in ('', 'none'):
        return 'COOP_LIMIT_NONE' if row['none'] else '0'
    found = re.fullmatch(r'([0-9.]+)([a-z]*)', text) or row.fail(f'"{text}" is no number')
    unit = {'size': {'': 1, 'k': 1 << 10, 'm': 1 << 20, 'g': 1 << 30, 't': 1 << 40}, 'count': {'': 1},
            'decimal': {'': 1000}, 'duration': {'ms': 1, '': 1000, 's': 1000, 'm': 60000, 'h': 3600000, 'd': 86400000}}
    if found[2] not in unit[row.kind]:
        row.fail(f'"{text}" has a unit that is not of its type')
    return str(int(float(found[1]) * unit[row.kind][found[2]])) + 'u'


def print_ids(rows, order):
    """enum setting: rows that have a value, in the order of the table"""
    ids = ''.join(f'    {row.id},\n' for row in rows if row['value'])
    return f'#pragma once\n\nenum setting {{\n{ids}    SETTINGS\n}};\n'


def value_members(row, lists):
    """One row of policy_settings[]; a value of "-" has no number, "stored" one in coop_policy.values."""
    kind = row.kind if row.is_key else 'bool'
    is_own = row['value'] == '-' or (kind == 'word' and row['fill'] == 'own')
    if not is_own and (kind not in NUMBERS + ['bool', 'word'] or (row.is_key and row.is_list)):
        row.fail('a value is a number, a word or a bool')
    members = {'name': quote(getattr(row, 'option', row.name.split('.')[-1])), 'key': quote(row.is_key and row.name),
               'flag': quote(row['flag'] and '--' + row.option), 'narrow': 'SETTING_' + row['narrow'].upper(),
               'type': 'SETTING_' + ('nothing' if is_own else kind).upper()}
    if row['value'] != '-':
        member = f'values[{row.id}]' if row['value'] == 'stored' else row['value']
        members['offset'] = f'offsetof(coop_policy, {member})'
        members['size'] = f'sizeof(((coop_policy *)0)->{member})'
    if is_own:
        return members
    low, _, high = row['range'].partition(' to ')
    members['min'] = number(row, low) if low else '0'
    members['max'] = '1' if kind == 'bool' else number(row, high) if high else 'INT64_MAX'
    if kind == 'word':
        words = tuple(re.split(r',\s*', row['words']))
        members['words'] = lists.setdefault(words, f'words_{len(lists)}')
        members['max'] = str(len(words) - 1)
    if row.is_key and row['fill'] != 'own':
        members['is_filled'] = 'true'
        members['fallback'] = number(row, row['default'])
    for name, has in (('is_inverted', row['inverted']), ('may_be_none', row['none']), ('is_stored', row['value'] == 'stored')):
        if has:
            members[name] = 'true'
    if row['check']:
        members['check'] = row['check']
    return members


def print_values(rows, order):
    """policy/setting.h"""
    lists, text = {}, []
    for row in rows:
        if row['value']:
            members = ', '.join(f'.{name} = {value}' for name, value in value_members(row, lists).items())
            text.append(f'    [{row.id}] = {{ {members} }},\n')
    head = ['#include "policy/setting.h"\n\n#include <stddef.h>\n\n']
    head += [f'static const char *const {name}[] = {{ {", ".join(map(quote, words))}, NULL }};\n'
             for words, name in lists.items()]
    return ''.join(head + ['\nconst struct policy_setting policy_settings[SETTINGS] = {\n'] + text + ['};\n'])


def print_options(rows, order):
    """cli/option/policy_options.h"""
    text = ['#include "cli/option/option.h"\n\n#include "cli/option/policy_options.h"\n']
    for row in rows:
        if row['flag'] and not row['apply']:
            row['apply'] = 'apply_' + row.option.replace('-', '_')
            text.append(f'\nstatic int {row["apply"]}(void *context, const char *value, coop_error **err)\n'
                        f'{{\n    return option_set(context, {row.id}, value, err);\n}}\n')
    shared = [title for title in order if not title.endswith(' alone')]
    for command in ('run', 'plan', 'why'):
        text.append(f'\nconst struct command_option policy_options_{command}[] = {{\n')
        for row in options_of(rows, shared + [command + ' alone'], order):
            letter = f"'{row.letter}'" if row.letter else '0'
            early = 'true' if row['early'] == 'yes' else 'false'
            text.append(f'    {{ "{row.option}", {letter}, {quote(row.value)}, {quote(row["flag-help"])}, '
                        f'{row["apply"]}, {early} }},\n')
        text.append('    { "help", \'h\', NULL, "show this help", NULL, false },\n    { 0 },\n};\n')
    return ''.join(text)


# ---- manual pages

def sentence(text):
    """The help as a sentence; a word that is a value stays as it is written."""
    first = text if re.match(r'[a-z]+:|(true|false|dev) ', text) else text[0].upper() + text[1:]
    return [first + '.']


def mdoc_value(value):
    """PATH[:TARGET] as mdoc writes it: Ar path Ns Op : Ns Ar target"""
    words = []
    for token in re.findall(r'[A-Z]+|[a-z]+|\[|\]|[^A-Za-z\[\]]+', value):
        if token == ']':
            continue
        if words and not (token == ':' and words[-1] != 'Op') and words[-1] != 'Op':
            words.append('Ns')
        if token == '[':
            words.append('Op')
        elif token.isupper():
            words += ['Ar', token.lower()]
        elif token.isalpha():
            words += ['Cm', token]
        else:
            words.append(token)
    return ' '.join(words)


def option_item(row):
    letter = f'Fl {row.letter} , ' if row.letter else ''
    value = mdoc_value(row.value)
    between = ' Ns ' if row.value.startswith('[') else ' ' if value else ''
    return [f'.It {letter}Fl -{row.option}{between}{value}'] + (row.lines('flag-man') or sentence(row['flag-help']))


def manual_options(rows, order, title):
    heading = f'Options of {title}' if title.endswith(' alone') else f'Options of {SHARED}: {title}'
    text = ['.Ss ' + heading]
    if title == next(iter(order)):
        text += ['Flags override the configuration files, which are described in', '.Xr coop-policy 5 .']
    text.append('.Bl -tag -width Ds')
    for row in options_of(rows, [title], order):
        text += option_item(row)
    return text + ['.El']


def key_item(row):
    text = [f'.It Ic {row.name}'] + sentence(row['help']) + row.lines('man')
    words = re.split(r',\s*', row['words']) if row['words'] else []
    if words:
        text += ['One of'] + [f'.Cm {word} ,' for word in words[:-2]]
        text += [f'.Cm {words[-2]}', 'or', f'.Cm {words[-1]} .']
    if row['none'] and row.kind != 'table':
        text += ['.Cm none', 'lifts the limit.']
    if row.is_list or row.kind == 'tables':
        text.append('A list.' if row.is_list else 'A list of tables.')
    if row['required']:
        text.append('It must be set.')
    if row['default']:
        text += ['Default:', f'.Ql {row["default"]} .']
    return text


def manual_keys(rows, section):
    text = ['.Bl -tag -width Ds']
    for row in rows:
        if row.is_key and re.match(re.escape(section) + r'(\[\])?\.', row.name):
            text += key_item(row)
    return text + ['.El']


def print_manual(rows, order, template):
    """A line '@options@', or '@keys sandbox@', becomes its part of the page."""
    text, missing = [], {row.name for row in rows if row.is_key and '.' not in row.name}
    with open(template, encoding='utf-8') as lines:
        for line in lines:
            keys = re.fullmatch(r'@keys ([a-z]+)@\n', line)
            if line == '@options@\n':
                for title in order:
                    text += manual_options(rows, order, title)
            elif keys:
                text += manual_keys(rows, keys[1])
                missing.remove(keys[1])
            else:
                text.append(line.rstrip('\n'))
    if missing and any(line.startswith('.Sh KEYS') for line in text):
        sys.exit(f'{template}: a line "@keys {min(missing)}@" is missing')
    return '\n'.join(text) + '\n'


def main():
    what, arguments = sys.argv[1], sys.argv[2:]
    template = arguments.pop(0) if what == 'manual' else None
    out = arguments.pop(0)
    rows, order = read(arguments)
    check_order(rows, order)
    text = {'keys': lambda: print_keys(rows, order), 'options': lambda: print_options(rows, order),
            'ids': lambda: print_ids(rows, order), 'values': lambda: print_values(rows, order),
            'manual': lambda: print_manual(rows, order, template)}[what]()
    if what != 'manual':
        text = '/* Made by src/settings/generate.py. */\n' + text
    # What has not changed is left alone, so that nothing is compiled again.
    if not os.path.exists(out) or open(out, encoding='utf-8').read() != text:
        with open(out, 'w', encoding='utf-8') as file:
            file.write(text)


main()
