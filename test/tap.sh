# tap.sh - whole-program tests in shell, speaking TAP. Sourced by test/*.t
#
#   . "$(dirname "$0")/tap.sh"
#   ok "runs true" "$COOP" run -- true
#   is "prints what echo prints" "$("$COOP" run -- echo hi)" hi
#   like "names the step" "$err" "step [0-9]+ of"
#   unlike ...; not_ok "refuses" COMMAND...; status "exits 3" 3 COMMAND...
#   skip "needs root" && something        (skip prints the skip and returns 1 after counting it)
#   done_testing                          at the end: prints the plan, exits 1 on any failure
#
# COOP is the program under test. Each test gets an empty directory $T of its own (removed at the
# end) and starts in it. COOP_TEST_MUST_RUN=1 makes skips failures, except with skip_never, which is
# for what this kind of machine cannot do at all.
set -u
COOP=${COOP:-$(cd "$(dirname "$0")/.." && pwd)/build/coop}
SRC=$(cd "$(dirname "$0")/.." && pwd)
BIN=${COOP_TEST_BIN:-$(dirname "$COOP")/test} # helper programs of the suite
T=$(mktemp -d "${TMPDIR:-/tmp}/coop-test.XXXXXX")
trap 'rm -rf "$T"' EXIT
cd "$T" || exit 1
tap_n=0
tap_bad=0

tap_result() { # 0|1 description
    tap_n=$((tap_n + 1))
    if [ "$1" = 0 ]; then
        printf 'ok %d - %s\n' "$tap_n" "$2"
    else
        tap_bad=$((tap_bad + 1))
        printf 'not ok %d - %s\n' "$tap_n" "$2"
    fi
}
note() { printf '%s\n' "$*" | sed 's/^/# /'; }
ok() {
    local what=$1 out
    shift
    if out=$("$@" 2>&1); then tap_result 0 "$what"; else
        local r=$?
        tap_result 1 "$what"
        note "exit status $r of: $*"
        note "$out" | head -n 20
    fi
}
not_ok() {
    local what=$1 out
    shift
    if out=$("$@" 2>&1); then
        tap_result 1 "$what"
        note "succeeded: $*"
        note "$out" | head -n 20
    else tap_result 0 "$what"; fi
}
status() {
    local what=$1 want=$2 out r=0
    shift 2
    out=$("$@" 2>&1) || r=$?
    if [ "$r" = "$want" ]; then tap_result 0 "$what"; else
        tap_result 1 "$what"
        note "exit status $r, expected $want: $*"
        note "$out" | head -n 20
    fi
}
is() {
    if [ "$2" = "$3" ]; then tap_result 0 "$1"; else
        tap_result 1 "$1"
        note "got:      $2"
        note "expected: $3"
    fi
}
isnt() {
    if [ "$2" != "$3" ]; then tap_result 0 "$1"; else
        tap_result 1 "$1"
        note "got, but must not be: $2"
    fi
}
like() {
    if printf '%s' "$2" | grep -Eq -- "$3"; then tap_result 0 "$1"; else
        tap_result 1 "$1"
        note "got:             $2" | head -n 20
        note "does not match:  $3"
    fi
}
unlike() {
    if printf '%s' "$2" | grep -Eq -- "$3"; then
        tap_result 1 "$1"
        note "got:          $2" | head -n 20
        note "but matches:  $3"
    else tap_result 0 "$1"; fi
}
skip() { # description reason
    if [ "${COOP_TEST_MUST_RUN-}" = 1 ]; then
        tap_result 1 "$1 (must run, but: $2)"
    else
        skip_never "$1" "$2"
    fi
    return 1
}
skip_never() {
    tap_n=$((tap_n + 1))
    printf 'ok %d - %s # SKIP %s\n' "$tap_n" "$1" "$2"
    return 1
}
# Waits until the command succeeds, at most N seconds (default 30). No fixed sleeps.
await() {
    local n=30
    case $1 in [0-9]*) n=$1; shift ;; esac
    local end=$((SECONDS + n))
    until "$@" >/dev/null 2>&1; do
        [ $SECONDS -lt $end ] || return 1
        read -rt 0.02 <> <(:) || :
    done
}
is_root() { [ "$(id -u)" = 0 ]; }
in_user_namespace() { ! grep -q '4294967295$' /proc/self/uid_map; }
done_testing() {
    printf '1..%d\n' "$tap_n"
    [ $tap_bad = 0 ]
    exit $?
}
