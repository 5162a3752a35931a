# await.sh - deadlines that a busy machine does not break. Sourced by tap.sh and test/run
#
#   await [N] COMMAND...     until it succeeds, at most N seconds (30)
#   within N COMMAND...      as timeout(1), which then kills
#   read -rt "$(scaled N)"   N, for what takes a number
#
# All are seconds of an idle machine: the more there is to run, the longer they are.
# shellcheck shell=bash

N_PROCESSORS=$(nproc)

# How many times slower than alone things are now: what wants to run, now or lately, for each processor.
slowness() {
    local lately now n=$N_PROCESSORS
    read -r lately _ _ now _ </proc/loadavg
    now=${now%/*} lately=${lately%.*}
    [ "$now" -gt "$lately" ] || now=$lately
    n=$(((now + n - 1) / n))
    echo $((n < 1 ? 1 : n > 20 ? 20 : n))
}

scaled() { echo $(($1 * $(slowness))); }
within() {
    local n
    n=$(scaled "$1")
    shift
    timeout -k 5 "$n" "$@"
}

# Looks again and again instead of sleeping for long.
await() {
    local n=30 extra=0
    case $1 in [0-9]*) n=$1; shift ;; esac
    local start=$SECONDS
    until "$@" >/dev/null 2>&1; do
        if [ $((SECONDS - start)) -ge $((n + extra)) ]; then
            [ $extra -lt $((n * ($(slowness) - 1))) ] || return 1
            extra=$((extra + n))
        fi
        read -rt 0.02 <> <(:) || :
    done
}
