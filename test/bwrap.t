#!/bin/bash
# coop plan --as-bwrap: the command line that it prints works, shows what coop's own box shows, holds what
# it can hold, and leaves nothing on the host.
# needs: bubblewrap
# speed: slow
. "$(dirname "$0")/box.sh"
. "$SRC/test/leftovers.sh"

plan() { "$COOP" plan -w "$T/ws" "$@"; }
mkdir plain other && echo one >plain/one && echo kept >other/kept
mkdir ws/dir ws/secret ws/sub && echo d >ws/dir/d && echo s >ws/secret/s && echo t >ws/token && echo TOP=1 >ws/.env
ln -s token ws/link
git init -q ws 2>/dev/null

# ---- in words

like "what is not there is not said to be hidden" "$(plan --block absent --block token)" \
    "hide '/work/absent': nothing is there, so nothing is hidden"
unlike "what is there is" "$(plan --block absent --block token)" "hide '/work/token':"
like "the document says so too" "$(plan --json --block absent | jq -r '.steps[].words')" "hide '/work/absent': nothing is there"
like "a link is said to be one" "$(plan --block link)" "hide '/work/link': a symbolic link, which will be refused"
is "--as-bwrap --json is refused" "$(plan --as-bwrap --json 2>&1; echo $?)" \
    "$(printf 'coop plan: --as-bwrap and --json exclude each other\n2')"
like "without namespaces there is no such command line" "$(plan --as-bwrap --mode disabled 2>&1)" "no bubblewrap command line for a plan of the tier 'none'"
out=$(plan --as-bwrap --block absent --network off)
unlike "nothing would be made on the host" "$out" '^  --.* /work/absent'
like "and it is said why" "$out" '^#  - /work/absent: nothing is there to hide'
for missing in 'protected paths' 'unix sockets of the host' 'session keyring' '--network off' 'setuid bits' 'Landlock' 'limits of memory'; do
    like "it names what is beyond it: $missing" "$(grep '^#' <<<"$out")" "$missing"
done
unlike "but not what was not asked for" "$(plan --as-bwrap --allow-sockets)" '^#.*(unix sockets of the host|--network off)'
like "a mount point that would have to be made on the host is left out" "$(plan --as-bwrap --ro "$T/plain:/work/made")" \
    '^#  - /work/made: not there to be mounted on'
unlike "with its option" "$(plan --as-bwrap --ro "$T/plain:/work/made")" '^  --.*/work/made'
unlike "no value of the policy's is in it" "$(plan --as-bwrap --env KEY=hunter2)" hunter2
not_ok "a variable that the shell does not have stops it" env -u KEY sh -c "$(plan --as-bwrap --env KEY=hunter2 true)"

# ---- in deeds

bwrap_works() {
    command -v bwrap >/dev/null || { why="bubblewrap is not installed"; return 1; }
    bwrap --help 2>&1 | grep -q -- --size || { why="this bubblewrap is older than 0.7"; return 1; }
    why="bubblewrap cannot make namespaces here"
    bwrap --unshare-user --unshare-pid --ro-bind / / true 2>/dev/null
}
if ! bwrap_works; then
    skip "the command line works" "$why"
    done_testing
fi

# What a command sees and can do. /run and the files that coop makes up are another matter.
cat >look <<'END'
exec 2>/dev/null
echo "ids $(id -u) $(id -g), in $(pwd), on $(cat /proc/sys/kernel/hostname)"
echo "top" $(ls -A / | sort)
echo "etc" $(ls -A /etc | grep -vxE 'passwd|group|hosts|nsswitch.conf' | sort)
echo "dev" $(ls -A /dev | grep -vx -e core -e console | sort)
echo "links" $(readlink /bin /lib /etc/mtab /var/tmp)
env | grep -vE '^(COOP_SESSION|COOP_CREATED|_|OLDPWD|SHLVL)=' | sort
env | grep -cE '^COOP_SESSION=[0-9a-f]{32}$|^COOP_CREATED=2[-0-9T:]*Z$'
grep -E '^(Cap|NoNewPrivs)' /proc/self/status
echo "network" $(sed -n 's/^ *\(.*\):.*/\1/p' /proc/net/dev | sort)
for d in / /usr /etc /proc /dev /dev/shm /tmp /var/tmp /run . dir secret /ro /rw /scratch /quiet sub; do
    [ -d $d ] || { echo "$d absent"; continue; }
    case $d in /run | /etc | /dev) ;; *) echo "$d holds" $(ls -A $d | grep -vx -e '[0-9]*' | cksum) ;; esac
    if (: >$d/coop-new-file); then rm -f $d/coop-new-file; echo "$d writable"; else echo "$d closed"; fi
done
for f in token secret/s .env .git/config dir/d /ro/one /rw/kept /proc/keys "$HOME/.env"; do
    [ -e "$f" ] && echo "$f: $(cat "$f" || echo unreadable)"
    [ -e "$f" ] && { (: >>"$f") && echo "$f can be written" || echo "$f cannot be written"; }
done
[ "$(tr '\0' '\n' </proc/1/environ | grep -vc ^PATH=)" -gt 0 ] && echo "the first process tells the caller's environment"
rm -rf token secret; [ -e token ] && echo "token stays"; [ -e secret ] && echo "secret stays"
df -P /scratch | awk 'NR == 2 { print "scratch", $2 }'
exit 7
END
look=$(cat look)
export KEY=value-of-key

# Both get a fresh copy of the workspace at the same path: what one changes, the other must too.
mkdir origin && cp -a ws/. origin/ && chown --reference=ws origin
same() { # DESCRIPTION OPTIONS...
    local what=$1 r=0
    shift
    rm -rf ws && cp -a origin ws
    run --quiet "$@" -c "$look" >"$T/by-coop" 2>"$T/err-coop" || r=$?
    is "$what: coop runs it" "$r $(cat "$T/err-coop")" "7 "
    (cd ws && find . -type f -exec cksum {} + | sort; find . | sort) >"$T/left-by-coop"
    rm -rf ws && cp -a origin ws
    plan --as-bwrap "$@" -c "$look" >"$T/command"
    before=$(snapshot "$T/plain" "$T/other")
    r=0
    sh "$T/command" >"$T/by-bwrap" 2>"$T/err-bwrap" </dev/null || r=$?
    is "$what: bubblewrap runs it" "$r $(head -n 3 "$T/err-bwrap")" "7 "
    is "$what: both see and can do the same" "$(diff "$T/by-coop" "$T/by-bwrap" | cut -c 1-200)" ''
    (cd ws && find . -type f -exec cksum {} + | sort; find . | sort) >"$T/left-by-bwrap"
    is "$what: both leave the same in the workspace" "$(diff "$T/left-by-coop" "$T/left-by-bwrap")" ''
    nothing_left "$what: nothing is left elsewhere" "$before" "$T/plain" "$T/other"
}
same "nothing asked for"
same "--block" --block absent --block token --block secret --block sub/absent/deep --block /etc/ssl/certs
same "mounts" --ro "$T/plain:/ro" --rw "$T/other:/rw" --mount type=tmpfs,target=/scratch,size=1m --mount type=tmpfs,target=/quiet,readonly \
    --ro "$T/plain:/work/sub"
same "a mount point inside /tmp" --ro "$T/plain:/tmp/deep/er"
same "--read-only" --read-only
same "--same-path" --same-path --no-protect
same "--network host" --network host
same "--uid 0" --uid 0 --hostname other-name
same "--env" --env KEY=value-of-key --env-pass LANG --chdir dir
same "--no-protect" --no-protect
done_testing
