# residue.sh - what is left behind when all tests have ended. Sourced by test/run
#
# Others use the machine too. Processes are looked for after each test, among its own descendants
# (probe/reaper.c); mounts, and files in /tmp, in the run's own mount namespace, which nobody else is in.
# shellcheck shell=bash

# Cgroups cannot be told apart by their maker. One with processes is somebody else's, for of ours none is
# left; so is one whose supervisor lives.
cgroups() {
    find /sys/fs/cgroup -maxdepth 8 -type d -name 'coop-*' 2>/dev/null | sort | while read -r group; do
        local pid=${group##*/coop-}
        [ -e "/proc/${pid%%-*}" ] || grep -qs . "$group/cgroup.procs" || echo "$group"
    done
}
mounts() { cut -d ' ' -f 3- /proc/self/mountinfo | sort; }
temporary_files() {
    local whose=(-user "$(id -u)" -newer "$RUN_DIR/start")
    [ $has_own_places = 0 ] || whose=()
    find /tmp /var/tmp /dev/shm -maxdepth 1 -name 'coop-*' ! -path "$RUN_DIR" "${whose[@]}" 2>/dev/null | sort
}

note_state() {
    local kind
    : >"$RUN_DIR/start"
    for kind in cgroups mounts temporary_files; do $kind >"$RUN_DIR/before.$kind"; done
}

# Nothing that was not there before; what is just going away has some seconds.
nothing_new() { # KIND
    local new
    nothing() { new=$(comm -13 "$RUN_DIR/before.$1" <($1)) && [ -z "$new" ]; }
    await 10 nothing "$1" && return
    echo "left behind: $1"
    echo "$new"
    return 1
}

nothing_in_worlds() {
    local found
    found=$(find "$RUN_DIR"/*/tmp "$RUN_DIR"/*/home -mindepth 1 | head -n 20)
    [ -z "$found" ] || { echo "left behind in TMPDIR or HOME:"; echo "$found"; return 1; }
}

residue() {
    say "what is left behind"
    check "no cgroup" nothing_new cgroups
    # Who is not root can leave none where others are.
    [ $has_own_places = 0 ] || check "no mount" nothing_new mounts
    check "no temporary file" nothing_new temporary_files
    check "no file of a test" nothing_in_worlds
}
