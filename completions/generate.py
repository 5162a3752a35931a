#!/usr/bin/env python3
"""generate.py COOP TEMPLATE OUT - the completion of one shell, from what `coop SUBCOMMAND --help` says

A line '@NAME ...@' of the template becomes what the function of that name returns. How a
value is completed follows from what --help calls it: a FILE is a file, "text|json" is one of two words.
"""
import os
import re
import subprocess
import sys

KINDS = {  # by what --help calls the value
    'DIR': 'directory', 'DIR[:ro]': 'directory', 'FILE': 'file', 'PATH': 'file', 'PATH[:TARGET]': 'file',
    'SRC:DST[:ro]': 'file', 'HOST[:PORT]': 'host', 'NAME=VALUE': 'assignment', 'SIZE': '256m 512m 1g 2g 4g none',
    'DURATION': '10s 30s 1m 10m 1h', 'TIME': '10m 1h 1d 7d', 'IDENTITY': 'terminal:default',
    'type=bind|tmpfs,...': 'type=bind type=tmpfs',
}
BY_NAME = {  # where "NAME" says too little
    'env-pass': 'variable', 'client': 'claude-code claude-desktop codex cursor gemini vscode windsurf zed',
}


class Option:
    def __init__(self, letter, name, value, text):
        self.letter, self.name, self.value = letter, name, value
        self.is_optional = value.startswith('[=')
        self.help = re.sub(r' \(default: .*\)$', '', text)
        if re.fullmatch(r'(\[=)?[a-z|]+\]?', value):
            self.kind = ' '.join(re.findall('[a-z]+', value))
        else:
            self.kind = BY_NAME.get(name) or KINDS.get(value, '')

    def words(self):
        """The words to choose from; none where it is another kind of value."""
        return self.kind if self.kind and self.kind not in ('directory', 'file', 'host', 'assignment', 'variable') else ''

    def same(self):
        return (self.letter, self.name, self.value, self.help)


def read(coop):
    def ask(*words):
        return subprocess.run([coop, *words, '--help'], check=True, capture_output=True, text=True).stdout

    summaries = dict(re.findall(r'^  ([a-z]+) +(.*?)\.?$', ask().split('commands:\n')[1].split('\n\n')[0], re.M))
    options = {}
    for sub in summaries:
        found = re.findall(r'^  (?:-([a-z]), )?--([a-z-]+)(\[=[^ ]*|)(?: (\S+))? +(.*)$', ask(sub), re.M)
        options[sub] = [Option(letter, name, optional or value, text) for letter, name, optional, value, text in found]
    return summaries, options


def quote(text):
    return "'" + text.replace("'", "'\\''") + "'"


def spellings(option):
    return ([f'-{option.letter}'] if option.letter else []) + [f'--{option.name}']


def unique(options):
    """Every option once, of whatever subcommand."""
    found = {}
    for of_one in options.values():
        for option in of_one:
            found.setdefault(option.name, option)
    return found.values()


# ---- bash

def bash_subcommands(summaries, options):
    return [f"_coop_words '{' '.join(summaries)} --help --version'"]


def bash_options(summaries, options):
    return [f"{sub}) echo '{' '.join('--' + option.name for option in of_one)}' ;;" for sub, of_one in options.items()]


def bash_flags(summaries, options):
    flags = [word for option in unique(options) if not option.value or option.is_optional for word in spellings(option)]
    return [f'{" | ".join(flags)} | --explain=*) return 1 ;;']


def bash_values(summaries, options):
    how = {'directory': '_coop_paths -d', 'file': '_coop_paths -f', '': 'COMPREPLY=()'}
    how['host'] = 'mapfile -t COMPREPLY < <(compgen -A hostname -- "${COMP_WORDS[COMP_CWORD]}")'
    how['variable'] = how['assignment'] = 'mapfile -t COMPREPLY < <(compgen -e -- "${COMP_WORDS[COMP_CWORD]}")'
    cases = {}
    for option in unique(options):
        if option.value and not option.is_optional:
            action = f'_coop_words {quote(option.words())}' if option.words() else how[option.kind]
            cases.setdefault(action, []).extend(spellings(option))
    return [f'{" | ".join(words)}) {action} ;;' for action, words in cases.items()]


# ---- zsh

def zsh_text(text):
    return re.sub(r'([\[\]:\\])', r'\\\1', text)


def zsh_options(summaries, options, sub):
    how = {'directory': '_files -/', 'file': '_files', 'host': '_hosts', '': '',
           'variable': '_parameters -g "*export*"', 'assignment': '_parameters -g "*export*" -qS='}
    lines = []
    for option in options[sub]:
        several = '*' if option.value and not option.is_optional else \
            f'({" ".join(spellings(option))})' if option.letter else ''
        names = '{' + ','.join(spellings(option)) + '}' if option.letter else ''
        text = ('' if names else '--' + option.name) + ('=-' if option.is_optional else '') + f'[{zsh_text(option.help)}]'
        if option.value:
            words = '(' + option.words().replace(':', '\\:') + ')'
            text += ('::' if option.is_optional else ':') + zsh_text(option.value.lower()) + ':' + \
                (words if option.words() else how[option.kind])
        lines.append((quote(several) + names + quote(text) if names else quote(several + text)) + ' \\')
    return lines


def zsh_subcommands(summaries, options):
    words = ' '.join(f'{sub}\\:"{zsh_text(text)}"' for sub, text in summaries.items())
    return [quote(f'1:subcommand:(({words}))') + ' \\']


# ---- fish

def fish_quote(text):
    return "'" + text.replace('\\', '\\\\').replace("'", "\\'") + "'"


def sentence(text):
    return text[0].upper() + text[1:]


def fish_subcommands(summaries, options):
    condition = f"'not __coop_in {' '.join(summaries)}'"
    return [f"complete -c coop -n {condition} -f"] + \
        [f"complete -c coop -n {condition} -a {sub} -d {fish_quote(sentence(text))}" for sub, text in summaries.items()] + \
        [f"complete -c coop -n {condition} -l version -d 'Show the version'"]


def fish_options(summaries, options):
    how = {'directory': "-x -a '(__fish_complete_directories)'", 'file': '-r -F', '': '-x',
           'host': "-x -a '(__fish_print_hostnames)'", 'variable': "-x -a '(set -nx)'", 'assignment': "-x -a '(set -nx)='"}
    found = {}
    for sub, of_one in options.items():
        for option in of_one:
            found.setdefault(option.same(), (option, []))[1].append(sub)
    lines = []
    for option, subs in found.values():
        value = ''
        if option.value and not option.is_optional:
            value = (f"-x -a '{option.words()}'" if option.words() else how[option.kind]) + ' '
        letter = f'-s {option.letter} ' if option.letter else ''
        lines.append(f"complete -c coop -n '__coop_in {' '.join(subs)}' {letter}-l {option.name} {value}"
                     f'-d {fish_quote(sentence(option.help))}')
    return lines


def main():
    coop, template, out = sys.argv[1:]
    summaries, options = read(os.path.abspath(coop))
    text = []
    with open(template, encoding='utf-8') as lines:
        for line in lines:
            mark = re.fullmatch(r'( *)@([a-z_ ]+)@\n', line)
            if mark:
                name, *rest = mark[2].split()
                text += [mark[1] + made for made in globals()[name](summaries, options, *rest)]
            else:
                text.append(line.rstrip('\n'))
    with open(out, 'w', encoding='utf-8') as file:
        file.write('\n'.join(text) + '\n')


main()
