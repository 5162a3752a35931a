#!/bin/bash
# Every system call of the set-up fails once. Then either coop refuses, says what it was doing and
# leaves nothing, and the command has not run; or the failure was of no importance, and the command
# finds exactly what it would have found otherwise.
# First the plan that every run has; then plans with steps of other kinds, of which only those calls are
# made to fail that no plan before had.
# COOP_TEST_QUICK=1: of each sort of call only some.
# worlds: root user
# builds: none
# speed: slow
. "$(dirname "$0")/tap.sh"
. "$SRC/test/leftovers.sh"
mkdir w
cd w || exit 1
FAILAT=$BIN/failat

# What the command sees of its walls.
look='
grep -E "^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp|SigBlk|SigIgn|Umask)" /proc/self/status
cut -d" " -f4-6,8- /proc/self/mountinfo
ls -l /proc/self/fd | sed "s/.* \([0-9]\) -> \([a-z]*\).*/\1 \2/"
cat /proc/self/limits /proc/self/cgroup /proc/net/dev | tr -s " " | sed "s/lo:.*/lo/; s,coop-.*,coop,"
grep -E "^Max (core|processes|data)" /proc/self/limits
env | grep -v -e "^COOP_SESSION=" -e "^COOP_CREATED=" | sort
cat /etc/passwd /etc/group /etc/hosts /proc/sys/kernel/hostname
ls -a / /dev /etc /run
pwd
cut -d" " -f 5,6 /proc/self/stat # process group and session
touch "${RAN-ran}"'
points=$T/points

# What a plan is run with, set by begin: its name, coop's options, and where the command leaves its mark.
plan=() mark=ran
n_bad=0 refused=0 harmless=0
: >"$T/sentences"
: >"$T/pids"
: >"$T/failed" # steps that were made to

# The view may be smaller than usual (something of the host could not be looked at), and rlimits may
# stand in for a cgroup. But nothing may be there that is not usually there, and no mask may be missing.
# What can only be read need not be the box's own.
sorted() { sed 's/^\([^ ]* [^ ]* ro[^ ]*\),idmapped/\1/' "$1" | sort; }
as_good() {
    local removed added
    cmp -s "$T/expected" "$T/out" && return
    added=$(comm -13 <(sorted "$T/expected") <(sorted "$T/out") | grep -Ev '^Max (processes|data size) ')
    removed=$(comm -23 <(sorted "$T/expected") <(sorted "$T/out") | grep -E '^/e/[df] |^[A-Z].*:')
    [ -z "$added" ] && [ -z "$removed" ]
}
bad() { # POINT WHY
    n_bad=$((n_bad + 1))
    note "$1: $2"
    head -n 3 "$T/err" | sed 's/^/#   stderr: /'
    [ "$2" = "the command found something else" ] && diff "$T/expected" "$T/out" | grep '^[<>]' | grep -v ' Max ' | sed 's/^/#   /' | cut -c 1-150 | head -n 4
}
try() { # POINT before|after
    local r=0 why='' tries=0 pid='' began=''
    while :; do
        rm -f "$mark"
        within 20 "$FAILAT" "$T/pid" -f "$1" "$COOP" run ${plan[@]+"${plan[@]}"} -c "$look" >"$T/out" 2>"$T/err" </dev/null
        r=$?
        tries=$((tries + 1))
        [ $r = 97 ] && [ $tries -lt 4 ] || break
    done
    read -r pid began <"$T/pid" && echo "$pid" >>"$T/pids"
    # That a run could not be recorded is told, and changes nothing.
    [ ! -s "$T/err" ] || sed -i '/^coop run: record it in the audit log: /d' "$T/err"
    case $r in
    97) note "$1 did not happen again" ;;
    0)
        harmless=$((harmless + 1))
        [ -e "$mark" ] || why="success, but the command did not run"
        # The guard, which begins where a run is slow, may end a box whose command has just ended.
        # If it cannot watch (inotify_add_watch; the instance is asked for twice), it says so.
        if [ "$2" = before ] || grep -Eqv 'so the box was ended|files that others create while the command runs are not watched' "$T/err"; then
            [ -s "$T/err" ] && why=${why:-success, but something on stderr}
        fi
        as_good || why=${why:-the command found something else}
        ;;
    125 | 126 | 127)
        refused=$((refused + 1))
        head -n 1 "$T/err" >>"$T/sentences"
        [ "$2" = before ] && [ -e "$mark" ] && why="refused, but the command ran"
        [ "$2" = before ] && [ -s "$T/out" ] && why=${why:-refused, but something on stdout}
        grep -Eq '^coop run: (.*[a-z].*: |out of memory$|the sandbox is required|the descriptor 9 to keep)' "$T/err" || why=${why:-the sentence does not say what was done}
        [ -n "$(sed 1d "$T/err" | grep -v '^  hint: ')" ] && why=${why:-more than a sentence and a hint}
        ;;
    124) why="hangs" ;;
    *)
        # The command runs already, and its box was ended; what it does once init is gone is refused, and
        # it may not come to the end of the line that says so.
        # init begins beside the command: which is first, nobody can say.
        # Without a cgroup, what the supervisor cannot count is more memory than the limit.
        local ended='so the box was ended|: Function not implemented$|^/bin/sh: [0-9]+: [^:]*$'
        [ "$2" = before ] || ended+='|: refused: more memory than the limit: '
        if { [ "$began" = ran ] || [ "$2" = after ]; } && [ $r = 137 ] && ! grep -Eqv "$ended" "$T/err"; then
            refused=$((refused + 1))
        elif [ "$2" = after ] && [ $r = 1 ] && grep -Eq "^touch: cannot touch '.*ran': " "$T/err" "$T/out" && [ ! -e "$mark" ]; then
            refused=$((refused + 1)) # init could not do it for the command, and so it was not done
        else
            why="exit status $r"
        fi
        ;;
    esac
    rm -f "$mark"
    [ -z "$why" ] || bad "$name: $1 ($2)" "$why"
}

# The plan's calls: of the first plan all, of others those before the command that the first does not have,
# by who makes them, which they are and what they are about. Left out: what starts coop itself; how it asks
# whether 0, 1 and 2 are open, which can fail in one way only; that the command's process looks again
# whether the host's root is gone, as often as it takes; and what goes on while the command runs: output
# passed on (see output.t), questions answered.
new_points() {
    sort -s -t: -k 1,1 "$T/log" | grep -v -e '^1:execve:1 ' -e '^1:fcntl:[123] ' -e ':statx:\([3-9]\|[1-9][0-9]\)[0-9]* ' -e ':\(read\|write\|ioctl\|pread64\):.* after' >"$T/all"
    if [ "$name" = default ]; then
        cp "$T/all" "$T/default"
        # Where the whole suite runs, calls that are made and fail all the same are the ordinary user's.
        case ${COOP_TEST_WORLD-} in root) grep ' before' "$T/all" ;; *) cat "$T/all" ;; esac
    else
        diff --old-line-format= --unchanged-line-format= --new-line-format='%dn
' <(keys "$T/default") <(keys "$T/all") | sed 's/$/p/' | sed -n -f - <(grep ' before' "$T/all")
    fi |
        if [ "${COOP_TEST_QUICK-}" = 1 ]; then
            awk '{ split($1, p, ":"); k = p[1] ":" p[2]; if (n[k]++ < 2 || n[k] % 7 == 0) print }'
        else
            cat
        fi
}
keys() { grep ' before' "$1" | cut -d' ' -f 1,4- | sed 's/[0-9][0-9]*/N/g'; }
# Which steps of the plan were made to fail, by the words of the sentences.
note_failed() {
    sed -n -e 's/.*start the sandbox: step [0-9]* of [0-9]*, \(.*\): [^:]*$/\1/p' \
        -e 's/.*the sandbox is not available: \(.*\): [^:]*$/\1/p' "$T/sentences" >>"$T/failed"
    # Where ids are mapped from outside, that is done before the box is made, and said in other words.
    grep -q "'uid_map' of a new user namespace" "$T/sentences" && sed -n '/^map ids/p' "$T/steps" >>"$T/failed"
    alike "$T/failed"
}
# How many instructions and rules there are, which ids are mapped, and whether a mount is then made
# read-only: the same calls.
alike() { sed -E -i -e 's/^(landlock|seccomp|wall.*), [0-9]+/\1, N/' -e 's/^map ids.*/map ids/' -e 's/^bind read-only/bind/' "$1" && sort -u -o "$1" "$1"; }
inject() { # NAME OPTIONS...: every new call of this plan fails
    local never before
    name=$1
    shift
    plan=("$@")
    rm -f "$mark"
    if ! "$FAILAT" "$T/log" "$COOP" run ${plan[@]+"${plan[@]}"} -c "$look" >"$T/expected" 2>"$T/err" </dev/null; then
        tap_result 1 "$name: runs"
        head -n 5 "$T/err" | sed 's/^/# /'
        return
    fi
    rm -f "$mark"
    "$FAILAT" "$T/log-again" "$COOP" run ${plan[@]+"${plan[@]}"} -c "$look" >"$T/again" 2>"$T/err" </dev/null
    rm -f "$mark"
    # The guard begins where a run is slow, and what it does then, a quick one does not do again.
    [ "$(wc -l <"$T/log-again")" -ge "$(wc -l <"$T/log")" ] || mv "$T/log-again" "$T/log"
    is "$name: two runs see the same" "$(diff "$T/expected" "$T/again")" ''
    is "$name: every call of coop's is known" "$(grep unknown "$T/log")" ''
    new_points >"$points"
    if [ "$name" = default ]; then # where there is a second way to do it, both must fail
        command=$(sed -n 's/:landlock_restrict_self:.*//p' "$T/log" | sort -u)
        echo "$command:close_range:0 0 before" >>"$points"
    fi
    note "$name: $(wc -l <"$points") points of failure, of $(wc -l <"$T/log")"
    "$COOP" plan ${plan[@]+"${plan[@]}"} -c "$look" | sed -n 's/^ *\([0-9][0-9]*\)  [a-z][a-z]*  *\(.*\)/\2/p' >"$T/steps"
    alike "$T/steps"
    before=$(snapshot "$T/w" "$T/shared")
    n_bad=0 refused=0 harmless=0
    while read -r point _ when _; do
        try "$point" "$when"
    done <"$points"
    note "$name: $refused refused, $harmless harmless"
    is "$name: each failure is refused in one sentence before the command runs, or changes nothing" "$n_bad" 0
    # As a user 308 of 958, because calls that were made and then failed count there too, and most of them
    # are looks at the host; as root, where only those count that were not made, more than half.
    [ "$name" = default ] && ok "many were refused" [ $refused -gt $((harmless / 3)) ]
    nothing_left "$name: no file and no mount is left" "$before" "$T/w" "$T/shared"
    note_failed
    never=$(comm -23 "$T/steps" "$T/failed")
    if [ "${COOP_TEST_QUICK-}" = 1 ]; then
        note "$name: $(grep -c . <<<"$never") steps did not fail"
    else
        is "$name: every step of the plan was made to fail and named, here or before" "$never" ''
    fi
}

mkdir "$T/shared" && echo x >"$T/shared/file"
exec 9<"$T/shared/file"
if ! "$FAILAT" "$T/log" "$COOP" run -- true >"$T/out" 2>"$T/err" </dev/null; then
    skip "faults in the set-up" "cannot trace: $(head -n 1 "$T/err")"
    done_testing
fi
inject default
mkdir dir blocked && echo x >blocked-file
# A program that is traced gains nothing by setuid bits, so newuidmap cannot map a range for root inside.
if is_root; then uid=0; else uid=1234; fi
inject mounts --uid $uid --keep-fd 9 --ro "$T/shared:/ro" --rw "$T/shared:/rw" --ro "$T/shared/file:/one" --mount type=tmpfs,target=/scratch,size=1m \
    --mount type=tmpfs,target=/quiet,readonly --mount type=tmpfs,target=/work/dir --block blocked --block blocked-file
rm -r dir blocked blocked-file
inject tty --tty
mark=$T/shared/ran
inject read-only --read-only --rw "$T/shared:/rw" --env RAN=/rw/ran
mark=ran
mkdir -p sub && echo KEY=1 >.env && echo KEY=2 >sub/.env && git init -q . &&
    git config remote.origin.url https://user:password@host.invalid/x
inject protected --protect-write 'kept*' --protect 'sub/hidden*'
inject root --root "$PWD" --ro "$T/shared:/ro"
# shellcheck disable=SC2046
ok "no cgroup is left" await 5 no_cgroups_of $(cat "$T/pids")
done_testing
