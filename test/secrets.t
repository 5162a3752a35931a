#!/bin/bash
# Secrets: given to those who are named, found nowhere else.
# Values are made at run time and stand in files only, so that no command line of the test has one.
. "$(dirname "$0")/box.sh"

export XDG_STATE_HOME=$T/state XDG_CACHE_HOME=$T/cache XDG_CONFIG_HOME=$T/config HOME=$T/home
mkdir state cache config config/coop home safe
unset CANARY_FROM
umask 022

ways="value file command from"
for way in $ways; do
    value=canary-$way-$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
    printf '%s' "$value" >"safe/$way"
    printf '%s\n' "$value" >>safe/all
done
(umask 077 && { cat safe/file && echo; } >safe/key)
CANARY_FROM=$(cat safe/from)
export CANARY_FROM

write_config() { # further text on standard input
    (umask 077 && cat >"$XDG_CONFIG_HOME/coop/coop.toml" <<END
[sandbox]
enabled = true

[[users]]
name = "alice"
trust = "full"
match = ["signal:alice"]

[[users]]
name = "bob"
trust = "inner"
match = ["signal:bob"]

[[users]]
name = "olga"
trust = "owner"
match = ["signal:olga"]

[[users]]
name = "fred"
trust = "familiar"
match = ["signal:fred"]

[groups]
work = "inner"

[secrets.by-value]
value = "$(cat safe/value)"
users = ["alice", "olga"]

[secrets.by_file]
file = "$T/safe/key"
env = "FILE_KEY"
users = ["alice", "bob", "fred"]

[secrets.by_command]
command = "cat /proc/[0-9]*/cmdline >$T/cmdlines; echo ran >>$T/ran; cat $T/safe/command"
providers = ["openai"]

[secrets.by_from]
from = "\$CANARY_FROM"

[providers.anthropic]
secrets = ["by_from"]
$(cat)
END
    )
}
write_config </dev/null
sum() { sha256sum <"$1" | cut -d' ' -f1; }
# The digests of what the box has, in the order of the four ways.
given() {
    run "$@" sh -c 'for v in BY_VALUE FILE_KEY BY_COMMAND BY_FROM; do
        if eval "[ \${$v+x} ]"; then eval "printf %s \"\$$v\"" | sha256sum | cut -d" " -f1; else echo -; fi; done' | xargs
}
no_canary() { # WHAT TEXT
    if printf '%s' "$2" | grep -qaFf safe/all; then
        tap_result 1 "$1"
        note "it has a secret in it"
    else tap_result 0 "$1"; fi
}
has_no_canary() { # WHAT FILE...
    local what=$1 found
    shift
    found=$(grep -rlaFf safe/all "$@" 2>/dev/null)
    is "$what" "$found" ""
}

# ---- who has what

is "a user is given what names them" "$(given --as signal:alice)" "$(sum safe/value) $(sum safe/file) - -"
is "another one less" "$(given --as signal:bob)" "- $(sum safe/file) - -"
is "nobody in particular: nothing" "$(given)" "- - - -"
is "a provider's box has what names the provider" \
    "$(echo '[environment]
provider = "openai"' | write_config; given)" "- - $(sum safe/command) -"
is "and users what names them, too" "$(given --as signal:bob)" "- $(sum safe/file) $(sum safe/command) -"
is "another provider's box what the provider names" \
    "$(echo '[environment]
provider = "anthropic"' | write_config; given)" "- - - $(sum safe/from)"
write_config </dev/null
is "the owner too, on the host, where they are named" \
    "$("$COOP" run --as signal:olga sh -c 'printf %s "$BY_VALUE" | sha256sum; echo ${FILE_KEY-unset}' 2>/dev/null </dev/null | cut -d' ' -f1 | xargs)" \
    "$(sum safe/value) unset"
is "in a group that trusts them less, a user is given nothing of theirs" "$(given --as signal:alice --group-name work)" "- - - -"
is "in one that does not, all" "$(given --as signal:bob --group-name work)" "- $(sum safe/file) - -"
is "a caller that ignores its children changes nothing" \
    "$(echo '[environment]
provider = "openai"' | write_config; env --ignore-signal=CHLD "$COOP" run -w ws sh -c 'printf %s "$BY_COMMAND" | sha256sum' </dev/null | cut -d' ' -f1)" "$(sum safe/command)"
rm -f ran
echo '[environment]
provider = "openai"' | write_config
status "who may not run commands" 125 run --as signal:fred true
ok "causes no command to run either" test ! -e ran
"$COOP" plan -w ws >plan.txt </dev/null
ok "nor does coop plan" test ! -e ran
like "which names the variable" "$(cat plan.txt)" '^ *BY_COMMAND$'
is "a secret is stronger than --env" "$(run -e BY_COMMAND=mine sh -c 'printf %s "$BY_COMMAND" | sha256sum' | cut -d' ' -f1)" "$(sum safe/command)"
write_config </dev/null

# ---- it is nowhere

everybody() { # COMMAND...: a run that has all four
    echo "[environment]
provider = \"openai\"
[providers.openai]
secrets = [\"by_from\"]" | write_config
    run --as signal:alice "$@"
}
print_all='printf "%s|%s|%s|%s\n" "$BY_VALUE" "$FILE_KEY" "$BY_COMMAND" "$BY_FROM"'
shown='[secret by-value]|[secret by_file]|[secret by_command]|[secret by_from]'
is "printed, each is replaced by its name" "$(everybody sh -c "$print_all" 2>&1)" "$shown"
is "on standard error likewise" "$(everybody sh -c "$print_all >&2" 2>&1 >/dev/null)" "$shown"
is "without a newline behind it" "$(everybody sh -c 'printf %s "$BY_FROM"')" "[secret by_from]"
everybody --json sh -c "$print_all; $print_all >&2" >result.json 2>err
is "captured" "$(jq -r '.stdout.text, .stderr.text' result.json | grep .)" "$shown"$'\n'"$shown"
has_no_canary "the result document has none" result.json err
is "on a terminal" "$(everybody --tty sh -c "$print_all" | tr -d '\r')" "$shown"
everybody sh -c 'i=0; while [ $i -lt 3000 ]; do printf "%s\n" "$BY_VALUE$BY_FROM"; i=$((i+1)); done' >many
is "three thousand of them" "$(sort many | uniq -c | xargs)" "3000 [secret by-value][secret by_from]"
everybody sh -c 'head -c 3000000 /dev/urandom | tee /work/random; cat /work/random | sha256sum >/work/sum' >random
is "other output is passed on byte for byte" "$(sha256sum <random)" "$(cat ws/sum)"
rm ws/random ws/sum

# The beginning of a secret is held back until it is clear what follows.
mkfifo -m 666 ws/go
exec 6<>ws/go # opened for both, it never blocks
everybody sh -c 'v=$BY_VALUE; h=${v%????????}; printf "before %s" "$h"; read -r x <go; printf "%s after\n" "${v#"$h"}"' >half.txt 6>&- &
box=$!
await grep -q before half.txt
is "half a secret is not shown" "$(cat half.txt)" "before "
echo >&6
wait $box
is "nor, with the other half, the whole" "$(cat half.txt)" "before [secret by-value] after"
everybody --tty sh -c 'v=$BY_VALUE; printf "prompt: %s" "${v%????????}"; read -r x <go; echo' >half.txt 6>&- &
box=$!
half=$(head -c -8 safe/value)
ok "on a terminal what is held back appears when nothing follows" await grep -qF "prompt: $half" half.txt
echo >&6
wait $box

start ws --as signal:alice --config "$XDG_CONFIG_HOME/coop/coop.toml"
cat /proc/[0-9]*/cmdline >cmdlines.run 2>/dev/null
has_no_canary "no command line has one while it runs" cmdlines.run
ok "(they were looked at)" grep -qa signal:alice cmdlines.run
ok "the command does have them" grep -qaFf safe/all "/proc/$command/environ"
if [ -r "/proc/$init/environ" ]; then
    has_no_canary "its init does not" "/proc/$init/environ"
else
    skip_never "its init does not" "it cannot be looked at"
fi
finish_box
exec 6>&-
rm -f ws/up ws/wait ws/go
ok "a secret's command was run" test -s cmdlines
has_no_canary "no command line has one while they are fetched" cmdlines

for command in "plan -w ws --as signal:alice" "plan -w ws --json --as signal:alice" "plan -w ws --as-bwrap --as signal:alice" \
    "config show" "config show --json" "whoami --as signal:alice" "whoami --json --as signal:alice" "run -w ws --as signal:alice no-such-program" \
    "run -w ws --json --as signal:alice no-such-program" "run -w ws --as signal:alice --memory 1x true"; do
    # shellcheck disable=SC2086
    no_canary "coop $command" "$("$COOP" $command 2>&1 </dev/null)"
done
like "whoami names them" "$("$COOP" whoami --as signal:alice)" '^secrets +by-value, by_file, by_command, by_from$'
is "as a list, too" "$("$COOP" whoami --json --as signal:bob | jq -c .secrets)" '["by_file","by_command","by_from"]'
has_no_canary "nothing in the workspace, the state or the cache" ws state cache home
is "a policy's digest does not depend on the value" \
    "$(everybody --json true | jq -r .policy_digest)" \
    "$(cp safe/key safe/old && echo other-value >safe/key && everybody --json true | jq -r .policy_digest; cp safe/old safe/key)"
if "$COOP" run -w ws --mode preferred true 2>/dev/null </dev/null; then
    everybody sh -c 'mkdir -p .git/hooks; echo x >".git/hooks/$BY_VALUE"' >/dev/null 2>err
    has_no_canary "a refusal that would name one" err
    rm -rf ws/.git
fi

# ---- what is wrong is told in one sentence, and nothing runs

broken() { # WHAT TOML PATTERN
    (umask 077 && printf '[environment]\nprovider = "p"\n[secrets.tok]\nproviders = ["p"]\n%b\n' "$2" >broken.toml)
    local out
    out=$(run --config broken.toml touch ran-anyway 2>&1)
    is "$1: refused" "$?" 125
    like "$1: told" "$out" "broken.toml:[0-9]+:[0-9]+: .*'tok'.*$3"
    is "$1: one line, and perhaps a hint" "$(grep -vc "^  hint: " <<<"$out")" 1
    no_canary "$1: without the value" "$out"
    ok "$1: nothing ran" test ! -e ws/ran-anyway
}
for mode in 644 640 620 606; do
    chmod $mode safe/key
    broken "a file of mode $mode" "file = '$T/safe/key'" "is in a file that others can read or write \(its mode is 0$mode\)"
done
chmod 600 safe/key
(
    umask 077
    mkfifo safe/fifo
    : >safe/empty
    echo >safe/newline
    printf 'canary\0x' >safe/nul
    head -c 65537 /dev/zero | tr '\0' x >safe/large
    cp safe/key ws/key
    ln -s "$T/ws/key" safe/link
)
broken "no file" "file = '$T/safe/absent'" "is in a file that does not exist"
broken "a directory" "file = '$T/safe'" "is to be read from a directory"
broken "a FIFO" "file = '$T/safe/fifo'" "is to be read from what is no regular file"
broken "a device" "file = '/dev/zero'" "is to be read from what is no regular file"
broken "an empty file" "file = '$T/safe/empty'" "is empty"
broken "an empty line" "file = '$T/safe/newline'" "is empty"
broken "a NUL" "file = '$T/safe/nul'" "has a NUL in it"
broken "a large file" "file = '$T/safe/large'" "is in a file that is larger than 64 KiB"
broken "a file of the workspace" "file = '$T/ws/key'" "is in a file of the workspace"
broken "a link into the workspace" "file = '$T/safe/link'" "is in a file of the workspace"
broken "a relative path" "file = 'safe/key'" "is in a file whose path is relative"
broken "the value in the wrong key" "file = '$(cat safe/value)'" "is in a file whose path is relative"
rm ws/key
broken "a command that fails" "command = 'cat $T/safe/file $T/safe/file >&2; cat $T/safe/file; exit 3'" "ended with the exit status 3"
broken "one that is killed" "command = 'kill -9 \$\$'" "was ended by the signal 9"
broken "one that does not exist" "command = ['no-such-program', 'x']" "cannot be executed"
broken "one that says nothing" "command = ['true']" "is empty"
broken "one that says too much" "command = 'cat /dev/zero'" "prints more than a secret may have"
broken "a variable that is not set" "from = '\$NO_SUCH_VARIABLE'" "comes from a variable of the caller that is not set"
broken "a reserved variable" "value = '$(cat safe/value)'\nenv = 'COOP_TOKEN'" "the variable 'COOP_TOKEN' cannot be set because its beginning is reserved"
broken "two in one variable" "value = '$(cat safe/value)'\nenv = 'A'\n[secrets.a]\nvalue = 'other'\nproviders = ['p']" "and 'a' are both given in the variable 'A'"
is "64 KiB are not too large" "$(head -c 65536 safe/large >safe/most; chmod 600 safe/most
    (umask 077; printf '[environment]\nprovider = "p"\n[secrets.tok]\nproviders = ["p"]\nfile = "%s"\n' "$T/safe/most" >most.toml)
    run --config most.toml sh -c 'echo ${#TOK}; echo "$TOK"')" $'65536\n[secret tok]'
is "only one newline goes" "$(printf 'two lines\n\n' >safe/two; chmod 600 safe/two
    (umask 077; printf '[environment]\nprovider = "p"\n[secrets.tok]\nproviders = ["p"]\nfile = "%s"\n' "$T/safe/two" >two.toml)
    run --config two.toml sh -c 'echo ${#TOK}')" 10
(umask 077; printf '[environment]\nprovider = "p"\n[providers.p]\nsecrets = ["nothing"]\n' >missing.toml)
like "a provider whose secret is not there" "$(run --config missing.toml true 2>&1)" "missing.toml:4:12: .*'p'.*'nothing'"
for mode in 644 640; do
    printf '[secrets.tok]\nvalue = "%s"\n' "$(cat safe/value)" >open.toml
    chmod $mode open.toml
    out=$(run --config open.toml true 2>&1)
    is "secrets in a file of mode $mode are refused" "$?" 125
    like "and that is told" "$out" "open.toml:1:[0-9]+: secrets are refused in a file that others can read"
    no_canary "without them" "$out"
done
printf '[secrets.tok]\nvalue = "%s"\nproviders = ["p"]\n' "$(cat safe/value)" >ws/coop.toml
chmod 600 ws/coop.toml
out=$(run true 2>&1)
is "a project's file has none" "$?" 125
no_canary "and what it says is not shown" "$out"
rm ws/coop.toml
done_testing
