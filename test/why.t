#!/bin/bash
# why.t - coop why: what it answers, and that the live box never disagrees
#
# Random policies, half as flags, half as a file, and random questions about each: `coop why` decides
# from the text, and a small program (probe/tries.c) really tries in a box of that policy. Commands are
# run. WHY_SEED and WHY_POLICIES are for looking further than the suite does.
# speed: slow
. "$(dirname "$0")/tap.sh"
export XDG_CONFIG_HOME=$T/config XDG_STATE_HOME=$T/state HOME=$T/home
unset GIT_DIR COOP_SESSION
mkdir -p ws home/.ssh
echo key >home/.ssh/id_rsa
echo x >home/notes
why() { "$COOP" why -w "$T/ws" "$@" </dev/null 2>&1; }
says() { # what pattern words...
    local what=$1 pattern=$2
    shift 2
    like "$what" "$(why "$@" | tr '\n' '|')" "$pattern"
}

# ---- what it says

says "a path outside" "^denied: read /srv/none/id_rsa\|  rule    the box's own view \(built-in default\)\|  why     the box does not have it\|  allow   list it in extra_ro_paths\|  or      coop run --ro /srv/none/id_rsa" read /srv/none/id_rsa
says "a protected one" "^denied: .*protect.no_write '.git/hooks' \(built-in default\).*or      coop run --unprotect .git/hooks\|" write .git/hooks/pre-commit
says "'..' of the root is the root" "^allowed: read /../work/x" read /../work/x
says "which is no way out" "^denied: read /../../srv/none\|.*the box does not have it" read /../../srv/none
says "a program" "^allowed: exec /usr/bin/make\|" exec /usr/bin/make
says "a host" "^denied: connect github.com:443\|.*or      coop run --allow github.com:443" connect github.com:443
says "a variable" "^denied: env AWS_SECRET_ACCESS_KEY\|  rule    the filtered name 'AWS_\*'" env AWS_SECRET_ACCESS_KEY
says "a system call" "^denied: syscall mount\|.*allow   nothing would" syscall mount
says "one for debuggers" "^denied: syscall ptrace\|.*or      coop run --profile dev" syscall ptrace
says "which then is allowed" "^allowed: syscall ptrace" --profile dev syscall ptrace
says "one with conditions" "^allowed: syscall clone\|.*where argument 0 has a bit of 0x7e020000" syscall clone
says "a command" "^allowed: -- git push --force\|  rule    commands.strength 'off'" -- git push --force
says "a text for the shell" "^allowed: -- /bin/sh -c 'a \| b'" -c 'a | b'
says "a socket" "sandbox.allow_sockets 'false'.*coop run --allow-sockets" connect "$T/ws/x.sock"
says "a port" "^allowed: bind localhost:8080" bind localhost:8080
says "a port that needs privileges" "^denied: bind localhost:80" bind localhost:80
says "a flag is named" "mount '/etc' at '/data' \(--ro\)" --ro /etc:/data read /data/hostname
says "and found by the host's name" "^allowed: read /etc/hostname" --ro /etc:/data read /etc/hostname
says "a block's flag" "blocked_paths 'x' \(--block\)" --block x read x
says "the network's flag" "network 'off' \(--network\)" --network off connect 1.2.3.4:5
says "a variable's flag" "environment.set 'A' \(--env\)" --env A=1 env A
cat >f.toml <<END
[sandbox]
enabled = true
network = "off"
extra_ro_paths = ["$T/home"]
blocked_paths = ["private"]
env_passthrough = ["EDITOR"]
[protect]
no_write = ["kept"]
[commands]
strength = "check"
[commands.git]
blocked = ["push --force"]
[[users]]
name = "fay"
trust = "familiar"
match = ["x:fay"]
[[users]]
name = "olga"
trust = "owner"
match = ["x:olga"]
END
most=(--protect-write 'docs/*' --unprotect docs/ok.txt --unprotect 'docs/new')
says "an exception in a pattern with wildcards" "^allowed: write docs/ok.txt" "${most[@]}" write docs/ok.txt
says "of a directory, what is in it" "^allowed: write docs/new/x" "${most[@]}" write docs/new/x
says "and nothing else there" "^denied: write docs/a\|.*protect.no_write 'docs/\*'" "${most[@]}" write docs/a
mkdir -p ws/cabinet && echo x >ws/cabinet/public
for pattern in cabinet 'cabinet/**'; do
    says "no exception in a directory that is hidden by $pattern" "^denied: read cabinet/public\|" --protect "$pattern" --unprotect cabinet/public read cabinet/public
    says "nor in one that is kept" "^denied: write cabinet/public\|" --protect-write "$pattern" --unprotect cabinet/public write cabinet/public
done
says "one in what is hidden by itself" "^allowed: read cabinet/public" --protect 'cabinet/*' --unprotect cabinet/public read cabinet/public
echo s >ws/.env && ln ws/.env ws/cabinet/linked && echo b >ws/cabinet/blocked && ln ws/cabinet/blocked ws/free
says "another name of a hidden file" "^denied: read cabinet/linked\|.*the name is hidden.*another name for '/work/.env'" read cabinet/linked
says "another name of a blocked one" "^denied: read free\|.*blocked_paths 'cabinet/blocked'.*another name for '/work/cabinet/blocked'" --block cabinet/blocked read free
says "of one in a blocked directory" "^denied: read free\|.*blocked_paths 'cabinet'" --block cabinet read free
says "of none of these" "^allowed: read free\|" read free
is "as the box says" "$("$COOP" run -q -w ws --block cabinet/blocked sh -c 'cat cabinet/linked free' 2>&1 | grep -c 'Permission denied')" 2
rm ws/.env ws/free
says "built-in exceptions are for reading" "^denied: write new.pub" --protect-write '**/*' write new.pub
echo x >ws/cabinet/file
says "a pattern for directories says nothing of a file" "^allowed: write cabinet/file" --protect-write 'cabinet/file/' write cabinet/file
says "but of what could be one" "^denied: write cabinet/absent" --protect-write 'cabinet/absent/' write cabinet/absent
rm -r ws/cabinet
says "a file's line" "mount '$T/home' at '$T/home' \(f.toml:4:19\)" --config f.toml read "$T/home/notes"
says "not for secrets in it" "^denied: .*\|  rule    secret '$T/home/.ssh' \(built in\)" --config f.toml read "$T/home/.ssh/id_rsa"
says "of a block" "blocked_paths 'private' \(f.toml:5:18\)" --policy f.toml read private/x
says "of the network" "network 'off' \(f.toml:3:11\)" --config f.toml connect 1.2.3.4:5
says "of a variable" "env_passthrough 'EDITOR' \(f.toml:6:20\)" --config f.toml env EDITOR
says "of a protected name" "protect.no_write 'kept' \(f.toml:8:13\)" --config f.toml write kept/x
says "of a command" "^denied: -- git push --force\|  rule    commands 'git push --force' \(f.toml:12:12\)\|.*allow   remove 'push --force' from 'blocked' of 'git'" --config f.toml -- git push --force
says "a flag stands above it" "network 'host' \(--network\)" --config f.toml --network host connect 1.2.3.4:5
says "somebody's trust" "^denied: write x\|  rule    trust 'familiar'" --config f.toml --as x:fay write x
says "who may still read" "^allowed: read x" --config f.toml --as x:fay read x
says "an owner's" "^allowed: read $T/home/.ssh/id_rsa\|  rule    trust 'owner'" --config f.toml --as x:olga read "$T/home/.ssh/id_rsa"
says "an owner in a group" "^denied: read /etc/shadow" --config f.toml --as x:olga --group read /etc/shadow
says "a name that is not there may be made" "^allowed: write sub/.env\|  rule    protect.deny '\*\*/.env'.*there is none: the box may create it" write sub/.env
mkdir -p ws/links/dir && echo x >ws/links/file && echo x >ws/links/.env
(cd ws/links && ln -s file in && ln -s dir d && ln -s /etc/shadow out && ln -s .env hidden && ln -s round round)
says "a link inside" "^allowed: read links/in\|.*note    a link leads to '/work/links/file' in the box" read links/in
says "one to a directory" "^allowed: write links/d/new\|.*note    a link leads to '/work/links/dir/new'" write links/d/new
says "one that leads out" "^denied: read links/out\|.*why     the box does not have it" read links/out
says "one to something hidden" "^denied: read links/hidden\|  rule    protect.deny '\*\*/.env'" read links/hidden
says "one that leads to itself" "^allowed: read links/round" read links/round
says "below a file there is nothing" "note    '/work/links/file' is a file on the host" write links/file/x
echo 'gitdir: /elsewhere' >ws/links/dir/.git
says "below a file that stands for git's directory too" "note    '/work/links/dir/.git' is a file .*: git's directory is elsewhere" read links/dir/.git/HEAD
if ! is_root; then
    echo x >ws/links/closed && chmod 0 ws/links/closed
    says "a file that its owner closed" "^allowed: read links/closed\|.*note    the file's own mode" read links/closed
fi
printf '[commands]\nstrength = "check"\n[commands.make]\nmanifest = true\n' >manifest.toml
says "a program with a manifest" "^allowed: -- make all\|.*note    'make' must answer with its manifest" --config manifest.toml -- make all
rm -rf ws/links
status "exit status 0: allowed" 0 why read x
status "1: denied" 1 why read .env
status "2: no question" 2 why
status "2: none that it knows" 2 why look x
status "2: no target" 2 why read
status "2: a word too many" 2 why read x y
status "2: no such option" 2 why --no-such read x
status "2: no such call" 2 why syscall mout
like "which has a name near it" "$(why syscall mout)" 'did you mean mount'
status "2: no address" 2 why connect example.org
echo 'x = 1' >bad.toml
status "2: a configuration with mistakes" 2 why --config bad.toml read x
if command -v python3 >/dev/null; then
    is "--json is JSON" "$(why --config f.toml --json read private/x | python3 -c 'import json,sys; d=json.load(sys.stdin); print(d["question"], d["allowed"], d["rule"], d["line"], d["column"], d["change"], d["place"])')" \
        "read private/x False blocked_paths 'private' 5 18 remove it from blocked_paths /work/private/x"
else
    skip_never "--json is JSON" "no python3"
fi
unlike "no escapes reach the terminal" "$(why read $'a\033[31mb')" $'\033'

# ---- random questions

if ! "$COOP" status >/dev/null 2>&1; then
    skip_never "500 questions, asked twice" "this host cannot provide all isolation layers"
    done_testing
fi

seed=${WHY_SEED:-20261115}
note "seed $seed"
random() { # N: sets R below it
    seed=$(((seed * 6364136223846793005 + 1442695040888963407) & 0x7fffffffffffffff))
    R=$(((seed >> 33) % $1))
}
pick() { # WORDS...: sets W to one of them
    random $#
    shift "$R"
    W=$1
}
chance() { # N: one in N
    random "$1"
    [ "$R" = 0 ]
}

# The host: a workspace with everything that has a rule of its own, and directories beside it.
mkdir -p ws/{src/lib,deep/a/b,sub/x,private,keys,node_modules/x,.vscode,secrets,.git/hooks} host/{ro,rw/keep,other}
for f in README src/main.c src/lib/a.c deep/a/b/c.txt sub/note.txt private/x .vscode/settings.json secrets/token node_modules/x/.env .env.example; do echo x >ws/$f; done
for f in ro/f rw/f rw/keep/f other/f; do echo x >host/$f; done
echo TOKEN=1 | tee ws/.env ws/sub/.env >/dev/null
printf '%s\n' '-----BEGIN OPENSSH PRIVATE KEY-----' x '-----END OPENSSH PRIVATE KEY-----' | tee ws/id_rsa ws/keys/private.pem >/dev/null
printf '%s\n' '-----BEGIN CERTIFICATE-----' x '-----END CERTIFICATE-----' >ws/keys/public.pem
git -C ws init -q
git -C ws init -q nested
mkdir ws/via && (cd ws/via && ln -s ../README in && ln -s ../sub dir && ln -s /etc/shadow out && ln -s ../.env hidden)
echo '#!/bin/sh' | tee ws/.git/hooks/pre-commit ws/tool.sh host/ro/tool.sh >/dev/null
chmod 755 ws/tool.sh host/ro/tool.sh ws/.git/hooks/pre-commit
chmod -R go+rX host ws
export EDITOR=ed VISUAL=vi AWS_SECRET_ACCESS_KEY=x LD_BIND_NOT=1 FOO=1 BAR=1 LANG=C TERM=dumb

# A service of the host: a port and a socket in the workspace.
mkfifo service.in
"$BIN/tries" listen "$T/ws/host.sock" <service.in >service.out &
service=$!
exec 6>service.in
await test -s service.out || note "the service did not start"
port=$(cat service.out)
chmod 666 ws/host.sock

quoted() { # WORDS...: sets W to a TOML array
    local word
    W=
    for word; do W="$W, \"$word\""; done
    W="[${W#, }]"
}
# Each feature is away, a flag, or a line of the file. maps: "SOURCE TARGET" of what is shown elsewhere.
make_policy() {
    local ro=() rw=() blocked=() deny=() no_write=() allow=() set=() pass=() mounts='' lines='' s
    flags=() maps=() strength=off root=
    case $1 in
    root | root-ro) root=1 flags+=(--root "$T/ws$([ "$1" = root ] || echo :ro)") ;;
    same) flags+=(-w "$T/ws" --same-path) ;;
    *) flags+=(-w "$T/ws") ;;
    esac
    chance 8 && flags+=(--read-only)
    if chance 8; then pick deep src sub; flags+=(--restrict "$W"); fi
    pick none ro rw map; case $W in
    ro) if chance 2; then flags+=(--ro "$T/host/ro"); else ro+=("$T/host/ro"); fi ;;
    rw) if chance 2; then flags+=(--rw "$T/host/ro"); else rw+=("$T/host/ro"); fi ;;
    map)
        maps+=("$T/host/ro /data")
        if chance 2; then flags+=(--ro "$T/host/ro:/data"); else mounts+=$'[[sandbox.mounts]]\nsource = "'"$T/host/ro"$'"\ntarget = "/data"\nreadonly = true\n'; fi
        ;;
    esac
    pick none ro rw map; case $W in
    ro) ro+=("$T/host/rw") ;;
    rw) flags+=(--rw "$T/host/rw") ;;
    map) maps+=("$T/host/rw /out"); flags+=(-v "$T/host/rw:/out") ;;
    esac
    chance 3 && flags+=(--mount "type=tmpfs,target=/scratch$(chance 2 && echo ,readonly)")
    for s in private src/lib .env sub absent "$T/host/rw/keep" /usr/share /out/keep deep/a; do
        chance 6 || continue
        if chance 2; then flags+=(--block "$s"); else blocked+=("$s"); fi
    done
    for s in 'src/*.c' deep secrets '**/*.txt' README keys 'node_modules/**/.env' tool.sh 'src/*' src/main.c 'deep/**' '**/new*' deep/a/b/new.txt 'sub/*'; do
        chance 7 || continue
        pick hide keep show; case $W in
        hide) if chance 2; then flags+=(--protect "$s"); else deny+=("$s"); fi ;;
        keep) if chance 2; then flags+=(--protect-write "$s"); else no_write+=("$s"); fi ;;
        show) if chance 2; then flags+=(--unprotect "$s"); else allow+=("$s"); fi ;;
        esac
    done
    for s in .env .git/hooks .vscode id_rsa '**/.env' secrets/token; do
        chance 8 && if chance 2; then flags+=(--unprotect "$s"); else allow+=("$s"); fi
    done
    chance 6 && flags+=(--no-protect)
    chance 6 && flags+=(--protect-ignore-case)
    pick none none off host; network=$W
    if chance 2; then flags+=(--network "$W"); else lines+="network = \"$W\""$'\n'; fi
    if chance 3; then if chance 2; then flags+=(--profile dev); else lines+=$'profile = "dev"\n'; fi; fi
    if chance 3; then if chance 2; then flags+=(--allow-sockets); else lines+=$'allow_sockets = true\n'; fi; fi
    chance 2 && if chance 2; then flags+=(--env CI=1); else set+=('CI = "1"'); fi
    chance 2 && if chance 2; then flags+=(--env-pass FOO); else pass+=(FOO); fi
    chance 3 && pass+=(EDITOR)
    chance 3 && flags+=(--env AWS_REGION=x)
    pick off off check enforce; strength=$W
    {
        echo '[sandbox]'
        printf '%s' "$lines"
        quoted "${ro[@]}"; echo "extra_ro_paths = $W"
        quoted "${rw[@]}"; echo "extra_rw_paths = $W"
        quoted "${blocked[@]}"; echo "blocked_paths = $W"
        quoted "${pass[@]}"; echo "env_passthrough = $W"
        printf '%s' "$mounts"
        echo '[protect]'
        quoted "${deny[@]}"; echo "deny = $W"
        quoted "${no_write[@]}"; echo "no_write = $W"
        quoted "${allow[@]}"; echo "allow = $W"
        echo '[environment.set]'
        printf '%s\n' "${set[@]}"
        [ "$strength" = off ] || make_commands
    } >policy.toml
    flags+=(--config "$T/policy.toml")
}
make_commands() {
    echo '[commands]'
    echo "strength = \"$strength\""
    printf '[commands."/opt/tries"]\n'
    chance 2 && printf '[commands.env]\n'
    if chance 2; then printf '[commands.git]\nblocked = ["push --force", "reset --hard"]\n'; else printf '[commands.git]\nallowed = ["status", "log"]\n'; fi
    chance 2 && printf '[commands.ls]\n'
    chance 3 && printf '[commands.make]\n'
    chance 3 && printf '[commands.cat]\n'
}

places=(README src/main.c src/lib/a.c deep/a/b/c.txt sub/note.txt sub/.env .env .env.example id_rsa keys/private.pem
    keys/public.pem private/x .vscode/settings.json secrets/token node_modules/x/.env .git/config .git/HEAD .git/hooks/pre-commit tool.sh
    via/in via/dir/note.txt via/dir/.env via/out via/hidden)
new=(new.txt absent/new nested/.git/hooks/new .env.new sub/db_password src/new.c deep/new deep/a/b/new.txt sub/id_ed25519 private/new .git/hooks/post-commit .vscode/tasks.json secrets/new keys/new.key
    .git/new README.new node_modules/x/new sub/.git/hooks/x)
host_paths=("$T/host/ro/f" "$T/host/rw/f" "$T/host/rw/keep/f" "$T/host/other/f" "$T/home/.ssh/id_rsa" "$T/ws/README" "$T/ws/.env" "$T/ws/src/lib/a.c")
system_paths=(/etc/passwd /etc/shadow /etc/hostname /usr/bin/env /usr/share /proc/self/status /sys/kernel /dev/null /dev/kmsg /root /usr/lib/os-release /etc/group /boot)
system_writes=(/etc/passwd /usr/bin/new /tmp/new /var/tmp/new /run/new /dev/null /dev/shm/new /etc/new /new /home/new /sys/new /scratch/new /opt/new)
programs=(/usr/bin/env /bin/ls /bin/cat /usr/bin/git /usr/bin/make /bin/true /usr/bin/id /bin/sh tool.sh "$T/host/ro/tool.sh" /usr/lib/git-core/git-log)
variables=(PATH HOME LANG TERM CI FOO BAR EDITOR VISUAL AWS_SECRET_ACCESS_KEY AWS_REGION LD_BIND_NOT COOP_SESSION USER NO_SUCH)
calls=(mount umount2 pivot_root chroot unshare setns clone3 ptrace process_vm_readv kcmp pidfd_getfd bpf keyctl add_key io_uring_setup
    perf_event_open reboot swapon init_module userfaultfd open_by_handle_at name_to_handle_at move_pages syslog sethostname
    fsopen open_tree statmount memfd_secret getpid getuid read write close dup fstat lseek mkdirat unlinkat renameat2 statx
    memfd_create execve getrandom prctl pipe2 ftruncate fsync listen epoll_create1 landlock_create_ruleset getcwd uname)
commands=('git status' 'git push --force' 'git push -f' 'git push origin +main' 'git log --oneline' 'git reset --hard' 'git -C src status'
    'git -C /etc status' 'git -c alias.x=!id x' 'ls src' 'ls private' 'ls /etc' 'ls /home' 'cat README' 'cat .env' 'cat ../x' 'env git status' 'env ls'
    'true' 'id' './tool.sh' '/usr/bin/git status' '/bin/ls' 'nice git status' 'sh -c git' 'make -f /nowhere' 'cat /out/f' 'cat /data/f' 'git --version' 'no-such-program')

# Sets Q, and K to the names by which the box may have it; a command has none.
make_question() {
    local map source target
    pick read read write write write exec connect bind env syscall command
    local act=$W
    case $act in
    read) pick places places host system; case $W in
        places) pick "${places[@]}" deep src ;;
        host) pick "${host_paths[@]}" ;;
        system)
            pick "${system_paths[@]}"
            # There the rest of the root is the workspace, which does not have these.
            if [ "$root" ]; then case $W in /sys/* | /root | /boot) W=/etc/passwd ;; esac; fi
            ;;
        esac ;;
    write) pick places new new host system; case $W in
        places) pick "${places[@]}" ;;
        new) pick "${new[@]}" ;;
        host) pick "${host_paths[@]}" "$T/host/rw/new" "$T/host/ro/new" ;;
        system) pick "${system_writes[@]}" ;;
        esac ;;
    exec) pick "${programs[@]}" ;;
    connect)
        pick "127.0.0.1:$port" 198.51.100.1:80 "$T/ws/host.sock"
        [ "$network" = host ] && [ "$W" = 198.51.100.1:80 ] && W=127.0.0.1:$port # nobody knows what is there
        ;;
    bind)
        pick 127.0.0.1:0 0.0.0.0:0 198.51.100.1:0
        [ "$network" = host ] && W=127.0.0.1:0
        ;;
    env) pick "${variables[@]}" ;;
    syscall) pick "${calls[@]}" ;;
    command)
        [ "$strength" != off ] || { make_question; return; }
        pick "${commands[@]}"
        ;;
    esac
    Q="$act $W" K=("$act $W")
    case $W in
    "$T/ws/"*) K+=("$act ./${W#"$T/ws/"}") ;;
    esac
    for map in "${maps[@]}"; do
        source=${map% *} target=${map#* }
        case $W in "$source"/*) K+=("$act $target${W#"$source"}") ;; esac
    done
}

box() { "$COOP" run "${flags[@]}" --ro "$BIN/tries:/opt/tries" "$@"; }
# What the box says: a line each, "ok" or the number of an errno, of every name of every question.
ask_box() { box -- /opt/tries <names >answers 2>errors && [ "$(wc -l <answers)" = "$(wc -l <names)" ]; }
run_command() { # prints ok, or refused, or what else went wrong
    local words
    read -ra words <<<"$1"
    box -- "${words[@]}" </dev/null >/dev/null 2>errors
    case $?:$(cat errors) in
    126:*"may not run"*) echo refused ;;
    125:*) cat errors ;;
    *) echo ok ;;
    esac
}

declare -A n_asked
n=0 wrong=0 n_allowed=0
policies=$(rounds 26)
for ((p = 0; p < policies; p++)); do
    random 100000
    policy_seed=$R
    pick work work work same root root-ro
    make_policy "$W"
    questions=() n_names=()
    : >names
    for ((i = 0; i < 20; i++)); do
        make_question
        questions+=("$Q")
        n_names+=(${#K[@]})
        case $Q in command*) ;; *) printf '%s\n' "${K[@]}" >>names ;; esac
    done
    if ! ask_box; then
        tap_result 1 "policy $p: the box runs"
        note "$(cat errors) ${flags[*]}"
        note "$(cat policy.toml)"
        continue
    fi
    exec 7<answers
    for ((i = 0; i < ${#questions[@]}; i++)); do
        Q=${questions[i]}
        if [ "${Q%% *}" = command ]; then
            read -ra words <<<"${Q#* }"
            "$COOP" why "${flags[@]}" --ro "$BIN/tries:/opt/tries" -- "${words[@]}" >said 2>&1
            said=$?
            live=$(run_command "${Q#* }")
        else
            "$COOP" why "${flags[@]}" --ro "$BIN/tries:/opt/tries" "${Q%% *}" "${Q#* }" >said 2>&1
            said=$?
            live=
            for ((k = 0; k < n_names[i]; k++)); do
                read -r line <&7
                [ "$live" = ok ] || live=$line
            done
        fi
        n=$((n + 1))
        n_asked[${Q%% *}]=$((${n_asked[${Q%% *}]:-0} + 1))
        [ $said = 0 ] && n_allowed=$((n_allowed + 1))
        case $said:$live in
        0:ok) continue ;;
        1:[!o]*) continue ;;
        esac
        wrong=$((wrong + 1))
        note "policy $p ($policy_seed): the box says '$live', coop why:"
        note "$(cat said)"
        note "${flags[*]}"
        note "$(cat policy.toml)"
    done
    exec 7<&-
done
exec 6>&-
wait $service
is "the box and coop why never disagree ($n questions)" "$wrong" 0
[ -n "${WHY_POLICIES-}" ] || is "there were 500 of them" "$((n >= 500))" 1
is "of every kind" "${#n_asked[@]}" 8
is "and both answers" "$((n_allowed > n / 5 && n_allowed < n * 4 / 5))" 1
note "$n_allowed of $n were allowed"
is "nothing is left of it" "$(find ws host -name '*new*' -o -name '.tries*')" ""
done_testing
