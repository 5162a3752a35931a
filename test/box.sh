# box.sh - tap.sh and a few words for tests that look at a box. Sourced by test/*.t
#
#   run [OPTIONS] COMMAND...      coop run in the workspace $T/ws, without input
#   refused WHAT run ...          the command ran and failed: not the box, not a missing program
#   start NAME [OPTIONS]          a box that waits; sets box (pid of coop), init and command
#   finish_box                    lets it end
# shellcheck shell=bash
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
mkdir ws

run() { "$COOP" run -w "$T/ws" "$@" </dev/null; }
real_root() { is_root && ! in_user_namespace; }

refused() {
    local what=$1 out r=0
    shift
    out=$("$@" 2>&1) || r=$?
    case $r in
    0 | 125 | 126 | 127)
        tap_result 1 "$what"
        note "exit status $r of: $*"
        note "$out" | head -n 20
        ;;
    *) tap_result 0 "$what" ;;
    esac
}

start() { # WORKSPACE [OPTIONS]
    local workspace=$1
    shift
    rm -f "$workspace/up" "$workspace/wait"
    mkfifo -m 666 "$workspace/wait"
    exec 5<>"$workspace/wait" # opened for both, it never blocks
    "$COOP" run -w "$workspace" "$@" sh -c 'touch up; read -r x <wait' </dev/null 5>&- &
    box=$!
    await test -e "$workspace/up" || return 1
    init=$(pgrep -P $box -x coop-init)
    command=$(pgrep -P "$init")
}
finish_box() {
    echo >&5
    exec 5>&-
    wait "$box"
}
