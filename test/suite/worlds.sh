# worlds.sh - who runs a test, and what that user finds. Sourced by test/run
#
# Worlds: root; user, an ordinary user made for the tests; userns, root of a user namespace of that user;
# user-nofuse, the same user where /dev/fuse may not be used; here, whoever runs the suite.
#
# As root the tests run in a mount namespace of their own. There /tmp, /var/tmp and /dev/shm are the run's
# own, so what is found in them afterwards is a test's, and users may use /dev/fuse, as on most machines.
# shellcheck shell=bash
TEST_USER=cooptest

as_test_user() { setpriv --reuid "$TEST_USER" --regid "$TEST_USER" --init-groups -- "$@"; }

choose_worlds() {
    worlds=here
    if [ $quick = 1 ]; then return; fi
    if [ "$(id -u)" != 0 ]; then
        cannot_run "worlds root, user and userns: not root"
        return
    fi
    worlds="root user userns"
    if ! id "$TEST_USER" >/dev/null 2>&1 &&
        ! useradd --system --user-group --create-home --shell /bin/sh "$TEST_USER"; then
        worlds=root
        leave_out "worlds user and userns: useradd failed"
    elif ! as_test_user unshare -Ur true 2>/dev/null; then
        worlds="root user"
        leave_out "world userns: user namespaces are refused to users here"
    fi
}

make_worlds() {
    local world
    for world in $worlds user-nofuse; do
        mkdir -p "$RUN_DIR/$world/tmp" "$RUN_DIR/$world/home" "$RUN_DIR/$world/state" # the last: the audit log
        case $worlds:$world in *user*:user*) chown -R "$TEST_USER:" "$RUN_DIR/$world" ;; esac
    done
    make_readable_tree
}

# A tree that the world's user can read: the source itself, or a copy without the history.
make_readable_tree() {
    RUN_TREE=$SOURCE
    case $worlds in *user*) ;; *) return ;; esac
    as_test_user sh -c "cd '$SOURCE' && cat test/tap.sh build/coop" >/dev/null 2>&1 && return
    RUN_TREE=$RUN_DIR/tree
    mkdir "$RUN_TREE"
    tar -C "$SOURCE" --exclude=./.git -cf - . | tar -C "$RUN_TREE" -xf -
    chmod -R a+rX "$RUN_TREE"
}

# ---- in the mount namespace of the run

own_directory() { # DIRECTORY: empty, but for what is used of it
    local new=$RUN_DIR/own${1//\//-} kept
    mkdir -m 1777 "$new" || return 1
    for kept in "$RUN_DIR" "$SOURCE"; do
        case $kept/ in "$1"/*)
            mkdir -p "$new${kept#"$1"}" && mount --rbind "$kept" "$new${kept#"$1"}" || return 1
            ;;
        esac
    done
    mount --rbind "$new" "$1"
}

# A node of FUSE's that users may use, and one that they may not. Not in /tmp itself, which may be nodev.
own_fuse() {
    mkdir "$RUN_DIR/dev" && mount -t tmpfs -o mode=755 coop-suite "$RUN_DIR/dev" &&
        mknod -m 666 "$RUN_DIR/dev/open" c 10 229 && mknod -m 600 "$RUN_DIR/dev/closed" c 10 229 &&
        mount --bind "$RUN_DIR/dev/open" /dev/fuse && : 3<>/dev/fuse
} 2>/dev/null

make_own_places() {
    local directory
    has_own_places=1 has_fuse=0
    for directory in /tmp /var/tmp /dev/shm; do
        [ ! -d $directory ] || own_directory $directory || exit 1
    done
    if own_fuse; then
        has_fuse=1
    else
        cannot_run "/dev/fuse for users and not for users: the device cannot be made here"
    fi
}

# The command as the world's user, with an environment that does not depend on who started us.
in_world() { # BUILD WORLD NAME COMMAND...
    local build=$1 world=$2 asan=detect_leaks=0:allocator_may_return_null=1 must=${COOP_TEST_MUST_RUN-}
    case $3 in *_test)
        asan=detect_leaks=1:allocator_may_return_null=1 # what runs in a box cannot be looked at for leaks
        case $world in user*) must= ;; esac # they skip what needs root, and have run as root
        ;;
    esac
    shift 3
    local clean=(env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8
        TERM=xterm USER="$(id -un)" HOME="$RUN_DIR/$world/home" TMPDIR="$RUN_DIR/$world/tmp"
        XDG_STATE_HOME="$RUN_DIR/$world/state" CCACHE_DISABLE=1
        COOP="$RUN_TREE/$build/coop" COOP_TEST_BIN="$RUN_TREE/$build/test" COOP_TEST_BUILD="$RUN_TREE/$build"
        COOP_TEST_WORLD="$world" COOP_TEST_MUST_RUN="$must"
        COOP_TEST_CASE="${COOP_TEST_CASE-}" COOP_TEST_SEED="${COOP_TEST_SEED-}" COOP_TEST_QUICK="$short" COOP_TEST_LONG="$long"
        ASAN_OPTIONS="$asan" UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1)
    local reaper=("$RUN_TREE/$build/test/reaper" $((long ? 7200 : 600)))
    local user=(setpriv --reuid "$TEST_USER" --regid "$TEST_USER" --init-groups --
        "${clean[@]}" USER="$TEST_USER")
    # shellcheck disable=SC2016 # the inner shell's
    local no_fuse=(unshare --mount --propagation private --
        sh -c 'mount --bind "$0" /dev/fuse && exec "$@"' "$RUN_DIR/dev/closed")
    case $world in
    here | root) exec "${reaper[@]}" "${clean[@]}" "$@" ;;
    user) exec "${reaper[@]}" "${user[@]}" "$@" ;;
    user-nofuse) exec "${reaper[@]}" "${no_fuse[@]}" "${user[@]}" "$@" ;;
    userns) exec "${reaper[@]}" "${user[@]}" unshare -Ur -- "$@" ;;
    esac
}
