#!/bin/bash
# yaml.t - YAML through coop-yaml: what is read, what is refused and where, files that want to hurt
. "$(dirname "$0")/tap.sh"

YAML=$(dirname "$COOP")/coop-yaml
if [ ! -x "$YAML" ]; then
    skip "reading YAML" "coop-yaml was not built: libyaml is missing"
    done_testing
fi
decode() { timeout -s KILL 60 "$COOP" config decode "$@"; }

# ---- the files in test/yaml: valid.txt and refused.txt have what is printed for each

for file in "$SRC"/test/yaml/valid/*.yaml; do
    name=${file##*/}
    r=0
    out=$(decode "$file" 2>&1) || r=$?
    is "reads $name" "$r|$out" "0|$(sed -n "s/^$name: //p" "$SRC/test/yaml/valid.txt")"
done
cd "$SRC/test/yaml/refused" || exit 1
for name in *.yaml; do
    r=0
    out=$(decode "$name" 2>"$T/err") || r=$?
    is "refuses $name" "$r|$out|$(cat "$T/err")" "1||$(grep "^$name:" "$SRC/test/yaml/refused.txt")"
done
cd "$T" || exit 1
for kind in valid refused; do
    is "every line of $kind.txt has its file" "$(sed 's/\.yaml:.*/.yaml/' "$SRC/test/yaml/$kind.txt" | uniq)" \
        "$(cd "$SRC/test/yaml/$kind" && LC_ALL=C ls)"
done

# ---- names

printf 'a: 1\n' >a.yml
printf 'a = 1\n' >b.yaml.toml
printf 'a: *x\n' >"$(printf 'name\033.yaml')"
is "a name may end in .yml" "$(decode a.yml)" '{"a":{"type":"text","value":"1"}}'
is "other names are TOML" "$(decode b.yaml.toml)" '{"a":{"type":"integer","value":"1"}}'
is "makes names harmless" "$(decode "$(printf 'name\033.yaml')" 2>&1)" \
    'name\x1b.yaml:1:4: error: aliases (*name) are not supported; write the value in full'

# ---- what is no file

# says DESCRIPTION STDERR FILE
says() {
    local r=0
    decode "$3" >out 2>err || r=$?
    is "$1" "$r|$(wc -c <out)|$(cat err)" "1|0|$2"
}
mkdir dir.yaml
mkfifo fifo.yaml
ln -s loop.yaml loop.yaml
truncate -s 16777217 big.yaml
says "refuses a directory" "coop config decode: read 'dir.yaml': it is a directory, not a regular file" dir.yaml
says "refuses a FIFO and does not hang" "coop config decode: read 'fifo.yaml': it is a FIFO, not a regular file" fifo.yaml
says "reports a loop of symbolic links" \
    "coop config decode: read 'loop.yaml': its symbolic links lead in a circle" loop.yaml
says "refuses what is too large" "coop config decode: read 'big.yaml': it is larger than 16 MiB" big.yaml

# ---- files that want to hurt

repeat() { awk -v n="$2" -v text="$1" 'BEGIN { for (i = 0; i < n; i++) printf "%s", text }'; }
awk 'BEGIN { for (i = 0; i < 100000; i++) print "key" i ": " i }' >many.yaml
is "100,000 keys" "$(decode many.yaml | grep -o '"type":"text"' | wc -l)" 100000
{ echo 's: |'; repeat '  fourteen byte
' 655360; } >large.yaml
is "a block of 10 MiB" "$(decode large.yaml | wc -c)" $((655360 * 15 + 35))
{ printf 's: "'; repeat '\L' 5242880; echo '"'; } >large.yaml
is "a string that grows from 10 to 15 MiB" "$(decode large.yaml | wc -c)" $((5242880 * 3 + 35))
{ printf 'a: ['; repeat '1,' 2100000; echo ']'; } >hurt.yaml
says "more values than a document holds" "hurt.yaml:1:4000003: error: the file holds more than 2000000 values" hurt.yaml
repeat '[' 16777216 >hurt.yaml
says "16 MiB of brackets" \
    "hurt.yaml:1:1: error: the file is a list, but should be a map; write lines of the form 'key: value'" hurt.yaml
{ echo 'a:'; repeat '- ' 8000000; } >hurt.yaml
says "16 MiB of lists in lists" "hurt.yaml:2:1025: error: maps and lists lie more than 512 deep in each other" hurt.yaml
{ printf 'a: "'; repeat '
' 10485760; echo '"'; } >hurt.yaml
is "10 MiB of line ends in a string" "$(decode hurt.yaml | wc -c)" $((2 * 10485759 + 35))
awk 'BEGIN { for (i = 0; i < 100000; i++) print "key: " i }' >hurt.yaml
r=0
decode hurt.yaml >out 2>err || r=$?
is "100,000 times the same key: a hundred are named, the others counted" \
    "$r|$(wc -l <err)|$(tail -n 1 err)" "1|101|and 99899 more"

# ---- coop-yaml by itself

# It waits for its input: by then it has given everything up. The writing end is ours.
mkfifo input output
cat output >bytes &
"$YAML" <input >output 7<"$COOP" &
pid=$!
exec 8>input
is_locked() { grep -q '^Seccomp:[[:space:]]*2$' "/proc/$pid/status"; }
ok "filters its system calls before it reads" await is_locked
like "cannot gain privileges" "$(cat "/proc/$pid/status")" 'NoNewPrivs:[[:space:]]*1'
is "has its two descriptors only" "$(cd "/proc/$pid/fd" && echo *)" "0 1"
limit() { sed -nE "s/^$1 +([0-9]+) .*/\1/p" "/proc/$pid/limits"; }
is "has limits" "$(limit 'Max data size')|$(limit 'Max cpu time')|$(limit 'Max open files')|$(limit 'Max file size')" \
    "536870912|10|0|0"
printf 'a: 1\n' >&8
exec 8>&-
wait "$pid"
is "ends well" "$?" 0
wait
is "answers in records" "$(od -An -v -tx1 bytes | tr -d ' \n')" \
    "$(printf %s 6d010000000100000000000000 6b01000000010000000100000061 7001000000040000000100000031 \
        65020000000100000000000000 2e000000000000000000000000)"
truncate -s 16777217 big
is "refuses too much by itself" "$("$YAML" <big | tr -d '\0' | grep -ao 'the file is larger.*MiB')" \
    "the file is larger than 16 MiB"
r=0
"$YAML" <"$SRC/test/yaml/valid/flow.yaml" >/dev/full 2>err || r=$?
is "what cannot be written ends it" "$r|$(cat err)" "1|"

# ---- which coop-yaml is run

mkdir bin alone
for place in . bin; do
    printf '#!/bin/sh\ntouch "%s/planted"\n' "$T" >$place/coop-yaml
    chmod 755 $place/coop-yaml
done
PATH=$T/bin:$PATH COOP_LIBEXEC=$T/bin LIBEXECDIR=$T/bin COOP_YAML=$T/bin/coop-yaml decode a.yml >out 2>&1
is "is not found through the environment or the working directory" "$(cat out)" '{"a":{"type":"text","value":"1"}}'
not_ok "and what lies there does not run" test -e planted

cp "$COOP" alone/coop
alone() { timeout -s KILL 60 alone/coop config decode a.yml 2>&1; }
if alone >out; then
    skip_never "says when it is not installed" "it is installed here"
else
    is "says when it is not installed" "$(cat out)" \
        "a.yml: error: reading YAML needs 'coop-yaml', which is not installed; write the file in TOML instead"
fi
cp "$YAML" alone/coop-yaml
is "is found beside a coop that was not installed" "$(alone)" '{"a":{"type":"text","value":"1"}}'
# misbehaves DESCRIPTION LINE SENTENCE
misbehaves() {
    printf '#!/bin/sh\n%s\n' "$2" >alone/coop-yaml
    is "$1" "$(alone)" "a.yml: error: '$T/alone/coop-yaml', which reads YAML, $3"
}
misbehaves "reports one that ends early" "exit 3" "ended early with exit status 3"
misbehaves "reports one that was killed" 'kill -SYS $$' "was ended by signal 31"
misbehaves "reports one that talks nonsense" 'echo this is not a record' \
    "gave an answer that makes no sense; install a coop-yaml of the same version as coop"
printf '#!/bin/sh\ntouch "%s/planted"\n' "$T" >alone/coop-yaml
if is_root && chown 1 alone/coop-yaml 2>/dev/null; then
    alone >out
    not_ok "is not run when it belongs to somebody else than coop" test -e planted
else
    skip_never "is not run when it belongs to somebody else than coop" "only root can give files away"
fi
done_testing
