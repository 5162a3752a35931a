#!/bin/bash
# Every system call of the set-up fails once. Then either coop refuses, says what it was doing and
# leaves nothing, and the command has not run; or the failure was of no importance, and the command
# finds exactly what it would have found otherwise.
# COOP_TEST_QUICK=1: of each sort of call only some.
. "$(dirname "$0")/tap.sh"
. "$SRC/test/leftovers.sh"
mkdir w
cd w || exit 1
FAILAT=$BIN/failat

# What the command sees of its walls. It waits for init, so that it sees the same each time.
look='
until [ "$(tr "\0" "\n" </proc/1/cmdline | head -n 1)" = coop-init ]; do :; done
grep -E "^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp|SigBlk|SigIgn|Umask)" /proc/self/status
grep -E "^(Uid|Gid|Groups|Cap|NoNewPrivs)" /proc/1/status
cut -d" " -f4-6,8- /proc/self/mountinfo
ls -l /proc/self/fd | sed "s/.* \([0-9]\) -> \([a-z]*\).*/\1 \2/"
cat /proc/self/limits /proc/self/cgroup /proc/net/dev | tr -s " " | sed "s/lo:.*/lo/; s,coop-.*,coop,"
grep -E "^Max (core|processes|data)" /proc/self/limits
env | grep -v -e "^COOP_SESSION=" -e "^COOP_CREATED=" | sort
cat /etc/passwd /etc/group /etc/hosts /proc/sys/kernel/hostname
ls -a / /dev /etc /run
pwd
cut -d" " -f 5,6 /proc/self/stat # process group and session
touch ran'
points=$T/points

if ! "$FAILAT" "$T/log" "$COOP" run -c "$look" >"$T/expected" 2>"$T/err" </dev/null; then
    skip "faults in the set-up" "cannot trace: $(head -n 1 "$T/err")"
    done_testing
fi
rm -f ran
"$FAILAT" "$T/log" "$COOP" run -c "$look" >"$T/again" 2>"$T/err" </dev/null
rm -f ran
is "two runs see the same" "$(diff "$T/expected" "$T/again")" ''
is "every call of coop's is known" "$(grep unknown "$T/log")" ''
if [ "${COOP_TEST_QUICK-}" = 1 ]; then
    awk '{ split($1, p, ":"); k = p[1] ":" p[2]; if (n[k]++ < 2 || n[k] % 7 == 0) print }' "$T/log" >"$points"
else
    cp "$T/log" "$points"
fi
# Left out: what starts coop itself; how it asks whether 0, 1 and 2 are open, which can fail in one way
# only; and what goes on while the command runs: output passed on (see output.t), questions answered.
sed -i -e '/^1:execve:1 /d' -e '/^1:fcntl:[123] /d' -e '/:\(read\|write\|ioctl\|pread64\):.* after/d' "$points"
# Where there is a second way to do it, both must fail.
command=$(sed -n 's/:landlock_restrict_self:.*//p' "$T/log" | sort -u)
echo "$command:close_range:0 0 before" >>"$points"
note "$(wc -l <"$points") points of failure, of $(wc -l <"$T/log")"
"$COOP" plan -c "$look" | sed -n 's/^ *\([0-9][0-9]*\)  [a-z][a-z]*  *\(.*\)/\2/p' | sort -u >"$T/steps"

before=$(snapshot .)
refused=0 harmless=0
: >"$T/sentences"
: >"$T/pids"
n_bad=0
# The view may be smaller than usual (something of the host could not be looked at), and rlimits may
# stand in for a cgroup. But nothing may be there that is not usually there, and no mask may be missing.
as_good() {
    local removed added
    added=$(comm -13 <(sort "$T/expected") <(sort "$T/out") | grep -Ev '^Max (processes|data size) ')
    removed=$(comm -23 <(sort "$T/expected") <(sort "$T/out") | grep -E '^/e/[df] |^[A-Z].*:')
    [ -z "$added" ] && [ -z "$removed" ]
}
bad() { # POINT WHY
    n_bad=$((n_bad + 1))
    note "$1: $2"
    head -n 3 "$T/err" | sed 's/^/#   stderr: /'
    [ "$2" = "the command found something else" ] && diff "$T/expected" "$T/out" | grep '^[<>]' | grep -v ' Max ' | sed 's/^/#   /' | cut -c 1-150 | head -n 4
}
try() { # POINT before|after
    local r=0 why='' tries=0
    while :; do
        rm -f ran
        timeout 20 "$FAILAT" "$T/pid" -f "$1" "$COOP" run -c "$look" >"$T/out" 2>"$T/err" </dev/null
        r=$?
        tries=$((tries + 1))
        [ $r = 97 ] && [ $tries -lt 10 ] || break
    done
    cat "$T/pid" >>"$T/pids" 2>/dev/null
    case $r in
    97) note "$1 did not happen again" ;;
    0)
        harmless=$((harmless + 1))
        [ -e ran ] || why="success, but the command did not run"
        [ -s "$T/err" ] && why=${why:-success, but something on stderr}
        as_good || why=${why:-the command found something else}
        ;;
    125 | 126 | 127)
        refused=$((refused + 1))
        head -n 1 "$T/err" >>"$T/sentences"
        [ "$2" = before ] && [ -e ran ] && why="refused, but the command ran"
        [ "$2" = before ] && [ -s "$T/out" ] && why=${why:-refused, but something on stdout}
        grep -Eq '^coop run: (.*[a-z].*: |out of memory$|the sandbox is required)' "$T/err" || why=${why:-the sentence does not say what was done}
        [ -n "$(sed 1d "$T/err" | grep -v '^  hint: ')" ] && why=${why:-more than a sentence and a hint}
        ;;
    124) why="hangs" ;;
    *)
        # The command runs already, and its box was ended.
        if [ "$2" = after ] && [ $r = 137 ] && [ ! -s "$T/err" ]; then
            refused=$((refused + 1))
        elif [ "$2" = after ] && [ $r = 1 ] && grep -Eq "^touch: cannot touch 'ran': " "$T/err" && [ ! -e ran ] && as_good; then
            refused=$((refused + 1)) # init could not do it for the command, and so it was not done
        else
            why="exit status $r"
        fi
        ;;
    esac
    rm -f ran
    [ -z "$why" ] || bad "$1 ($2)" "$why"
}
while read -r point _ when; do
    try "$point" "$when"
done <"$points"
note "$refused refused, $harmless harmless"
is "each failure is refused in one sentence before the command runs, or changes nothing" "$n_bad" 0
ok "most were refused" [ $refused -gt $((harmless / 2)) ]
nothing_left "no file and no mount is left" "$before" .
# shellcheck disable=SC2046
ok "no cgroup is left" await 5 no_cgroups_of $(cat "$T/pids")

# Which steps of the plan were made to fail, by the words of the sentences.
sed -n -e 's/.*start the sandbox: step [0-9]* of [0-9]*, \(.*\): [^:]*$/\1/p' \
    -e 's/.*the sandbox is not available: \(.*\): [^:]*$/\1/p' "$T/sentences" | sort -u >"$T/failed"
# Where ids are mapped from outside, that is done before the box is made, and said in other words.
grep -q "'uid_map' of a new user namespace" "$T/sentences" && sed -n '/^map ids/p' "$T/steps" >>"$T/failed"
never=$(comm -23 "$T/steps" <(sort -u "$T/failed"))
if [ "${COOP_TEST_QUICK-}" = 1 ]; then
    note "steps that did not fail: $never"
else
    is "every step of the plan was made to fail and named" "$never" ''
fi
done_testing
