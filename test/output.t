#!/bin/bash
# What a command writes: passed on byte for byte, or captured with bounded memory into a document.
# worlds: root user
# builds: asan
# speed: slow
. "$(dirname "$0")/tap.sh"
. "$SRC/test/leftovers.sh"
mkdir w
cd w || exit 1
run() { timeout -s KILL 100 "$COOP" run "$@"; }
capture() { run --json "$@" >"$T/result" 2>"$T/err"; } # leaves the document in $T/result
field() { jq -r "$1" "$T/result"; }

# --- streaming -------------------------------------------------------------------------------------
head -c 50000000 /dev/urandom >"$T/random"
sum=$(cksum <"$T/random")
is "50 MB of anything pass through, file to pipe" "$(run -- cat <"$T/random" | cksum)" "$sum"
run -- cat <"$T/random" >"$T/copy"
ok "and file to file" cmp "$T/random" "$T/copy"
is "and pipe to pipe" "$(cat "$T/random" | run -- cat | cksum)" "$sum"
is "and by way of stderr" "$(run -c 'cat >&2' <"$T/random" 2>&1 >/dev/null | cksum)" "$sum"
is "both streams at once" \
    "$(run -c 'python3 -c "import os
while b := os.read(0, 65536):
  os.write(1, b); os.write(2, b)"' <"$T/random" 2>"$T/copy" | cksum; cksum <"$T/copy")" \
    "$(printf '%s\n%s' "$sum" "$sum")"
is "/dev/stdin, /dev/stdout and /dev/stderr can be opened" \
    "$(echo x | run -c 'cat /dev/stdin >/dev/stdout; echo y >/dev/stderr' 2>&1)" "$(printf 'x\ny')"
# A reader such as a terminal multiplexer or node hands over pipes that do not block.
cat >"$T/nonblocking.py" <<'END'
import os, subprocess, sys, time, zlib
r, w = os.pipe()
os.set_blocking(w, False)
child = subprocess.Popen(sys.argv[1:], stdout=w)
os.close(w)
n = crc = 0
time.sleep(0.3)  # only so that the pipe is full before anything is read
while data := os.read(r, 65536):
    n, crc = n + len(data), zlib.crc32(data, crc)
print(n, crc, child.wait())
END
is "nothing is lost when the caller's pipe does not block" \
    "$(timeout -s KILL 60 python3 "$T/nonblocking.py" "$COOP" run -- head -c 3000000 /dev/zero)" \
    "3000000 $(python3 -c 'import zlib; print(zlib.crc32(bytes(3000000)))') 0"
rm -f "$T/copy"
run -c 'echo to-out; echo to-err >&2' >"$T/o" 2>"$T/e"
is "stdout and stderr are separate" "$(cat "$T/o") $(cat "$T/e")" "to-out to-err"
is "both may go to the same pipe, in order within a stream" \
    "$(run -c 'for i in 1 2 3; do echo $i; done; echo e >&2' 2>&1 | sort | xargs)" "1 2 3 e"
run -c 'echo added' >>"$T/o"
is "appending appends" "$(cat "$T/o")" "$(printf 'to-out\nadded')"
is "a command that prints nothing" "$(run -- true)" ''
is "coop itself says nothing in an ordinary run" "$(run -- true 2>&1)" ''
if [ -w /dev/full ]; then
    full() { "$COOP" run -q "$@" >/dev/full; }
    status "output that cannot be written is not lost in silence" 125 full -- echo x
    like "and that is said" "$(full -- echo x 2>&1)" '^coop run: write .*: No space left on device'
    status "a command that writes on is told" 125 timeout -s KILL 20 bash -c '"$@" >/dev/full' - "$COOP" run -q -- yes
else
    skip_never "output that cannot be written is not lost in silence" "no /dev/full"
fi

# --- the document ------------------------------------------------------------------------------------
capture -c 'echo out; echo err >&2; exit 3'
is "status of coop is the command's, with --json too" "$?" 3
is "nothing on stderr with --json" "$(cat "$T/err")" ''
types='[.version, .exit_code, .signal, .status, .timed_out, .cancelled, .oom, .pids_hit, .duration_us,
  .cpu_us, .peak_memory_bytes, .bytes_written, .stdout, .stdout.text, .stdout.total_bytes,
  .stdout.total_lines, .stdout.cut_bytes, .stdout.cut_lines, .stdout.dropped_bytes,
  .stdout.truncated, .stdout.note, .stderr, .stderr.text, .enforced, .enforced.tier,
  .enforced.files, .enforced.processes, .enforced.network, .enforced.syscalls,
  .enforced.privileges, .enforced.limits, .denials, .policy_digest] | map(type) | join(" ")'
is "every field has its type" "$(field "$types")" \
    "number number null number boolean boolean boolean boolean number number number number object \
string number number number number number boolean null object string object string string string \
string string string object array string"
is "the values are right" \
    "$(field '[.version, .exit_code, .status, .stdout.text, .stderr.text, .stdout.total_bytes, .stdout.total_lines] | @json')" \
    '[2,3,3,"out\n","err\n",4,1]'
is "the tier is full" "$(field .enforced.tier)" full
is "each limit says its value and what holds it" \
    "$(field '[.enforced.limits[] | (.value | type) + " " + (.by | type)] | unique | @csv')" '"number string"'
is "the default limits are there" \
    "$(field '[.enforced.limits.memory.value, .enforced.limits.pids.value, .enforced.limits["tmp-size"].value] | @csv')" \
    "2147483648,512,536870912"
like "the digest is one" "$(field .policy_digest)" '^[0-9a-f]{64}$'
digest=$(field .policy_digest)
capture -- true
is "the same policy has the same digest" "$(field .policy_digest)" "$digest"
capture --memory 1g -- true
isnt "another policy has another" "$(field .policy_digest)" "$digest"
ok "time passes" jq -e '.duration_us > 0 and .cpu_us > 0 and .peak_memory_bytes > 0' "$T/result"
capture -c 'kill -SEGV $$'
is "a signal" "$(field '[.exit_code, .signal, .status] | @json')" '[null,11,139]'
is "no output at all" "$(field '[.stdout.text, .stdout.total_bytes, .stdout.truncated] | @json')" '["",0,false]'
is "no newline at the end" "$(capture -c 'printf x'; field '[.stdout.text, .stdout.total_lines] | @json')" '["x",1]'

# --- garbage -----------------------------------------------------------------------------------------
is_json() { python3 -c 'import json, sys; json.loads(sys.stdin.buffer.read().decode("utf-8", "strict"))' <"$T/result"; }
for how in 'cat' 'head -c 49000' 'head -c 1' 'tr -d "\\n" | head -c 200000' 'head -c 3000 | tr "\\0-\\377" "\\0-\\37\\0-\\37\\0-\\37\\0-\\37\\0-\\37\\0-\\37\\0-\\37\\0-\\37"'; do
    capture -c "$how; head -c 100 >&2" <"$T/random"
    ok "valid JSON and UTF-8 from garbage: $how" is_json
done
capture -c "printf 'a\\000b\\033[31m\\177\\303\\050\\355\\240\\200\\364\\220\\200\\200\"\\\\'"
ok "valid JSON from NUL, escapes, overlong and surrogate bytes" is_json
is "its good characters are all there" "$(field '.stdout.text | [match("a|b|\\[31m|\\(|\"|\\\\";"g").string] | join("")')" 'ab[31m("\'
is "byte counts are those of the command" "$(field .stdout.total_bytes)" 20

# --- what is cut -------------------------------------------------------------------------------------
capture -- seq 1 2000
is "2000 lines are shown whole" "$(field '[.stdout.truncated, .stdout.cut_lines, .stdout.note] | @json')" '[false,0,null]'
capture -- seq 1 2001
is "of 2001 lines the first is cut" \
    "$(field '[.stdout.truncated, .stdout.cut_lines, .stdout.cut_bytes, .stdout.total_lines, (.stdout.text | split("\n")[0])] | @json')" \
    '[true,1,2,2001,"2"]'
like "and that is said" "$(field .stdout.note)" 'first.*2,?001'
capture -c 'i=0; while [ $i -lt 1000 ]; do printf "%099d\n" $i; i=$((i+1)); done'
is "of 100,000 bytes the last 50,000 are shown, on line boundaries" \
    "$(field '[.stdout.cut_bytes, .stdout.cut_lines, (.stdout.text | utf8bytelength), (.stdout.text | split("\n")[0] | tonumber)] | @json')" \
    '[50000,500,50000,500]'
capture -c 'i=0; while [ $i -lt 1000 ]; do printf "%098d\n" $i; i=$((i+1)); done'
is "where lines do not fit evenly, fewer bytes" "$(field '.stdout.text | utf8bytelength')" 49995
capture -c 'head -c 60000 /dev/zero | tr "\0" x'
is "one long line is cut inside" "$(field '[(.stdout.text | utf8bytelength), .stdout.cut_bytes] | @json')" '[50000,10000]'
capture -- python3 -c 'print("x" + "\u20ac" * 40000, end="")'
is "but never inside a character" \
    "$(field '[(.stdout.text | test("^\u20ac+$")), (.stdout.text | utf8bytelength), .stdout.cut_bytes] | @json')" \
    '[true,49998,70003]'
capture -- python3 -c 'print("\U0001f600" * 30001, end="")'
is "nor inside a longer one" "$(field '[(.stdout.text | utf8bytelength), .stdout.cut_bytes] | @json')" '[50000,70004]'
capture -c 'seq 1 3000 >&2; echo short'
is "each stream is cut for itself" "$(field '[.stdout.truncated, .stderr.truncated] | @json')" '[false,true]'
capture -- head -c 10485760 /dev/zero
is "10 MiB are kept" "$(field '[.stdout.total_bytes, .stdout.dropped_bytes] | @json')" '[10485760,0]'
capture -- head -c 10485761 /dev/zero
is "beyond that the head is dropped and counted" "$(field '[.stdout.total_bytes, .stdout.dropped_bytes] | @json')" '[10485761,1]'
capture -c 'yes aaaaaaaaaaaaaaa | head -n 2000000; echo the end'
is "the end of much output is what is shown" \
    "$(field '[(.stdout.text | split("\n")[-2]), .stdout.total_lines, .stdout.total_bytes, .stdout.dropped_bytes] | @json')" \
    '["the end",2000001,32000008,21514248]'

# --- memory --------------------------------------------------------------------------------------------
size=3G
[ "${COOP_TEST_QUICK-}" = 1 ] && size=500M
max_rss() { # the most that coop, or anything it waited for, had at once, in KiB
    python3 - "$@" <<'END'
import os, subprocess, sys
p = subprocess.Popen(sys.argv[1:], stdout=open(os.environ["T_RESULT"], "wb"), stdin=subprocess.DEVNULL)
print(os.wait4(p.pid, 0)[2].ru_maxrss)
END
}
export T_RESULT=$T/result
rss=$(max_rss timeout -s KILL 300 "$COOP" run --json -- head -c $size /dev/zero)
case $COOP in *-asan/*) most=131072 ;; *) most=65536 ;; esac # the sanitizer keeps what is freed
ok "$size of output cost coop little (${rss} KiB)" [ "$rss" -lt $most ]
is "all of it was counted" "$(field .stdout.total_bytes)" "$(numfmt --from=iec $size)"
rss=$(max_rss timeout -s KILL 300 "$COOP" run --json -c "head -c $size /dev/zero >&2")
ok "also on stderr (${rss} KiB)" [ "$rss" -lt $most ]
export T_RESULT=/dev/null
rss=$(max_rss timeout -s KILL 300 "$COOP" run -- head -c $size /dev/zero)
case $COOP in *-asan/*) most=98304 ;; *) most=16384 ;; esac # the sanitizer's own memory
ok "streaming costs less still (${rss} KiB)" [ "$rss" -lt $most ]

# --- denials ---------------------------------------------------------------------------------------------
denial='[.denials[0] | .op, (.target | type), (.rule | type), (.origin | type), .allow] | @json'
capture --timeout 200ms -- sleep 100
is "a timeout: status" "$(field '[.status, .timed_out] | @json')" '[124,true]'
is "a timeout is a denial with its remedy" "$(field "$denial")" '["time","string","string","string","--timeout DURATION"]'
hog='x = bytearray(40 << 20)
for i in range(0, len(x), 4096): x[i] = 1
import time; time.sleep(2)'
capture --memory 64m -c "for i in 1 2 3 4; do python3 -c '$hog' & done; wait"
is "out of memory, by many processes together" "$(field .oom)" true
is "out of memory is a denial with its remedy" "$(field "$denial")" '["memory","string","string","string","--memory SIZE"]'
capture --file-size 1m -c 'exec head -c 2000000 /dev/zero >big'
is "too large a file" "$(field "$denial")" '["file-size","string","string","string","--file-size SIZE"]'
rm -f big
capture --cpu-seconds 1 -c 'while :; do :; done'
is "too much CPU time" "$(field "$denial")" '["cpu","string","string","string","--cpu-seconds N"]'
for s in XFSZ XCPU; do
    capture -c "kill -$s \$\$"
    is "SIG$s where no limit is set is the command's own affair" "$(field .denials)" '[]'
done
run -t --json -- true >"$T/result" 2>"$T/err" </dev/null
is "--tty and --json: refused" "$? $(jq -r .error.kind "$T/result")" "125 bad-policy"
like "with the reason" "$(cat "$T/err")" "exclude each other"
capture --pids 20 -c 'i=0; while [ $i -lt 60 ]; do sleep 5 & i=$((i+1)); done; exit 9'
case $(field .enforced.limits.pids.by) in
*RLIMIT*) skip_never "too many processes" "no cgroup here that would count refusals" ;;
*)
    is "too many processes" "$(field '[.pids_hit] | @json') $(field "$denial")" '[true] ["pids","string","string","string","--pids N"]'
    ;;
esac
run --json -- no-such-command >"$T/result" 2>/dev/null
is "no such command: status" "$?" 127
is "no such command: the document has an error and a denial" \
    "$(field '[.exit_code, .status, .error.kind, (.error.message | type), .denials[0].op] | @json')" \
    '[null,127,"exec-failed","string","exec"]'
run --json --memory nonsense -- true >"$T/result" 2>/dev/null
is "bad input: status" "$?" 125
is "bad input: the document has an error" "$(field '[.status, .error.kind, (.error.message | test("nonsense"))] | @json')" \
    '[125,"bad-policy",true]'
capture -c 'unshare -U true 2>/dev/null; mount -t tmpfs x /tmp 2>/dev/null; exit 0'
is "an ordinary run has no limit among its denials" "$(field '[.denials[] | select(.op != "syscall")] | length')" 0
done_testing
