#!/bin/bash
# The directories that a box makes to hold others, /etc, /etc/ssl and /var among them, are watched with --explain where
# there is FUSE: what the host has there and the box has not is told, what the box has looks as without.
# fuse: both
# speed: slow
. "$(dirname "$0")/box.sh"
chmod 755 "$T"

first() { # the first of these paths that is there and may be read
    local path
    for path; do [ -r "$path" ] && echo "$path" && return; done
}
file=$(first /etc/shells /etc/issue /etc/fstab /etc/debian_version /etc/alpine-release /etc/hostname)
directory=$(first /var/lib /var/log /var/cache)
below=$(first "$directory"/*)
hidden() { jq -r '.records.watched[] | select(.name == "hidden") | "\(.watched) \(.note)"' document; }
if ! [ -r /dev/fuse ] || ! [ -w /dev/fuse ]; then
    run --json --explain cat "$file" >document 2>/dev/null
    like "without a usable /dev/fuse they are not watched, and why" "$(hidden)" \
        "^false only with --explain=all: /dev/fuse is missing or not usable"
    is "and nothing is told" "$(jq -c .denials document)" "[]"
    is "and /etc is as it is without" "$(run --explain stat -fc %T /etc 2>/dev/null)" "$(run stat -fc %T /etc 2>/dev/null)"
    done_testing
fi

records() { # EXPLAIN OPTIONS HOW: all fields but the time, and what was printed
    eval "within 60 \"$COOP\" run -w \"$T/ws\" --json $1 $2 -- sh -c \"\$3\"" </dev/null 2>/dev/null >document
    jq -r '(.denials[] | del(.first_ms) | tojson), .stdout.text, .stderr.text, .status' document
}
told() { # OPTIONS HOW: its records, a line each
    records --explain "$1" "$2" >/dev/null
    jq -r '.denials[] | [.op, .target, .errno, .rule, .origin, .why, (.allow // "-"), .count] | map(tostring) | join("|")' document
}
words() { printf '%s' "$1" | sed "s#@F#$file#g; s#@N#${file##*/}#g; s#@D#$directory#g; s#@B#$below#g; s#@T#$T#g; s#@V#2|the box's own view|built-in default|the box does not have it|--ro#g"; }

# ---- the caller's directory stays its own while the box is made: sources may be relative to it

mkdir -p near/ws near/data && echo here >near/ws/file && echo there >near/data/file
python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("near/data/socket")'
while IFS='|' read -r from options command expected; do
    # shellcheck disable=SC2086 # words
    is "from $from: --explain $options" "$(cd "$from" && within 60 "$COOP" run --explain $options -- ${command/@T/$T} </dev/null 2>&1)" "$expected"
done <<'END'
near|-w ws|cat file|here
near/ws|-w .|cat file|here
near/ws|-w ../ws|cat file|here
near/ws||cat file|here
near|-w ws --ro ./data:/data|cat /data/file|there
near|-w ws --rw data:/data|cat /data/file|there
near|-w ws --ro ./data/file:/etc/data|cat /etc/data|there
near|-w ws --ro data:/var/lib/data|cat /var/lib/data/file|there
near|-w ws --socket ./data/socket|stat -c %F @T/near/data/socket|socket
END
mkdir gone && (cd gone && rmdir ../gone && within 60 "$COOP" run --explain -w "$T/near/ws" cat file </dev/null) >out 2>&1
is "a directory of the caller's that was removed does no harm" "$(cat out)" here
rm -rf near out

mkdir -p dir sub && echo here >dir/own && ln -s "$file" dir/far && ln -s own dir/near && ln -s "$below" dir/deep && echo two >sub/x
mkdir -p ws/sub && echo note >ws/notes
cat >ws/py <<'END'
import os, socket, sys
exec(sys.argv[1])
END

# ---- what was looked for, by whichever way, exactly as where every look is watched

while IFS='~' read -r options how expected; do
    options=$(words "$options") how=$(words "$how")
    is "told: $options $how" "$(told "$options" "$how")" "$(words "$expected")"
    is "as with --explain=all: $options $how" "$(records --explain "$options" "$how")" "$(records --explain=all "$options" "$how")"
done <<'END'
~cat @F~read|@F|@V @F|1
~exec cat @F~read|@F|@V @F|1
~cat <@F~read|@F|@V @F|1
~for i in 1 2 3 4 5; do cat @F; done~read|@F|@V @F|5
~test -e @D~read|@D|@V @D|1
~cd @D~read|@D|@V @D|1
~test -e @B~read|@B|@V @B|1
~cd /var && test -e ../..@B/.~read|@B|@V @B|1
~test -e /var/tmp/..@B~read|@B|@V @B|1
--ro @T/dir:/etc/links~test -e /etc/links/deep~read|@B|@V @B|1
--ro @T/dir:/etc/links~cd /etc/links && test -e ./deep~read|@B|@V @B|1
~cd /etc && cat @N~read|@F|@V @F|1
~cd /usr && cat ..@F~read|@F|@V @F|1
~rm -f link; ln -s @F link && cat link~read|@F|@V @F|1
~rm -f link; ln -s /etc link && cat link/./../@F~read|@F|@V @F|1
~cat /var/tmp/..@F~read|@F|@V @F|1
~python3 py 'os.stat("@N", dir_fd=os.open("/etc", os.O_PATH))'~read|@F|@V @F|1
~python3 py 'os.listdir("@D")'~read|@D|@V @D|1
--ro @T/dir:/etc/links~cat /etc/links/far~read|@F|@V @F|1
--ro @T/dir:/etc/links~cd /etc/links && cat far~read|@F|@V @F|1
--rw @T/sub:/var/lib/coop-test/x~cat @F; ls /var/lib/coop-test/x~read|@F|@V @F|1
--restrict sub~cat /work/notes~read|/work/notes|2|sandbox.restrict '/sub'|--restrict|only part of the workspace is shown, and it is outside that part|--restrict /|1
END
for how in 'socket.socket(socket.AF_UNIX).connect("@D/coop-test.sock")' 'socket.socket(socket.AF_UNIX).bind("@D/coop-test.sock")' \
    'socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", "@D/coop-test.sock")'; do
    for options in "" --allow-sockets; do
        is "as with --explain=all: $options $how" "$(records --explain "$options" "python3 py '$(words "$how")'")" \
            "$(records --explain=all "$options" "python3 py '$(words "$how")'")"
    done
done
told "" true >/dev/null
like "the result says what is seen, and what not" "$(hidden)" \
    "^true below directories of the root.* /etc, /etc/ssl and /var.* in /tmp the first lookup of each name; .* in /run, in /dev, and files of the root only with --explain=all"

# ---- /tmp, which the box fills itself: the first look for each name

ours=$(mktemp -d /tmp/coop-places.XXXXXX)
trap 'rm -rf "$T" "$T.cache" "$ours"' EXIT
chmod 755 "$ours" && echo canary >"$ours/file" && cp /bin/true "$ours/program" && mkdir "$ours/sub"
while IFS='~' read -r how expected; do
    how=${how//@O/$ours}
    is "told: $how" "$(told "" "$how" | cut -d'|' -f 1-3,6-)" "${expected//@O/$ours}"
    is "as with --explain=all: $how" "$(records --explain "" "$how")" "$(records --explain=all "" "$how")"
done <<'END'
cat @O/file~read|@O/file|2|the box has its own; the host's is not visible|--ro @O/file|1
cd /tmp && cat ../@O/file~read|@O/file|2|the box has its own; the host's is not visible|--ro @O/file|1
cat /var@O/file~read|@O/file|2|the box has its own; the host's is not visible|--ro @O/file|1
test -e @O~read|@O|2|the box has its own; the host's is not visible|--ro @O|1
python3 py 'os.listdir("@O/sub")'~read|@O/sub|2|the box has its own; the host's is not visible|--ro @O/sub|1
python3 py 'os.execv("@O/program", ["x"])'~exec|@O/program|2|the box has its own; the host's is not visible|--ro @O/program|1
rm -f link; ln -s @O/file link && cat link; rm link~read|@O/file|2|the box has its own; the host's is not visible|--ro @O/file|1
cat /tmp/no-such-file /tmp/no/such/file; echo x >/tmp/own && cat /tmp/own && cat /tmp/own/x; ls /tmp~
END
is "a second look is not" "$(told "" "cat $ours/file; cat $ours/file; cat $ours/sub/x" | cut -d'|' -f 1,2,8)" "read|$ours/file|1"
while read -r how; do
    how=${how//@O/$ours}
    is "who makes it in the box is not told, and has it: $how" "$(told "" "$how"; jq -r '.status, .stdout.text' document)" $'0\nhere'
done <<'END'
mkdir @O && echo here >@O/file && cat @O/file
echo x >/tmp/x && mv /tmp/x @O && ln @O /tmp/y && rm @O /tmp/y && echo here
python3 py 'os.close(os.open("@O", os.O_CREAT | os.O_EXCL | os.O_RDONLY)); print("here")'
python3 py 's = socket.socket(socket.AF_UNIX); s.bind("@O"); s.listen(); socket.socket(socket.AF_UNIX).connect("@O"); print("here")'
python3 py 'import tempfile; f = tempfile.NamedTemporaryFile(); d = tempfile.TemporaryDirectory(); t = tempfile.TemporaryFile(); print("here")'
mkdir -p @O/a/b && mv @O/a @O/c && rmdir @O/c/b @O/c @O && echo here
mkfifo @O && (echo here >@O & cat @O)
END
for options in "" "--tmp-size 4m" "--uid 0"; do
    is "and is the same place: $options" \
        "$(eval "run --explain $options sh -c 'stat -c %A:%u:%g /tmp /var/tmp/.; df -k /tmp | tail -n 1 | tr -s \" \" | cut -d\" \" -f 2; echo x >/tmp/x; ls -la /var/tmp/ | wc -l; grep -c . /tmp/x; grep \" /tmp \" /proc/self/mountinfo | cut -d\" \" -f 6'" 2>/dev/null)" \
        "$(eval "run $options sh -c 'stat -c %A:%u:%g /tmp /var/tmp/.; df -k /tmp | tail -n 1 | tr -s \" \" | cut -d\" \" -f 2; echo x >/tmp/x; ls -la /var/tmp/ | wc -l; grep -c . /tmp/x; grep \" /tmp \" /proc/self/mountinfo | cut -d\" \" -f 6'" 2>/dev/null)"
done
is "what is beneath it is nowhere to be seen" "$(run --explain sh -c 'grep -c -e " /[^ ]*lower" -e " /[^ ]*work/" /proc/self/mountinfo; find / -xdev -name lower -maxdepth 2' 2>/dev/null)" 0
is "nothing of it is on the host" "$(ls -A "$ours" | sort | xargs) $(cat "$ours/file")" "file program sub canary"

# ---- innocent

n=0
while IFS='~' read -r options how; do
    options=$(words "$options") how=$(words "$how")
    is "not told: $options $how" "$(told "$options" "$how")" ""
    n=$((n + 1))
done <<'END'
~cat /etc/no-such-file /var/no-such-file /etc/ssl/no-such-file /etc/no/such/file
~cat /etc/ld.so.preload; cat /etc/gitconfig; ls /etc/profile.d; cat /etc/ssl/cert.pem
~cat /etc/passwd /etc/group /etc/hosts /etc/nsswitch.conf; readlink /etc/mtab; cat /etc/mtab
~ls -la /etc /etc/ssl /var /var/tmp; find /etc /var -maxdepth 2; stat /etc /etc/passwd
~cd /etc/ssl && cd .. && cat passwd && ls ssl
~cat /etc/passwd/file; cat /etc/ssl/certs/no-such-file
~python3 py 'socket.socket(socket.AF_UNIX).connect("/var/run/nscd/socket")'
~python3 py 'socket.socket(socket.AF_UNIX).connect("/etc/no-such-socket")'
~git status; python3 -c 1; bash -lc :; id; date; ls -l
--ro @F~cat @F
--ro @T/dir:/etc/links~cat /etc/links/near /etc/links/own; cat /etc/links/missing
--rw @T/sub:/var/lib/coop-test/x~cat /var/lib/coop-test/x/x; echo y >/var/lib/coop-test/x/y; rm /var/lib/coop-test/x/y
--mount type=tmpfs,target=/var/cache~echo x >/var/cache/x; cat /var/cache/x /var/cache/y
END
ok "there were some" test $n -ge 13
for begin in 'sh -lc :' 'bash -lc :' 'bash -ic :' 'zsh -c :' 'git log' 'python3 -c "import ssl, json, sqlite3, ctypes, urllib.request"' 'perl -MPOSIX -e 1' 'node -e 1' \
    'gcc --version' 'make --version' 'ls -l' 'id' 'date' 'ps ax' 'curl --version' 'wget --version' 'openssl version -a' 'java -version' 'file py' 'vim --version'; do
    if command -v "${begin%% *}" >/dev/null; then
        is "not told at its start: $begin" "$(told "" "$begin")" ""
    else
        skip_never "not told at its start: $begin" "no ${begin%% *} here"
    fi
done
if ! real_root; then
    is "not told: what the host refuses as well" "$(told "" "cat /etc/shadow; cat /var/spool/cron/root")" ""
    is "nor who makes names there" "$(told "" "mkdir /etc/x /var/x; echo x >/etc/ssl/x; rm /etc/passwd")" ""
else
    is "who makes a name in /etc is told" "$(told "" "mkdir /etc/x" | cut -d'|' -f1-3)" "create|/etc/x|30"
    is "who makes a file in /var is told" "$(told "" "echo >/var/x" | cut -d'|' -f1-3)" "create|/var/x|30"
fi

# ---- it looks and fails as without

same() { # WHAT OPTIONS HOW
    is "as without: $1" "$(eval "run --explain $2 sh -c \"\$3\"" 2>/dev/null)" "$(eval "run --explain=none $2 sh -c \"\$3\"" 2>/dev/null)"
}
same "a list" "" 'ls -A /etc /etc/ssl /var'
same "one with all that is known" "" 'cd / && stat -c "%n %F %A %u %g %h %s %b" etc var etc/* etc/ssl/* var/*'
same "one of what is mounted there" "--ro $T/dir:/etc/links --rw $T/sub:/var/lib/coop-test/x --mount type=tmpfs,target=/var/cache" \
    'ls -AR /var /etc/links; stat -c "%n %A %h %s" /var /var/lib /var/lib/coop-test /etc'
same "what is blocked" "--block /etc/hosts --block /etc/ssl" 'exec 2>&1; cat /etc/hosts; ls /etc/ssl; cat /etc/ssl/openssl.cnf; ls -A /etc'
same "contents" "" 'cat /etc/passwd /etc/group /etc/hosts /etc/nsswitch.conf; readlink /etc/mtab /var/tmp; cd /etc; cat ssl/openssl.cnf | wc'
cat >ws/errors.py <<'END'
import errno, os, socket
names = [b"/etc", b"/etc/", b"/etc/passwd", b"/etc/x", b"/etc/ssl", b"/etc/ssl/x", b"/etc/mtab", b"/var", b"/var/x", b"/var/tmp",
         b"/etc/x/y", b"/etc/passwd/x", b"/etc/" + b"n" * 255, b"/etc/" + b"n" * 256, b"/etc/" + b"n" * 1100, b"/etc/\xff\xfe\n",
         b"/etc/ld.so.preload", b"/etc/profile", b"/etc/alternatives", b"/etc/ld.so.cache"]
flags = [os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDONLY | os.O_DIRECTORY, os.O_PATH, os.O_RDONLY | os.O_NOFOLLOW, os.O_RDWR | os.O_CREAT,
         os.O_WRONLY | os.O_CREAT | os.O_EXCL, os.O_RDWR | os.O_TRUNC, os.O_RDWR | os.O_TMPFILE]
calls = {"open %o" % flag: (lambda name, flag=flag: os.close(os.open(name, flag, 0o600))) for flag in flags}
calls |= {"access %d" % how: (lambda name, how=how: os.access(name, how)) for how in range(8)}
calls |= {
    "mkdir": os.mkdir, "rmdir": os.rmdir, "unlink": os.unlink, "mknod": os.mknod, "mkfifo": os.mkfifo, "utime": os.utime,
    "symlink": lambda name: os.symlink("x", name), "link": lambda name: os.link("errors.py", name), "link from": lambda name: os.link(name, "linked"),
    "rename": lambda name: os.rename(name, os.path.dirname(name.rstrip(b"/")) + b"/moved"), "rename to": lambda name: os.rename("errors.py", name),
    "chmod": lambda name: os.chmod(name, 0o700), "chown": lambda name: os.chown(name, os.getuid(), -1), "truncate": lambda name: os.truncate(name, 0),
    "chdir": os.chdir, "listdir": lambda name: sorted(os.listdir(name))[:30], "readlink": os.readlink, "lstat": lambda name: os.lstat(name).st_mode,
    "stat": lambda name: os.stat(name).st_mode, "setxattr": lambda name: os.setxattr(name, "user.x", b""),
    "bind": lambda name: socket.socket(socket.AF_UNIX).bind(name), "connect": lambda name: socket.socket(socket.AF_UNIX).connect(name)}
home = os.getcwd()
for what, call in calls.items():
    for name in names:
        try:
            said = call(name)
        except OSError as error:
            said = errno.errorcode.get(error.errno, error.args)
        os.chdir(home)
        print(what, name[:30], said)
END
same "whatever is tried" "" 'python3 errors.py 2>&1'
is "which is all" "$(run --explain python3 errors.py 2>/dev/null | wc -l)" 800

many() { # HOW MANY: options that show so many files more in /etc
    local i
    for ((i = 0; i < $1; i++)); do printf '%s ' --ro "$T/dir/own:/etc/more$i"; done
}
same "more names than one answer holds" "$(many 60)" 'ls -A /etc; cat /etc/more* | wc; stat -c "%h %s" /etc'
same "more names than there is room for" "$(many 300)" 'ls -A /etc; cat /etc/more* | wc; stat -c "%h %s" /etc'
told "$(many 300)" true >/dev/null
like "which is said" "$(hidden)" "^true below directories of the root that the box does not have; elsewhere only with --explain=all: the policy shows too many names"

# ---- a flood, and names of any bytes

cat >ws/flood.py <<'END'
import os
names = [b"/etc/" + bytes([65 + i % 26]) * 255 for i in range(26)] + [b"/etc/\xff\xfe%d" % i for i in range(26)] + [b"/var/" + b"\n" * 200, b"/etc/a\x1b[2J"]
for i in range(4):
    if os.fork() == 0:
        break
for i in range(5000):
    try:
        os.stat(names[i % len(names)])
    except OSError:
        pass
while True:
    try:
        os.wait()
    except OSError:
        break
END
is "names that nobody has are none, however many" "$(told "" "python3 flood.py; cat $file" | cut -d'|' -f1-2)" "read|$file"
is "20,000 looks are one record" \
    "$(told "" "python3 -c 'import os
for i in range(20000): os.path.exists(\"$file\")'" | sed 's/.*|//')" 20000
"$COOP" run -w ws --explain --timeout 1s sh -c "for i in 1 2 3 4 5 6 7 8; do while :; do cat $file /etc/hosts; done & done; wait" </dev/null >/dev/null 2>&1
is "a timeout ends those who look there" $? 124
is "init's second thread cannot be stopped or killed" \
    "$(told "" "for t in 1 3 4 5 6 7 8; do kill -STOP \$t; kill -KILL \$t; done; cat $file" 2>/dev/null | cut -d'|' -f1-2)" "read|$file"

start ws --explain
kill -STOP "$init"
is "a stopped init makes nobody outside wait, not even root" "$(within 10 cat "/proc/$init/root$file" 2>/dev/null || echo refused)" refused
kill -CONT "$init"
finish_box

# ---- tools and coop mcp, whose second box is made from a template where there can be one

ask() { # COMMAND: the questions of a client, three times the same
    printf '%s\n' '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' \
        '{"jsonrpc":"2.0","method":"notifications/initialized"}'
    for i in 1 2 3; do
        jq -cn --argjson id $i --arg command "$1" '{jsonrpc: "2.0", id: $id, method: "tools/call", params: {name: "bash", arguments: {command: $command}}}'
    done
}
answers() { jq -r 'select(.id > 0) | [(tostring | contains("denied by the sandbox: read '"$file"'")), (tostring | contains("there /proc"))] | join(" ")' | sort | uniq -c | xargs; }
ask "cat $file; cat /etc/passwd >/dev/null && ls /etc/ssl >/dev/null && echo there \$(readlink /etc/mtab)" >questions
is "coop mcp tells of it too" "$(converse questions "$COOP" mcp -w "$T/ws" 2>/dev/null | answers)" "3 true true"

# ---- an ordinary user, where the device is everybody's as on most hosts

if real_root && user=$(id -u nobody 2>/dev/null) && command -v setpriv >/dev/null; then
    theirs=/coop-test.$$.theirs
    trap 'rm -rf "$T" "$T.cache" "$ours" "$theirs"' EXIT
    mkdir -m 755 $theirs $theirs/far # who knows whether they can reach ours
    mkdir -m 777 $theirs/ws
    mknod -m 666 $theirs/node c 10 229
    ln -s "$file" $theirs/far/link
    cp "$COOP" "$(dirname "$COOP")/coop-mcp" $theirs/
    cp ws/errors.py $theirs/ws/
    as_user() {
        # shellcheck disable=SC2016 # the inner shell's
        unshare -m sh -c 'mount --bind "$2/node" /dev/fuse && user=$1 theirs=$2 && shift 2 && exec setpriv --reuid "$user" --regid "$user" --clear-groups -- env HOME=/nonexistent XDG_STATE_HOME="$theirs/ws" "$theirs/coop" "$@"' \
            sh "$user" "$theirs" "$@" 2>/dev/null
    }
    looks='ls -A /etc /etc/ssl /var; stat -c "%n %F %A %u %g %h %s %b" /etc /var /etc/* /etc/ssl/* /var/*; cd /work; python3 errors.py'
    is "an ordinary user is told as well, and not of what the host refuses" \
        "$(as_user run -w $theirs/ws --json --explain sh -c "cat $file /etc/shadow; ls -l /etc" </dev/null | jq -c '[.denials[].target]')" "[\"$file\"]"
    is "and sees the same" "$(as_user run -w $theirs/ws --explain sh -c "$looks" </dev/null | md5sum)" \
        "$(as_user run -w $theirs/ws sh -c "$looks" </dev/null | md5sum)"
    is "their tools tell too" "$(converse questions as_user mcp -w $theirs/ws | answers)" "3 true true"
    ask "($looks) | md5sum" >questions
    is "and see the same in each box, of a template or not" \
        "$(converse questions as_user mcp -w $theirs/ws | jq -r 'select(.id > 0) | .result.content[0].text' | grep -o '^[0-9a-f]\{32\}' | uniq -c | awk '{ print $1 }')" 3
    ask "cat /etc/far/link; echo there /proc" >questions
    printf '[[sandbox.mounts]]\nsource = "%s"\ntarget = "/etc/far"\nreadonly = true\n' $theirs/far >$theirs/far.toml
    mkdir -m 777 $theirs/ws/sub
    echo secret >$theirs/ws/sub/.env
    printf '[sandbox]\nsame_path = true\n' >$theirs/same.toml
    ask "cat .env; cat ../errors.py; mkdir ../new; mkdir .vscode; f=\$(mktemp made.XXXXXX) && rm \$f && echo there" >questions.same # three at once, so names differ
    is "a workspace at its own path is protected as ever, and what lies beside it is told" \
        "$(converse questions.same as_user mcp -w $theirs/ws/sub --config $theirs/same.toml | jq -r 'select(.id > 0) | .result.content[0].text' |
            grep -oE '^there$|denied by the sandbox: [a-z]* [^:]*|secret|Read-only' | sed "s#$theirs##" | sort | uniq -c | xargs)" \
        "3 Read-only 3 denied by the sandbox: create /ws/new 3 denied by the sandbox: create /ws/sub/.vscode 3 denied by the sandbox: read /ws/errors.py 3 denied by the sandbox: read /ws/sub/.env 3 there"
    is "with the errno that it had" \
        "$(converse questions.same as_user mcp -w $theirs/ws/sub --config $theirs/same.toml | jq -r 'select(.id > 0) | .result.structuredContent.denials[] | select(.op == "create" or .op == "read") | .errno' | xargs)" \
        "13 2 30 13 13 2 30 13 13 2 30 13"
    is "and what lies behind what is mounted there" "$(converse questions as_user mcp -w $theirs/ws --config $theirs/far.toml | answers)" "3 true true"
fi
done_testing
