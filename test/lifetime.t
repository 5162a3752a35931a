#!/bin/bash
# When a box ends, all of it ends: by itself, by timeout, by signal, by the death of any of its
# processes. And how input, output and status pass while it lives.
# COOP_TEST_QUICK=1: fewer rounds of killing.
# builds: asan
# speed: slow
. "$(dirname "$0")/tap.sh"
. "$SRC/test/leftovers.sh"
mkdir w
cd w || exit 1
run() { timeout -s KILL 30 "$OUTLIVES" "$COOP" run "$@"; } # 99: something outlived it

# A family that does everything not to be found. $1: what the command itself does in the end.
family() {
    cat <<END
sleep $mark &
setsid sleep $mark &
(setsid sh -c 'trap "" TERM HUP INT QUIT; sleep $mark; sleep $mark' &) &
(sleep $mark & kill -STOP \$!) &
(setsid setsid sh -c '(sleep $mark &) ; exec sleep $mark' >/dev/null 2>&1 </dev/null &)
$1
END
}
# Starts coop in the background as a shell does in the foreground, with the usual signals.
start() {
    rm -f "$T/out" "$T/err"
    env --default-signal=INT,QUIT,HUP,PIPE "$COOP" run "$@" >"$T/out" 2>"$T/err" </dev/null &
    pid=$!
}
finish() { # leaves the status in $status
    status=0
    await 20 eval '! kill -0 $pid' || { kill -KILL "$pid"; note "had to be killed"; }
    wait "$pid" 2>/dev/null || status=$?
}
says() { grep -qx -- "$1" "$T/out"; }
n_lines() { [ "$(wc -l <"$T/out")" -ge "$1" ]; }

# --- exit status -------------------------------------------------------------------------------
for n in 0 1 3 124 255; do
    status "exit status $n is the command's own" $n run -c "exit $n"
done
for s in HUP:1 INT:2 KILL:9 SEGV:11 PIPE:13 TERM:15 USR1:10; do
    status "death by SIG${s%:*} gives 128+${s#*:}" $((128 + ${s#*:})) run -c "kill -${s%:*} \$\$"
done
status "125 for bad options" 125 run --no-such-option -- true
echo text >not-executable
status "126 for what cannot be executed" 126 run -- ./not-executable
rm not-executable
status "127 for what does not exist" 127 run -- no-such-command
status "124 for a timeout" 124 run --timeout 200ms -- sleep 100

# --- timeout -----------------------------------------------------------------------------------
mark=$(new_mark)
before=$(snapshot .)
is "a timeout is SIGTERM to the command first" \
    "$(run --timeout 300ms -c 'trap "echo got TERM; exit 5" TERM; sleep 100 & wait' 2>/dev/null)" \
    "got TERM"
is "the command has some time to finish" \
    "$(run --timeout 300ms -c 'trap "sleep 1; echo finished; exit 5" TERM; sleep 100 & wait' 2>/dev/null)" \
    "finished"
is "but not any time" \
    "$(run --timeout 300ms -c 'trap "sleep 30; echo too late; exit 5" TERM; sleep 100 & wait' 2>/dev/null)" \
    ""
status "a family that ignores signals, forks twice and changes sessions ends with the timeout" 124 \
    run --timeout 500ms -c "$(family 'trap "" TERM; sleep '"$mark"'; sleep '"$mark")"
ok "nothing of it outlives the timeout" await 5 gone "$mark"
status "a stopped command ends with the timeout" 124 run --timeout 300ms -c 'kill -STOP $$; sleep 100'
status "a command that stops whatever wakes it ends with the timeout" 124 \
    run --timeout 300ms -c 'trap "kill -STOP \$\$" CONT TERM; kill -STOP $$; sleep 100; sleep 100'
status "a timeout longer than the command changes nothing" 7 run --timeout 100s -c 'exit 7'
like "a timeout is explained" "$(run --timeout 200ms -- sleep 100 2>&1)" 'time'
is "a timeout is not explained with --quiet" "$(run -q --timeout 200ms -- sleep 100 2>&1)" ''
nothing_left "after timeouts nothing is left" "$before" .

# --- the command ends, its family does not ------------------------------------------------------
status "what the command leaves in the background ends with it" 6 run -c "$(family 'exit 6')"
ok "nothing of it outlives the command" await 5 gone "$mark"
is "a background child that holds stdout does not hold the caller" \
    "$(run -c "sleep $mark & echo done")" "done"
is "nor one that holds both, with --json" \
    "$(run --json -c "(setsid sleep $mark &) ; echo done" | jq -r .stdout.text)" "done"
is "output written just before the end arrives" \
    "$(run -c 'head -c 60000 /dev/zero | tr "\0" x; exit 0' | wc -c)" 60000

# --- somebody is killed ------------------------------------------------------------------------
box() { # starts the family, waits until all of it lives
    mark=$(new_mark)
    start -c "$(family 'echo ready; sleep '"$mark"'; sleep '"$mark")"
    await 10 says ready && await 5 there "$mark"
}
before=$(snapshot .)
box
kill -KILL "$pid"
finish
is "coop killed: its status" "$status" 137
ok "coop killed: nothing survives" await 5 gone "$mark"
ok "coop killed: its cgroup goes" await 5 no_cgroups_of "$pid"

box
box_init() { # of the coop $pid
    await 5 eval '[ -n "$(child_named $pid coop-init)" ]'
    child_named "$pid" coop-init
}
init=$(box_init)
isnt "the box has an init" "$init" ''
kill -KILL "$init"
finish
is "init killed: coop ends with 137" "$status" 137
ok "init killed: nothing survives" await 5 gone "$mark"
ok "init killed: the cgroup goes" await 5 no_cgroups_of "$pid"

box
init=$(box_init)
kill -KILL "$(child_named "$init" sh)"
finish
is "command killed: coop ends with 137" "$status" 137
ok "command killed: nothing survives" await 5 gone "$mark"
ok "command killed: the cgroup goes" await 5 no_cgroups_of "$pid"

# The janitor cleans up after a coop that was killed. Without it, coop cleans up itself.
box
janitor=$(child_named "$pid" coop-janitor)
if [ -n "$janitor" ]; then
    kill -KILL "$janitor"
    kill -TERM "$pid"
    finish
    is "janitor killed: coop still works" "$status" 143
    ok "janitor killed: nothing survives" await 5 gone "$mark"
    ok "janitor killed: the cgroup goes" await 5 no_cgroups_of "$pid"
else
    kill -KILL "$pid"
    finish
    skip_never "janitor killed: coop still works" "no cgroup here, so no janitor"
fi

# The caller's shell dies with coop below it: its output pipe has no reader any more.
mark=$(new_mark)
bash -c '"$@" | sleep 1000 & echo $!; wait' - "$COOP" run -c "$(family 'while :; do echo y; done')" \
    >"$T/caller" 2>/dev/null &
caller=$!
await 10 test -s "$T/caller"
await 10 there "$mark"
kill -KILL "$(cat "$T/caller")" # the reader
ok "when the reader dies the box dies" await 10 gone "$mark"
kill -KILL $caller 2>/dev/null
wait $caller 2>/dev/null
nothing_left "after all that killing nothing is left" "$before" .

# --- killed at any instant -----------------------------------------------------------------------
rounds=$(rounds 1000)
# As root and as a user, with the program that is installed; fewer where the same ways are taken again.
case ${COOP_TEST_WORLD-}:$COOP in userns:* | *-clang/coop | *-asan/coop) rounds=$(rounds 200) ;; esac
mark=$(new_mark)
before=$(snapshot .)
ok "coop killed at $rounds random instants: no child, no box, no janitor survives" \
    eval '"$OUTLIVES" -k $rounds "$COOP" run -c "$(family "exec sleep $mark")" >"$T/pids" 2>"$T/err" </dev/null'
is "that many were killed" "$(wc -l <"$T/pids")" "$rounds"
ok "killed at random: no process has the mark" await 5 gone "$mark"
# shellcheck disable=SC2046
ok "killed at random: no cgroup is left" await 5 no_cgroups_of $(cat "$T/pids")
nothing_left "killed at random: no file and no mount is left" "$before" .
is "killed at random: coop said nothing" "$(head -n 3 "$T/err")" ''

# --- signals -------------------------------------------------------------------------------------
for s in INT TERM HUP QUIT USR1 USR2; do
    start -c "trap 'echo got $s; exit 7' $s; echo ready; while :; do sleep 1; done"
    await 10 says ready
    kill -$s "$pid"
    finish
    is "SIG$s to coop reaches the command, which may handle it" "$status $(tail -n 1 "$T/out")" \
        "7 got $s"
done
start -c 'echo ready; exec sleep 100'
await 10 says ready
kill -TERM "$pid"
finish
is "SIGTERM ends what does not handle it" "$status" 143

start -c 'trap "echo int" INT; echo ready; while :; do sleep 0.1; done'
await 10 says ready
kill -INT "$pid"
await 10 n_lines 2
kill -INT "$pid"
await 10 n_lines 3
is "two interrupts are the command's to ignore" "$(tail -n 1 "$T/out")" int
ok "and it lives" kill -0 "$pid"
kill -INT "$pid"
finish
is "the third interrupt kills" "$status" 137

rm -f "$T/out"
nohup "$COOP" run -c 'trap "echo hangup" HUP; trap "echo end; exit 0" USR1; echo ready; while :; do sleep 0.1; done' \
    >"$T/out" 2>/dev/null </dev/null &
pid=$!
await 10 says ready
kill -HUP "$pid"
kill -USR1 "$pid"
finish
is "a hangup that coop's caller ignores (nohup) does not reach the command" \
    "$(tr '\n' ' ' <"$T/out")" "ready end "

mark=$(new_mark)
start -c "echo ready; while :; do echo tick; sleep 0.05; done; sleep $mark"
await 10 says ready
kill -TSTP "$pid"
stopped() { [ "$(sed 's/.*) //' "/proc/$1/stat" | cut -c1)" = T ]; }
ok "SIGTSTP stops coop" await 5 stopped "$pid"
kill -CONT "$pid"
lines=$(wc -l <"$T/out")
ok "SIGCONT lets both go on" await 10 n_lines $((lines + 3))
kill -KILL "$pid"
finish

# --- standard input --------------------------------------------------------------------------------
is "input is passed on" "$(echo hello | run -- cat)" hello
is "end of input is seen" "$(printf 'a\nb\n' | run -c 'wc -l')" 2
is "input from a file" "$(run -- cat <"$SRC/test/tap.sh" | cksum)" "$(cksum <"$SRC/test/tap.sh")"
is "input from /dev/null" "$(run -c 'cat; echo end' </dev/null)" end
coproc talk { "$COOP" run -c 'while read -r x; do echo "got $x"; done; echo end'; }
# shellcheck disable=SC2154
talker=$talk_PID # bash forgets it when the coprocess ends
exec 8>&"${talk[1]}" 9<&"${talk[0]}"
eval "exec ${talk[1]}>&-"
echo one >&8
read -rt "$(scaled 10)" answer <&9
is "input is passed on at once" "${answer-}" "got one"
echo two >&8
read -rt "$(scaled 10)" answer <&9
is "and again" "${answer-}" "got two"
exec 8>&-
read -rt "$(scaled 10)" answer <&9
is "and its end" "${answer-}" "end"
exec 9<&-
wait "$talker" 2>/dev/null

seq 1 5 >"$T/lines"
loop() { while read -r x; do printf '%s ' "$x"; timeout -s KILL 20 "$COOP" run -- "$@" || echo "failed $?"; done <"$T/lines"; }
is "a loop that reads lines keeps those that the command did not read" "$(loop true)" "1 2 3 4 5 "
is "also when the command lives long enough to be offered all of them" "$(loop sleep 0.1)" "1 2 3 4 5 "
is "what the command did read is gone" "$(loop sh -c 'read -r y')" "1 3 5 failed 1"
seq 1 200000 >"$T/lines"
is "a big seekable input is given back to the line" \
    "$({ "$COOP" run -c 'read -r a; read -r b; sleep 0.1'; head -n 1; } <"$T/lines")" 3
status "a command that never reads an endless input ends" 0 run -- true < <(exec yes 2>/dev/null)
status "a command that never reads a big input ends" 0 run -- sleep 0.1 < <(head -c 30000000 /dev/zero)
mkfifo "$T/silent"
exec 9<>"$T/silent" # open, and nothing ever comes
status "a command ends though its input stays open and silent" 0 run -- true <"$T/silent"
status "also when it lived for a while" 0 run -- sleep 0.2 <"$T/silent"
status "also when it closed it before" 4 run -c 'exec <&-; sleep 0.2; exit 4' <"$T/silent"
exec 9<&-
status "a command that closes its input ends as it wants" 4 run -c 'exec <&-; sleep 0.1; exit 4' < <(exec yes 2>/dev/null)

# --- closed descriptors ------------------------------------------------------------------------------
# closed REDIRECTION [options] COMMAND: with descriptors closed for coop itself, not for the test around it
closed() {
    local how=$1
    shift
    timeout -s KILL 20 bash -c "exec \"\$@\" $how" - "$COOP" run "$@"
}
status "closed stdin" 0 closed '<&-' -- true
is "closed stdin reads as empty" "$(closed '<&-' -- cat; echo $?)" 0
status "closed stdout" 3 closed '>&-' -c 'echo lost; exit 3'
is "closed stdout: stderr still arrives" "$(closed '2>&1 >&-' -c 'echo x; echo y >&2')" y
status "closed stderr" 3 closed '2>&-' -c 'echo lost >&2; exit 3'
is "closed stderr: stdout still arrives" "$(closed '2>&-' -c 'echo x; echo y >&2')" x
status "all three closed" 3 closed '<&- >&- 2>&-' -c 'echo a; echo b >&2; read x; exit 3'
closed '<&- >&- 2>&-' -c 'ls /proc/self/fd >fds'
is "all three closed: the command has all three and no more" "$(xargs <fds)" "0 1 2 3" # 3 is ls's own
rm -f fds
status "closed stderr: bad input still gives 125" 125 closed '2>&-' --no-such-option
is "closed stderr: the complaint goes nowhere else" "$(closed '2>&-' --no-such-option)" ''
status "closed stdout with --json" 3 closed '>&-' --json -c 'exit 3'
is "closed stdin with --json" "$(closed '<&-' --json -c 'exit 3' | jq .exit_code)" 3

# --- a reader that goes, or does not read --------------------------------------------------------------
first() { timeout -s KILL 20 "$COOP" run "$@" | head -n 1; printf '%s\n' "${PIPESTATUS[0]}"; }
is "a broken pipe ends the command" "$(first -- yes)" "$(printf 'y\n141')"
is "also one that ignores SIGPIPE: its writes fail" \
    "$(first -c 'trap "" PIPE; while echo y 2>/dev/null; do :; done; exit 5' 2>&1)" "$(printf 'y\n5')"

mkfifo "$T/stalled"
exec 9<>"$T/stalled" # open, and nobody reads
is_full() { # the pipe, so that coop cannot write any more
    python3 -c 'import array, fcntl, termios
n = array.array("i", [0]); fcntl.ioctl(9, termios.FIONREAD, n); exit(n[0] < 65536)'
}
stall() { # in a file, so that coop itself does not have the mark among its arguments
    mark=$(new_mark)
    printf '%s\n' "$1" "sleep $mark &" yes >script
    shift
    "$COOP" run -q "$@" -- sh ./script >"$T/stalled" &
    pid=$!
    await 10 there "$mark"
    await 10 is_full
}
stall 'trap "" TERM' --timeout 500ms
ok "a timeout ends the box though nobody reads its output" await 10 gone "$mark"
cat <&9 >/dev/null &
reader=$!
finish
is "and coop ends with 124, when somebody does at the latest" "$status" 124
kill -KILL $reader 2>/dev/null # not TERM: a subshell that is no cat yet would run our EXIT trap
wait $reader 2>/dev/null
stall :
kill -TERM "$pid"
ok "a signal ends the box though nobody reads its output" await 5 gone "$mark"
kill -KILL "$pid" 2>/dev/null
finish
exec 9<&-
rm -f script
ok "nothing of it is left" await 5 gone "$mark"
done_testing
