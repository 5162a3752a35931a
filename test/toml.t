#!/bin/bash
# toml.t - coop config decode: the public conformance files, and files that want to hurt
# worlds: user
. "$(dirname "$0")/tap.sh"

# ---- conformance

if command -v python3 >/dev/null; then
    n=0
    while IFS=$'\t' read -r wrong file why; do
        n=$((n + 1))
        tap_result "$wrong" "$file"
        [ "$wrong" = 0 ] || note "$why"
    done < <("$SRC/test/toml-compare" "$COOP" "$SRC/test/toml-test")
    is "every file was looked at" "$n" "$(find "$SRC/test/toml-test" -name '*.toml' | wc -l)"
else
    skip "the conformance files" "no python3"
fi

# ---- what is said, and where

decode() { timeout -s KILL 60 "$COOP" config decode "$@"; }
# says DESCRIPTION STATUS EXPECTED-STDERR [arguments...]
says() {
    local what=$1 want=$2 expected=$3 out err r=0
    shift 3
    out=$(decode "$@" 2>err) || r=$?
    err=$(cat err)
    is "$what" "$r|$out|$err" "$want||$expected"
}
printf 'a = 1\nb = {c = 2}\n' >good.toml
is "prints the tagged form" "$(decode good.toml)" \
    '{"a":{"type":"integer","value":"1"},"b":{"c":{"type":"integer","value":"2"}}}'
printf 'a = 1\n[t]\nx = yes\n\n[t]\ny = "\\q"\na = 2\n' >bad.toml
says "names every mistake in one go" 1 \
    "bad.toml:3:5: error: expected a value, found the word 'yes'; write text in quotes
bad.toml:5:2: error: the table 't' is repeated (first defined at 2:2); write its keys in one place
bad.toml:6:7: error: expected one of b t n f r \" \\ u U after a backslash, found 'q'; write \\\\ for a backslash, or the string in single quotes" \
    bad.toml
printf 'k = 1\n\342\202\254\342\202\254 = "\033"\n' >"$(printf 'name\033.toml')"
says "makes names and bytes harmless" 1 \
    "name\\x1b.toml:2:1: error: expected a key, found '€'; write a key with other characters in quotes" \
    "$(printf 'name\033.toml')"
says "wants a file" 2 "coop config decode: needs the name of a file"
says "wants one file" 2 "coop config decode: takes one file" good.toml bad.toml
says "refuses an unknown option" 2 "coop config decode: unknown option '--json'
  hint: 'coop config decode --help' lists the options" --json good.toml
status "coop config alone is wrong usage" 2 "$COOP" config
like "coop config names a near command" "$("$COOP" config decod 2>&1)" "did you mean 'coop config decode'"
like "coop config --help lists its commands" "$("$COOP" config --help)" '^  decode '
like "coop config decode --help shows its usage" "$("$COOP" config decode --help)" '^usage: coop config decode FILE'
if [ -e /dev/full ]; then
    r=0
    err=$("$COOP" config decode good.toml 2>&1 >/dev/full) || r=$?
    is "a full disk is noticed" "$r|$err" "1|coop config decode: write to standard output: No space left on device"
fi

# ---- what is no file

mkdir dir.toml
mkfifo fifo.toml
ln -s loop.toml loop.toml
ln -s gone gone.toml
truncate -s 16777217 big.toml
says "refuses a directory" 1 "coop config decode: read 'dir.toml': it is a directory, not a regular file" dir.toml
says "refuses a FIFO and does not hang" 1 "coop config decode: read 'fifo.toml': it is a FIFO, not a regular file" fifo.toml
says "refuses a device" 1 "coop config decode: read '/dev/zero': it is a device, not a regular file" /dev/zero
says "reports a loop of symbolic links" 1 \
    "coop config decode: read 'loop.toml': its symbolic links lead in a circle" loop.toml
says "reports what is missing" 1 "coop config decode: read 'gone.toml': No such file or directory" gone.toml
says "refuses what is too large" 1 "coop config decode: read 'big.toml': it is larger than 16 MiB" big.toml

# ---- files that want to hurt

# refused DESCRIPTION PLACE-AND-SENTENCE: hurt.toml ends in one line on stderr that begins so
refused() {
    local r=0
    decode hurt.toml >out 2>err || r=$?
    is "$1" "$r|$(wc -c <out)|$(wc -l <err)|$(head -c "$((${#2} + 10))" err)" "1|0|1|hurt.toml:$2"
}
repeat() { awk -v n="$2" -v text="$1" 'BEGIN { for (i = 0; i < n; i++) printf "%s", text }'; }
{ printf 'a = '; repeat '[' 10000; } >hurt.toml
refused "arrays 10,000 deep" "1:517: error: tables and arrays lie more than 512 deep"
{ printf 'a = '; repeat '{a=' 10000; } >hurt.toml
refused "inline tables 10,000 deep" "1:1541: error: tables and arrays lie more than 512 deep"
{ repeat 'a.' 10000; echo 'a = 1'; } >hurt.toml
refused "a dotted key of 10,000 parts" "1:1025: error: tables and arrays lie more than 512 deep"
{ printf '['; repeat 'a.' 10000; echo 'a]'; } >hurt.toml
refused "a header of 10,000 parts" "1:1026: error: tables and arrays lie more than 512 deep"
repeat '[[a]]' 4000000 | head -c 16777216 >hurt.toml
refused "16 MiB of brackets" "1:6: error: expected the end of the line, found '['"
{ printf 'a = ['; repeat '1,' 2100000; echo ']'; } >hurt.toml
refused "more values than a document holds" "1:4000006: error: the file holds more than 2000000 values"
head -c 100000 /dev/zero >hurt.toml
refused "a file of NULs" "1:1: error: expected a key, found the control character U+0000"

awk 'BEGIN { for (i = 0; i < 100000; i++) print "key" i " = " i }' >many.toml
is "100,000 keys" "$(decode many.toml | grep -o '"type":"integer"' | wc -l)" 100000
awk 'BEGIN { for (i = 0; i < 100000; i++) print "key = " i }' >hurt.toml
r=0
decode hurt.toml >out 2>err || r=$?
is "100,000 times the same key: a hundred are named, the others counted" \
    "$r|$(wc -l <err)|$(tail -n 1 err)" "1|101|and 99899 more"
{ echo 's = """'; repeat 'sixteen bytes...' 655360; echo '"""'; } >large.toml
is "a string of 10 MiB" "$(decode large.toml | wc -c)" $((10485760 + 35))
done_testing
