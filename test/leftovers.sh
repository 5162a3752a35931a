# leftovers.sh - look from outside for what a run left behind. Sourced after tap.sh.
#
#   mark=$(new_mark)                 a number for `sleep $mark` that nobody else uses
#   await 5 gone "$mark"             no process has it among its arguments
#   before=$(snapshot DIR...)        files with type, mode, size; mounts
#   nothing_left "what" "$before" DIR...      same snapshot again, no cgroup, no file in TMPDIR

OUTLIVES=$BIN/outlives
export TMPDIR=$T.tmp
mkdir -p "$TMPDIR"
trap 'rm -rf "$T" "$T.cache" "$TMPDIR"' EXIT

new_mark() { printf '9%d%04d.%04d' "$RANDOM" $((RANDOM % 10000)) $((RANDOM % 10000)); }

# Process ids with the mark among their arguments. The mark is read from a file, so that it is not
# among the arguments of the search itself.
survivors() {
    printf '%s\n' "$1" >"$TMPDIR/../${T##*/}.mark"
    grep -lsaF -f "$TMPDIR/../${T##*/}.mark" /proc/[0-9]*/cmdline | sed 's,/proc/\([0-9]*\)/.*,\1,'
    rm -f "$TMPDIR/../${T##*/}.mark"
}
gone() { [ -z "$(survivors "$1")" ]; }
there() { ! gone "$1"; }

children_of() { # PID: its children, "pid name" each
    sed -n "s/^\([0-9]*\) (\(.*\)) . $1 .*/\1 \2/p" /proc/[0-9]*/stat 2>/dev/null
}
child_named() { children_of "$1" | sed -n "s/^\([0-9]*\) $2\$/\1/p" | head -n 1; } # PID NAME

cgroup_roots() { awk '$3 ~ /^cgroup2?$/ { print $2 }' /proc/self/mounts; }
# cgroups made by the coop processes with these ids; older ones may bear the same numbers
cgroups_of() {
    local roots
    roots=$(cgroup_roots)
    [ -n "$roots" ] || return 0
    # shellcheck disable=SC2086
    find $roots -type d -name 'coop-*' 2>/dev/null | grep -vxF "$old_cgroups" | awk -F/ -v pids="$*" '
        BEGIN { n = split(pids, p, " "); for (i = 1; i <= n; i++) mine[p[i]] = 1 }
        { split($NF, w, "-"); if (w[2] in mine) print }'
}
# shellcheck disable=SC2046
old_cgroups=$(cgroup_roots | xargs -r -I{} find {} -type d -name 'coop-*' 2>/dev/null)
no_cgroups_of() { [ -z "$(cgroups_of "$@")" ]; }

snapshot() {
    local dir
    for dir in "$@"; do
        (cd "$dir" && find . -type d -printf '%p %y %m %U:%G\n' -o -printf '%p %y %m %U:%G %s %T@ %l\n' | LC_ALL=C sort)
    done
    grep -cE ' - (tmpfs|proc|devpts|overlay) ' /proc/self/mountinfo
}
same_snapshot() {
    local before=$1
    shift
    [ "$(snapshot "$@")" = "$before" ]
}
nothing_left() {
    local what=$1 before=$2
    shift 2
    if ! await 5 same_snapshot "$before" "$@"; then
        tap_result 1 "$what"
        diff <(printf '%s\n' "$before") <(snapshot "$@") | sed 's/^/# /' | head -n 10
    elif [ -n "$(ls -A "$TMPDIR")" ]; then
        tap_result 1 "$what"
        note "left in TMPDIR: $(ls -A "$TMPDIR")"
    else
        tap_result 0 "$what"
    fi
}
