# bash completion for coop(1)

_coop_policy_options='--config --as --cron --group --group-name --workspace --root --same-path --read-only --restrict --ro --rw --mount --volume --block --protect --protect-write
    --unprotect --protect-ignore-case --no-protect --env --env-pass
    --chdir --uid --hostname --network --allow --deny --reach --publish --proxy-env --require-sni --socket --allow-sockets --memory --pids --cpus --cpu-seconds
    --file-size --open-files --tmp-size --timeout --mode --profile --tty --keep-fd --command'

_coop_words() { # words of which the current one may become
    local IFS=$' \t\n'
    mapfile -t COMPREPLY < <(compgen -W "$1" -- "${COMP_WORDS[COMP_CWORD]}")
}

_coop_paths() { # -f: files, -d: directories
    mapfile -t COMPREPLY < <(compgen "$1" -- "${COMP_WORDS[COMP_CWORD]}")
    compopt -o filenames
}

# The value of an option; fails when it is one that takes none.
_coop_value() {
    case $1 in
    --workspace | -w | --root | --restrict) _coop_paths -d ;;
    --config | --policy | --ro | --rw | --socket | --volume | -v | --block | --chdir) _coop_paths -f ;;
    --network) _coop_words 'none off gate nat host' ;;
    --allow | --deny) mapfile -t COMPREPLY < <(compgen -A hostname -- "${COMP_WORDS[COMP_CWORD]}") ;;
    --mode) _coop_words 'required preferred disabled' ;;
    --profile) _coop_words 'default dev' ;;
    --log-format) _coop_words 'text json' ;;
    --mount) _coop_words 'type=bind type=tmpfs' ;;
    --env | -e | --env-pass) mapfile -t COMPREPLY < <(compgen -e -- "${COMP_WORDS[COMP_CWORD]}") ;;
    --memory | -m | --file-size | --tmp-size) _coop_words '256m 512m 1g 2g 4g none' ;;
    --timeout) _coop_words '10s 30s 1m 10m 1h' ;;
    --as | --cron | --group-name | --protect | --protect-write | --unprotect | --uid | --hostname | --reach | --publish | --pids | --cpus | --cpu-seconds | --open-files | --keep-fd | --command | -c)
        COMPREPLY=() ;;
    *) return 1 ;;
    esac
}

_coop_takes_value() {
    case $1 in
    --home | --with-dotfiles | --with-secrets | --with-writes | --with-network | --no-prove | --explain | --explain=* | --group | --no-protect | --protect-ignore-case | --same-path | --read-only | --allow-sockets | --tty | -t | --json | --quiet | -q | --as-bwrap | --help | -h) return 1 ;;
    esac
}

# Where the command begins: the first word that is neither an option nor its value.
_coop_command_at() {
    local i
    for ((i = 2; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        --) echo $((i + 1)) && return ;;
        --*=*) ;;
        -*) _coop_takes_value "${COMP_WORDS[i]}" && i=$((i + 1)) ;;
        *) echo "$i" && return ;;
        esac
    done
    return 1
}

# The verb of a question, and what it is about; fails behind "--" and where an option is meant.
_coop_question() {
    local at word=${COMP_WORDS[COMP_CWORD]}
    if ! at=$(_coop_command_at); then
        case ${COMP_WORDS[COMP_CWORD - 1]} in -*) _coop_takes_value "${COMP_WORDS[COMP_CWORD - 1]}" && return 1 ;; esac
        case $word in -*) return 1 ;; esac
        _coop_words 'read write exec connect bind env syscall'
        return
    fi
    [ "${COMP_WORDS[at - 1]}" = -- ] && return 1
    case ${COMP_WORDS[at]} in
    read | write | exec | connect) _coop_paths -f ;;
    env) mapfile -t COMPREPLY < <(compgen -e -- "$word") ;;
    esac
}

_coop() {
    local word=${COMP_WORDS[COMP_CWORD]} at
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        _coop_words 'run plan why learn status doctor whoami mcp audit net config check allow --help --version'
        return
    fi
    case ${COMP_WORDS[1]} in
    run | plan | why) ;;
    status) _coop_words '--json --help' && return ;;
    doctor) _coop_words '--json --clean --help' && return ;;
    whoami) _coop_words '--as --group --group-name --workspace --config --json --help' && return ;;
    mcp)
        case ${COMP_WORDS[COMP_CWORD - 1]} in
        --client) _coop_words 'claude-code claude-desktop codex cursor gemini vscode windsurf zed' && return ;;
        --port) COMPREPLY=() && return ;;
        --token-file) _coop_paths -f && return ;;
        esac
        _coop_value "${COMP_WORDS[COMP_CWORD - 1]}" && return
        case $word in
        -*) _coop_words '--as --group --group-name --workspace --policy --config --read-only --filesystem-names --http --port --token-file --quiet --log-format --write --client --help' ;;
        i*) _coop_words install ;;
        *) _coop_paths -d ;;
        esac
        return
        ;;
    learn)
        if ! _coop_command_at >/dev/null; then
            case ${COMP_WORDS[COMP_CWORD - 1]} in
            --output | -o) _coop_paths -f && return ;;
            --rounds) COMPREPLY=() && return ;;
            esac
        fi
        ;;
    net) _coop_words 'list allow deny --help' && return ;;
    audit)
        case ${COMP_WORDS[COMP_CWORD - 1]} in
        --since) _coop_words '10m 1h 1d 7d' && return ;;
        --user | --session | --head) COMPREPLY=() && return ;;
        --directory) _coop_paths -d && return ;;
        --config) _coop_paths -f && return ;;
        esac
        case $word in
        -*) _coop_words '--follow --since --user --denied --session --json --head --directory --config --help' ;;
        *) _coop_words 'verify stats' ;;
        esac
        return
        ;;
    check)
        case $word in -*) _coop_words '--config --workspace --strict --live --narrower --json --help' ;; *) _coop_paths -f ;; esac
        return
        ;;
    allow)
        case $word in -*) _coop_words '--list --revoke --help' ;; *) _coop_paths -f ;; esac
        return
        ;;
    config)
        if [ "$COMP_CWORD" = 2 ]; then _coop_words 'show schema import decode --help'; else _coop_paths -f; fi
        return
        ;;
    *) return ;;
    esac
    if [ "${COMP_WORDS[1]}" = why ] && _coop_question; then return; fi
    if at=$(_coop_command_at); then
        if declare -F _command_offset >/dev/null; then
            _command_offset "$at"
        elif [ "$at" = "$COMP_CWORD" ]; then
            mapfile -t COMPREPLY < <(compgen -c -- "$word")
        else
            _coop_paths -f
        fi
        return
    fi
    _coop_value "${COMP_WORDS[COMP_CWORD - 1]}" && return
    case $word in
    -*)
        case ${COMP_WORDS[1]} in
        run) _coop_words "$_coop_policy_options --explain --json --quiet --log-format --help" ;;
        plan) _coop_words "$_coop_policy_options --json --as-bwrap --help" ;;
        learn) _coop_words '--output --workspace --same-path --home --with-dotfiles --with-secrets --with-writes --with-network --allow --env-pass --rounds --no-prove --timeout --command --quiet --help' ;;
        why) _coop_words "$_coop_policy_options --policy --json --help" ;;
        esac
        ;;
    *) mapfile -t COMPREPLY < <(compgen -c -- "$word") ;;
    esac
}

complete -F _coop coop
