#!/bin/bash
# documents.t - manual pages, README and completions say what the program does
# worlds: root user
# builds: none
# needs: mandoc zsh fish
. "$(dirname "$0")/tap.sh"

# ---- manual pages

made=$(dirname "$COOP") # pages and completions that are made from the table of settings
for page in "$SRC"/man/*.[1-9] "$made"/man/*.[1-9]; do
    name=$(basename "$page")
    if command -v mandoc >/dev/null; then
        is "$name: no warnings" "$(mandoc -T lint -W warning "$page" 2>&1)" ""
        isnt "$name: renders" "$(mandoc -T utf8 "$page")" ""
    else
        skip "$name: no warnings" "no mandoc"
    fi
done

# ---- options: --help and the manual pages name the same ones. Options of run, plan and why are one table.

# "-m --memory" or "--pids", one option a line, from --help.
options_of_help() { # SUBCOMMAND
    "$COOP" "$1" --help | sed -nE 's/^  (-[a-z]), (--[a-z-]+).*/\1 \2/p; s/^  (--[a-z-]+).*/\1/p' |
        grep -v -e '--help$' | sort
}
# The same from the page: the items of the subsections whose title matches.
options_of_page() { # TITLE-PATTERN [PAGE]
    awk -v title="$1" '/^\.S[sh] / { in_it = $0 ~ title; next } in_it && /^\.It Fl/' "${2-$made/man/coop.1}" |
        sed -E 's/^\.It Fl ([a-z]) , Fl -([a-z-]+).*/-\1 --\2/; s/^\.It Fl -([a-z-]+).*/--\1/' | sort
}
is "coop-learn(1) names the options of learn" "$(options_of_page '^.Ss Options$' "$SRC/man/coop-learn.1")" "$(options_of_help learn)"
for sub in status doctor; do
    is "coop(1) names the options of $sub" "$(options_of_page "Options of status and doctor|Options of $sub alone")" \
        "$(options_of_help $sub)"
done

subcommands=$("$COOP" --help | sed -nE '/^commands:/,/^$/s/^  ([a-z]+) .*/\1/p' | sort)
is "coop(1) names the subcommands" \
    "$(sed -nE 's/^\.It Cm (run|plan|status|doctor|[a-z]+)$/\1/p' "$made/man/coop.1" | grep -vE '^(full|namespaces|landlock|none)$' | sort)" \
    "$subcommands"

everything=$({ for sub in $subcommands; do "$COOP" "$sub" --help | sed -nE 's/^  (-[a-z], )?(--[a-z-]+).*/\2/p'; done; echo --version; } | sort -u)

# ---- completions are made from --help: they are looked at for how they behave

complete_bash() { # words, the last of them incomplete
    bash -c '. "$0"; COMP_WORDS=(coop "$@"); COMP_CWORD=$#; compopt() { :; }; _coop; printf "%s\n" "${COMPREPLY[@]}"' \
        "$made/completions/coop" "$@" 2>&1
}
is "bash completes an option" "$(complete_bash run --net)" "--network"
is "bash completes a value" "$(complete_bash run --network o)" "off"
is "bash completes words whose option is too long for its column of --help" "$(complete_bash run --mode p)" "preferred"
is "bash takes what follows a flag without a value for the command" "$(complete_bash run --require-sni ls --net)" ""
is "bash completes an option of another subcommand" "$(complete_bash audit --fol)" "--follow"
is "bash completes an operand" "$(complete_bash audit ver)" "verify"
is "bash completes a subcommand" "$(complete_bash doc)" "doctor"
is "bash completes no option of coop's after the command" "$(complete_bash run ls --net)" ""
is "bash knows an option of plan alone" "$(complete_bash plan --as-)" "--as-bwrap"
is "bash does not offer it to run" "$(complete_bash run --as-)" ""
is "bash completes a question" "$(complete_bash why sys)" "syscall"
is "bash knows an option of why alone" "$(complete_bash why --pol)" "--policy"
if command -v fish >/dev/null; then
    complete_fish() { HOME=$T fish --no-config -c 'source $argv[1]; complete -C $argv[2]' "$made/completions/coop.fish" "$1" 2>&1 | cut -f 1; }
    is "fish completes an option" "$(complete_fish 'coop run --netw')" "--network"
    is "fish completes a value" "$(complete_fish 'coop run --network of')" "off"
    is "fish does not offer it to another subcommand" "$(complete_fish 'coop audit --netw')" ""
    is "fish completes a subcommand" "$(complete_fish 'coop doc')" "doctor"
else
    skip "fish completes an option" "no fish here"
fi
for shell in zsh:_coop fish:coop.fish; do
    if command -v "${shell%:*}" >/dev/null; then
        ok "${shell%:*} can parse ${shell#*:}" "${shell%:*}" -n "$made/completions/${shell#*:}"
    else
        skip "${shell%:*} can parse ${shell#*:}" "no ${shell%:*} here"
    fi
done

# ---- what is installed for the suite is used by it, and what it uses is installed

declare -A command_of=([util-linux]=unshare [procps]=pgrep [iproute2]=ip [libcap2-bin]=setcap [uidmap]=newuidmap
    [openssh-client]=ssh [nodejs]=node [default-jre-headless]=keytool [nftables]=nft [passt]=pasta [dropbear-bin]=dropbear
    [bubblewrap]=bwrap [python3-pip]=pip [attr]=getfattr [acl]=setfacl)
packages=$("$SRC/tools/setup" --list test)
for package in $(comm -13 <("$SRC/tools/setup" --list build | sort) <(sort <<<"$packages")); do
    # The tag that asks for it is no use of it.
    used=$(grep -hw -- "${command_of[$package]-$package}" "$SRC"/test/*.t "$SRC/test/run" "$SRC"/test/*.sh "$SRC"/test/suite/*.sh | grep -v '^# needs: ' | head -n 1)
    isnt "tools/setup test: something uses $package" "$used" ""
done
# What a test looks for before it uses it must be installed where skips are failures. Known by its command.
commands=$(while read -r package; do echo "${command_of[$package]-$package}"; done <<<"$packages")
asked=$(grep -hvE '^ *#|skip_never' "$SRC"/test/*.t | grep -oE '(if|\[) .*(command -v|-x /(usr/)?s?bin/)[ ]?[a-z0-9+-]+' | grep -oE '[a-z0-9+-]+$' | sort -u)
isnt "some tests look for a command before they use it" "$asked" ""
for name in $asked; do
    case $name in
    c++ | cc | setpriv | sshd) continue ;; # of g++, gcc, util-linux; dropbear takes its place
    esac
    ok "tools/setup test: installs $name, which a test looks for" grep -qx -- "$name" <<<"$commands"
done
for package in shellcheck zsh fish mandoc libcap2-bin jq python3 strace; do
    ok "tools/setup test: installs $package" grep -qx "$package" <<<"$packages"
done
kernels=$("$SRC/tools/setup" --list kernels)
for package in jq python3 util-linux procps; do
    ok "tools/setup kernels: installs $package" grep -qx "$package" <<<"$kernels"
done
# Only who asks for it gets packages installed.
for goal in all check test-quick; do
    unlike "make $goal installs nothing" "$(make -n -C "$SRC" BUILD="$T/none" $goal 2>&1)" 'tools/setup (build|test|kernels|bench|long)'
    like "make $goal checks what is there" "$(make -n -C "$SRC" BUILD="$T/none" $goal 2>&1)" 'tools/setup --check build'
done
like "make setup installs what the build needs" "$(make -n -C "$SRC" setup 2>&1)" 'tools/setup build'
like "make demo sets the machine up" "$(make -n -C "$SRC" demo 2>&1)" 'tools/setup build'
like "make test sets the machine up" "$(make -n -C "$SRC" test 2>&1)" 'tools/setup test'
like "make test-kernels sets them up" "$(make -n -C "$SRC" test-kernels 2>&1)" 'tools/setup kernels'
# An ordinary user on a machine without packages is told one line.
mkdir fake
printf '#!/bin/sh\necho 1000\n' >fake/id
printf '#!/bin/sh\nexit 1\n' >fake/dpkg-query
chmod 755 fake/*
said=$(PATH=$PWD/fake:$PATH "$SRC/tools/setup" build 2>&1)
is "tools/setup as a user without packages: fails" "$?" 1
like "and names one line that begins with fresh lists" "$said" "^  sudo sh -c 'apt-get update && apt-get install -y .*libseccomp-dev.*'\$"
printf '#!/bin/sh\necho 0\n' >fake/id
printf '#!/bin/sh\necho "apt-get $*" >>%s\n' "$PWD/fake/log" >fake/apt-get
chmod 755 fake/*
said=$(PATH=$PWD/fake:$PATH "$SRC/tools/setup" --check build 2>&1)
is "tools/setup --check as root without packages: fails" "$?" 1
like "it names them" "$said" 'packages are missing: .*libseccomp-dev'
like "and what installs them" "$said" "^  'make setup' installs them"
not_ok "it installs nothing" test -e fake/log
said=$(PATH=$PWD/fake:$PATH "$SRC/tools/setup" build 2>&1)
is "tools/setup as root: succeeds" "$?" 0
like "it prints the list first" "$said" '^setup: installing .*libseccomp-dev'
like "then it installs them" "$(cat fake/log)" 'apt-get install -y .*libseccomp-dev'
rm -r fake

# ---- README and its kin

targets=$(sed -nE 's/^([a-z-]+):.*/\1/p' "$SRC/Makefile")
for file in README.md CONTRIBUTING.md; do
    for target in $(grep -oE '\bmake [a-z-]+' "$SRC/$file" | cut -d ' ' -f 2 | sort -u); do
        case $target in
        test | demo | check | bench | install | format | clean | test-*) ;;
        *) grep -qE "(^ {4}|\`)(sudo )?make $target" "$SRC/$file" || continue ;; # "make sense" is no command
        esac
        ok "$file: make $target exists" grep -qx -- "$target" <<<"$targets"
    done
done
for target in demo test; do
    ok "README.md names 'make $target' before all else" \
        awk -v want="make $target" 'index($0, want) { found = 1 } /^## / { exit !found }' "$SRC/README.md"
done
for option in $(grep -E '^ +coop |`--' "$SRC/README.md" | grep -oE -e ' --[a-z]+[a-z-]*|`--[a-z-]+' | tr -d ' `' | sort -u); do
    ok "README.md: $option exists" grep -qx -- "$option" <<<"$everything"
done
for file in README.md CONTRIBUTING.md CHANGELOG.md doc/architecture.md doc/changing.md; do
    for link in $(grep -oE '\]\([^)#:]+\)' "$SRC/$file" | tr -d ']()'); do
        ok "$file: $link exists" test -e "$(dirname "$SRC/$file")/$link"
    done
    for path in $(grep -oE '`(src|test|tools|doc|man|include|bench)/[A-Za-z0-9_./-]+`' "$SRC/$file" | tr -d '`' | grep -v NAME | sort -u); do
        ok "$file: $path exists" test -e "$SRC/$path"
    done
done
# Example patches apply to the tree as it is. GIT_DIR: whatever repository is around it does not matter.
for patch in "$SRC"/doc/changing/*.patch; do
    ok "doc/changing/${patch##*/} applies" env -C "$SRC" GIT_DIR=/dev/null git apply --check "$patch"
done
sed -n '/^```c$/,/^```$/p' "$SRC/README.md" | sed '/^```/d' >snippet.c
ok "the README's program compiles" "${CC:-cc}" -std=c99 -Wall -Wextra -Werror -I"$SRC/include" -fsyntax-only snippet.c
like "CHANGELOG.md knows this version" "$(cat "$SRC/CHANGELOG.md")" "^## $("$COOP" --version | cut -d ' ' -f 2)"

# ---- the result document: what is printed is documented, and the reverse

documented=$(sed -nE 's/^\.(It )?Ic ([a-z_]+( , [a-z_-]+)*).*/\2/p' "$SRC/man/coop-result.5" | tr -s ' ,' '\n' | sort -u)
printed=$({
    "$COOP" run --mode preferred --json --timeout 50ms --cpus 1 --cpu-seconds 9 --file-size 1m --open-files 64 -- sleep 60
    "$COOP" run --mode preferred --json -- no-such-command
    "$COOP" status --json
    "$COOP" doctor --json
    "$COOP" plan --mode preferred --json true
} 2>/dev/null | sed -nE 's/^ *"([a-z_-]+)": .*/\1/p' | sort -u)
is "coop-result(5) documents what is printed" "$(comm -13 <(echo "$documented") <(echo "$printed"))" ""
is "and nothing that is not" "$(comm -23 <(echo "$documented") <(echo "$printed"))" ""

# Values too: those of the page's item against those that the sources can give.
values_of_page() { # ITEM
    awk -v item="$1" '/^\.It / { in_it = $3 == item && $2 == "Ic" && !seen; seen = seen || in_it; next } /^\.(El|Ss|Sh|Bl)/ { in_it = 0 } in_it' \
        "$SRC/man/coop-result.5" | grep -oE '^\.(Ql|Pq Ql) [^ ]+' | awk '{ print $NF }' | sort -u
}
operations=$(sed -n '/define DENIAL_ROWS/,/clang-format on/p' "$SRC/src/init/denial_op.h" | grep -oE 'DENIAL\([A-Z_]+, *"[a-z-]+"' | cut -d '"' -f 2 | sort -u)
is "coop-result(5) names the operations that there are" "$(values_of_page op)" "$operations"
kinds=$(sed -nE 's/^ *\[COOP_ERROR_[A-Z_]+\] = "([a-z-]+)".*/\1/p' "$SRC/src/base/error.c" | grep -vxE 'none|timeout|cancelled' | sort -u)
is "and the kinds of errors" "$(values_of_page kind)" "$kinds"
outcomes=$(sed -nE 's/^ *\[SELFTEST_[A-Z_]+\] = \{ "([a-z-]+)".*/\1/p' "$SRC/src/cli/doctor/doctor.c" | sort -u)
is "and the outcomes of the self-test" "$(values_of_page outcome)" "$outcomes"
stages=$(sed -nE 's/.*\[PHASE_[A-Z]+\] = "([a-z]+)".*/\1/p' "$SRC/src/plan/print/print.c" | sort -u)
is "and the stages of a plan" "$(values_of_page stage)" "$stages"
# And those that are given: each operation and origin of these is on the page.
mkdir -p given/.git/hooks
echo old >given/.git/hooks/old
printf '[commands]\nstrength = "check"\n' >given.toml
{
    "$COOP" run -w given --mode preferred --json --timeout 2s -- sh -c 'mkdir .vscode; echo x >.git/hooks/old; echo y >x; mv x .envrc; unshare -U true; sleep 60'
    "$COOP" run -w given --mode preferred --json -- no-such-command
    "$COOP" run -w given --mode preferred --config given.toml --json -- rm -r x
} 2>/dev/null | jq -c '.denials[]' >denials
for value in $(jq -r .op denials | sort -u); do
    ok "the operation '$value', which was given, is documented" grep -qx -- "$value" <(values_of_page op)
done
[ "$("$COOP" status --json | jq -r .tier)" = landlock ] ||
    is "several sorts were given" "$(jq -r .op denials | sort -u | xargs)" "command create exec rename syscall time write"
while read -r value; do
    ok "the origin '$value', which was given, is documented" grep -qE "^\.Ql $value( |\$)" "$SRC/man/coop-result.5"
done < <(jq -r .origin denials | sed -E 's/^--.*/--flag/; s/^.*:[0-9]+:[0-9]+$/file:line:column/' | sort -u)
is "of a command that is not there, the target is its name" "$(jq -r 'select(.op == "exec").target' denials)" no-such-command
is "of one that may not run, the whole" "$(jq -r 'select(.op == "command").target' denials)" "rm -r x"

ok "the licence is the Apache License 2.0" grep -q 'Version 2.0, January 2004' "$SRC/LICENSE"
done_testing
