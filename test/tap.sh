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
# for what this kind of machine cannot do at all. COOP_TEST_CASE: see tap_is_wanted.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/suite/await.sh"
COOP=${COOP:-$(cd "$(dirname "$0")/.." && pwd)/build/coop}
SRC=$(cd "$(dirname "$0")/.." && pwd)
BIN=${COOP_TEST_BIN:-$(dirname "$COOP")/test} # helper programs of the suite
T=$(mktemp -d "${TMPDIR:-/tmp}/coop-test.XXXXXX")
trap 'rm -rf "$T" "$T.cache"' EXIT
export XDG_CACHE_HOME=$T.cache # what coop remembers of large workspaces
cd "$T" || exit 1
tap_n=0
tap_bad=0

tap_shown=0

tap_result() { # 0|1 description
    tap_n=$((tap_n + 1))
    tap_is_wanted "$2" || return 0
    if [ "$1" = 0 ]; then
        printf 'ok %d - %s\n' "$tap_n" "$2"
    else
        tap_bad=$((tap_bad + 1))
        printf 'not ok %d - %s\n' "$tap_n" "$2"
    fi
    [ "${COOP_TEST_CASE-}" != "$tap_n" ] || done_testing
}
# With COOP_TEST_CASE only what its number, or a part of its description, names is reported. The rest
# runs, because later cases build on earlier ones.
tap_is_wanted() { # description
    case ${COOP_TEST_CASE-} in
    '' | "$tap_n") ;;
    *[!0-9]*) case $1 in *"$COOP_TEST_CASE"*) ;; *) return 1 ;; esac ;;
    *) return 1 ;;
    esac
    tap_shown=$((tap_shown + 1))
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
    ! tap_is_wanted "$1" || printf 'ok %d - %s # SKIP %s\n' "$tap_n" "$1" "$2"
    return 1
}
# How often something random is tried: less in the quick part of the suite, more in the long one.
rounds() {
    case ${COOP_TEST_QUICK-}:${COOP_TEST_LONG-} in
    1:*) echo $(($1 > 10 ? $1 / 10 : 1)) ;;
    *:1) echo $(($1 * 20)) ;;
    *) echo "$1" ;;
    esac
}
# Gives a server of ours on standard input the questions in a file, and prints its answers. The input stays open until
# all are there: after its end the server waits a second for calls that still run, which is little on a busy machine.
converse() { # FILE COMMAND...
    local questions=$1 n_answers server
    shift
    n_answers=$(grep -c '"id":' "$questions")
    rm -f "$T.input" && mkfifo "$T.input" && : >"$T.output"
    "$@" <"$T.input" >"$T.output" &
    server=$!
    exec 4>"$T.input"
    cat "$questions" >&4
    answered() { [ "$(grep -c '"id":' "$T.output")" -ge "$n_answers" ] || ! kill -0 $server; }
    await 60 answered
    exec 4>&-
    wait $server
    cat "$T.output"
    rm -f "$T.input" "$T.output"
}
is_root() { [ "$(id -u)" = 0 ]; }
in_user_namespace() { ! grep -q '4294967295$' /proc/self/uid_map; }
done_testing() {
    printf '1..%d\n' "$tap_shown"
    [ $tap_bad = 0 ] && [ $tap_shown -gt 0 ]
    exit $?
}
