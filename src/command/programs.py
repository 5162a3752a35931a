#!/usr/bin/env python3
"""programs.py OUT FILE... - C tables from what is known about programs; programs.ini explains the form"""
import re
import sys

STRINGS = ('valued', 'flags', 'text', 'directory')
KINDS = {'long-single-dash': 'has_long_single_dash', 'whole-options': 'takes_whole_options',
         'takes-many': 'takes_many', 'skips-plus': 'skips_plus', 'abbreviates': 'abbreviates_commands'}
# A key of a row: its form, and the table that it goes to.
ROWS = {
    'spelling': (r'(\S+) -(\w) --(\S+)', 'spellings'),
    'letters': (r'(\S+)(?: (\w+))?', 'letters'),
    'implies': (r'(\S+) --(\S+) (?:(--\S+)\*|-(\w))', 'implications'),
    'alias': (r'(?:(\S+) )?(\S+): (.+)', 'aliases'),
    'group': (r'(\S+): (.+)', 'groups'),
    'move': (r'(\S+) (\S+): (\S+) (\S+)', 'moves'),
}
WORD = re.compile(r'[A-Za-z0-9+_.:-]+\Z')


class Mistake(Exception):
    pass


def lines_of(path):
    """(number, line), with what is indented joined to the line before it"""
    joined = []
    with open(path, encoding='ascii') as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip()
            if not line or line.startswith('#'):
                continue
            if line[0].isspace():
                if not joined:
                    raise Mistake('%s:%d: nothing to continue' % (path, number))
                joined[-1][1] += ' ' + line.strip()
            else:
                joined.append([number, line])
    return joined


def check_words(where, text):
    for word in text.split():
        if not WORD.match(word):
            raise Mistake("%s: '%s' cannot be a word or an option" % (where, word))


class Knowledge:
    def __init__(self):
        self.programs = {}
        self.tables = {table: [] for _, table in ROWS.values()}

    def take(self, where, names, key, value):
        if key in ROWS:
            form, table = ROWS[key]
            match = re.fullmatch(form, value)
            if not match:
                raise Mistake("%s: '%s = %s' has not the form that programs.ini names" % (where, key, value))
            check_words(where, re.sub(r'[*:,]', ' ', value))
            self.tables[table].append((names,) + match.groups())
            return
        for name in names:
            program = self.programs.setdefault(name, {})
            check_words(where, value)
            if key in ('runs', 'commands'):
                program.setdefault(key, []).extend([value] if key == 'runs' else value.split())
            elif key not in STRINGS + ('is',):
                raise Mistake("%s: unknown key '%s'" % (where, key))
            elif key in program:
                raise Mistake("%s: '%s' of %s is given twice" % (where, key, name))
            else:
                program[key] = value
            for word in value.split() if key == 'is' else ():
                if word not in KINDS:
                    raise Mistake("%s: unknown kind '%s'" % (where, word))

    def read(self, path):
        names = None
        for number, line in lines_of(path):
            where = '%s:%d' % (path, number)
            section = re.fullmatch(r'\[([\w.+ -]+)\]', line)
            if section:
                names = tuple(section.group(1).split())
                continue
            key, equals, value = line.partition('=')
            if not equals or not names:
                raise Mistake("%s: expected [PROGRAM ...] or KEY = VALUE" % where)
            self.take(where, names, key.strip(), value.strip())


def quoted(text):
    return 'NULL' if text is None else '"%s"' % text


def quoted_list(words):
    return 'NULL' if words is None else '(const char *const[]){ %s, NULL }' % ', '.join(map(quoted, words))


def any_command(word):
    return None if word == '*' else word


def program_rows(programs):
    for name, program in programs.items():
        if not any(key in program for key in STRINGS):
            if program:
                raise Mistake('%s has %s, but no valued, flags, text or directory' % (name, ', '.join(program)))
            continue
        fields = ['.name = ' + quoted(name)]
        fields += ['.%s = %s' % (key, quoted(program.get(key, ''))) for key in STRINGS[:3]]
        fields.append('.directory = ' + quoted(program.get('directory')))
        fields.append('.runs_others = ' + quoted_list(program.get('runs')))
        fields.append('.commands = ' + quoted_list(program.get('commands')))
        fields += ['.%s = true' % KINDS[word] for word in program.get('is', '').split()]
        yield ', '.join(fields)


def split_list(text, by=None):
    return None if text is None else text.split(by)


def rows(knowledge):
    tables = knowledge.tables
    one = lambda table: [(name,) + row[1:] for row in tables[table] for name in row[0]]
    yield 'program', 'programs', list(program_rows(knowledge.programs))
    yield 'spelling', 'spellings', ['%s, %s, \'%s\', %s' % (quoted(p), quoted(any_command(c)), letter, quoted(name))
                                    for p, c, letter, name in one('spellings')]
    yield 'letters', 'letters', ['%s, %s, %s' % (quoted(p), quoted(c), quoted(letters or ''))
                                 for p, c, letters in one('letters')]
    yield 'implication', 'implications', [
        '%s, %s, %s, %s, %s' % (quoted(p), quoted(any_command(c)), quoted(flag), quoted(begins),
                                "'%s'" % letter if letter else '0')
        for p, c, flag, begins, letter in one('implications')]
    yield 'alias', 'aliases', [
        '%s, %s, %s, %s' % (quoted_list(p), quoted_list(split_list(behind, ',')), quoted(name),
                            quoted_list(others.split()))
        for p, behind, name, others in tables['aliases']]
    yield 'group', 'groups', ['%s, %s, %s' % (quoted_list(p), quoted(group), quoted_list(words.split()))
                              for p, group, words in tables['groups']]
    yield 'move', 'moves', ['%s, %s' % (quoted_list(row[0]), ', '.join(map(quoted, row[1:])))
                            for row in tables['moves']]


def main():
    knowledge = Knowledge()
    try:
        for path in sys.argv[2:]:
            knowledge.read(path)
        text = '/* Made by programs.py. */\n#include "command/tables.h"\n'
        for kind, table, lines in rows(knowledge):
            text += '\nconst struct command_%s command_%s[] = {\n' % (kind, table)
            text += ''.join('    { %s },\n' % line for line in lines)
            text += '};\nconst size_t n_command_%s = sizeof command_%s / sizeof *command_%s;\n' % (table, table, table)
    except Mistake as mistake:
        sys.exit('programs.py: %s' % mistake)
    with open(sys.argv[1], 'w', encoding='ascii') as out:
        out.write(text)


main()
