#!/bin/bash
# learn.t - coop learn: what a command needs is found, written, and proven; nothing else is opened
# fuse: both
# speed: slow
. "$(dirname "$0")/box.sh"

chmod 755 "$T"
mkdir -p "$T/home/.config/tool" "$T/home/.ssh" "$T/state" "$T/out"
export HOME=$T/home XDG_STATE_HOME=$T/state
unset XDG_CONFIG_HOME

learn() { "$COOP" learn -w "$T/ws" -o "$T/learned.toml" "$@" </dev/null >"$T/printed" 2>"$T/said"; }
learned() { cat "$T/learned.toml"; }
# The lines that count.
lines() { grep -v '^ *#' "$T/learned.toml" | grep -v '^$'; }
paths() { sed -nE 's/^    "(.*)",$/\1/p' "$T/learned.toml"; }
# What the suggested policy still refuses.
left() { "$COOP" run --config "$T/learned.toml" --explain=all --json -w "$T/ws" "$@" </dev/null 2>&1 | jq -c '[.denials[].target]'; }

# ---- nothing is needed

status "a command that needs nothing" 0 learn sh -c 'echo x >>runs; echo hello'
is "suggests nothing" "$(lines)" "[sandbox]"
like "and is proven" "$(learned)" '^# Proven: the last of 2 runs used this policy, and nothing was denied\.$'
is "it was run twice" "$(wc -l <ws/runs)" 2
is "what it prints goes where it always goes" "$(cat printed)" "hello
hello"
like "the owner is told before that it runs several times" "$(head -n 1 said)" 'is run several times'
rm ws/runs
status "without a proof" 0 learn --no-prove sh -c 'echo x >>runs'
is "it is run once" "$(wc -l <ws/runs)" 1
like "and the policy says so" "$(learned)" '^# NOT proven: '
is "without --output the policy is what is printed" \
    "$("$COOP" learn -q -w ws sh -c 'echo noise' 2>/dev/null </dev/null | grep -v '^#' | tr -d '\n')" "[sandbox]"
is "with --quiet nothing is said" "$("$COOP" learn -q -o learned.toml -w ws true 2>&1 </dev/null)" ""

# ---- files

mkdir -p "$T/tools/x-1.2/bin" "$T/tools/x-1.2/lib" "$T/etc/many" "$T/data/deep/er"
printf '#!/bin/sh\ncat %s/tools/x-1.2/lib/part\n' "$T" >tools/x-1.2/bin/t
chmod 755 tools/x-1.2/bin/t
echo part >tools/x-1.2/lib/part
echo conf >etc/conf
for i in 1 2 3 4 5; do echo "$i" >"etc/many/$i"; done
echo deep >data/deep/er/file
echo other >data/deep/other

status "a tool outside of the view" 0 learn "$T/tools/x-1.2/bin/t"
is "comes with its tree" "$(paths)" "$T/tools/x-1.2"
like "which says why" "$(learned)" "^    # executed once: $T/tools/x-1.2/bin/t"
is "it ran" "$(tail -n 1 printed)" part
is "and runs under the policy, with nothing refused" "$(left "$T/tools/x-1.2/bin/t")" "[]"

status "a file" 0 learn sh -c "cat $T/etc/conf"
is "is shown alone" "$(paths)" "$T/etc/conf"
is "nothing of it is refused then" "$(left sh -c "cat $T/etc/conf")" "[]"
status "several files of a directory" 0 learn sh -c "cat $T/etc/many/1 $T/etc/many/2 $T/etc/many/3 $T/etc/many/4"
is "are the directory" "$(paths)" "$T/etc/many"
like "with examples" "$(learned)" "^    # read 4 times: $T/etc/many/1, $T/etc/many/2, $T/etc/many/3 and 1 more$"
status "a directory that is listed" 0 learn ls "$T/etc/many"
is "is shown" "$(paths)" "$T/etc/many"
is "with what is in it" "$(tail -n 5 printed | tr '\n' ' ')" "1 2 3 4 5 "
status "directories that are only looked at on the way" 0 learn sh -c "cd $T/data && cd deep && cd er && cat file"
is "are not shown as a whole" "$(paths)" "$T/data/deep/er/file"
status "one thing after the other" 0 learn sh -c "cat $T/etc/conf && cat $T/data/deep/other && cat $T/etc/many/1"
is "is found in several rounds" "$(paths | tr '\n' ' ')" "$T/data/deep/other $T/etc/conf $T/etc/many/1 "
status "too few rounds" 1 learn --rounds 1 sh -c "cat $T/etc/conf && cat $T/data/deep/other"
like "leave a partial policy" "$(learned)" '^# PARTIAL: '

# ---- what is never opened, or with a flag only

echo s >home/.ssh/id_rsa
echo c >home/.config/tool/conf
echo e >data/.env
mkdir -p "$HOME/.config/coop"
echo '[sandbox]' >"$HOME/.config/coop/coop.toml"
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' "$T/data/sock"
chmod -R a+rX home data

not_open="cat ~/.ssh/id_rsa ~/.config/tool/conf $T/data/.env $T/data/sock ~/.config/coop/coop.toml $XDG_STATE_HOME/coop/audit/* 2>/dev/null; ls / /home /proc/1/root $XDG_STATE_HOME/coop/audit; cat ~/.bashrc; :"
learn --home sh -c "$not_open"
is "secrets, dot-files, sockets and coop's own: nothing is suggested" "$(lines)" "[sandbox]"
for path in "$HOME/.ssh/id_rsa" "$HOME/.config/tool/conf" "$T/data/.env" "$T/data/sock" "$HOME/.config/coop/coop.toml" "$XDG_STATE_HOME/coop/audit"; do
    like "but listed: ${path#"$T"/}" "$(learned)" "^#     read $path"
done
unlike "and nothing of it was shown to the command" "$(cat printed)" '^(s|c|e)$'
status "without --home, HOME is the workspace" 0 learn sh -c 'test ~ = /work'
status "dot-files with their flag" 0 learn --with-dotfiles sh -c 'cat ~/.config/tool/conf'
is "are shown" "$(paths)" "$HOME/.config/tool/conf"
like "HOME with them" "$(lines)" "^HOME = \"$HOME\""
is "and the policy holds by itself" "$(left sh -c 'cat ~/.config/tool/conf')" "[]"
learn --with-dotfiles sh -c 'cat ~/.ssh/id_rsa ~/.config/coop/coop.toml; :'
is "a secret is more than a dot-file, and coop's own is never shown" "$(paths)" ""
status "a secret with its flag" 0 learn --with-secrets sh -c "cat $T/data/.env"
is "is shown" "$(paths)" "$T/data/.env"
learn --with-secrets --with-dotfiles --with-writes --with-network sh -c "cat $T/data/sock ~/.config/coop/coop.toml $XDG_STATE_HOME/coop/audit/*; ls -d $T/state; echo >~/.bashrc; :" 2>/dev/null
unlike "with all flags still not: sockets, the log, coop's configuration, shell start-up files" "$(paths)" 'sock|state|coop.toml|bashrc'
not_ok "and no start-up file was written" test -e "$HOME/.bashrc"
touch data/deep/er/{1,2,3,4,5}
echo k >data/deep/er/tls.key
status "a directory with a secret in it" 0 learn sh -c "cat $T/data/deep/er/[1-5] $T/data/deep/er/1 $T/data/deep/er/2 $T/data/deep/er/3 $T/data/deep/er/4 2>/dev/null; ls $T/data/deep/er"
like "is shown without that" "$(lines | tr -d '\n')" "extra_ro_paths = \\[ *\"$T/data/deep/er\",\\]blocked_paths = \\[ *\"$T/data/deep/er/tls.key\",\\]"

echo .env >ws/.env
status "a protected name of the workspace is left" 1 learn sh -c 'cat .env; :'
like "and listed" "$(learned)" "^#     read /work/.env: the name is hidden"

printf '[sandbox]\nblocked_paths = ["/usr/share/misc", "%s"]\n' "$T/etc/conf" >ws/coop.toml
status "what a project's file refuses is left" 1 learn sh -c "cat $T/etc/conf; ls /usr/share/misc; :"
is "and not opened" "$(paths)" ""
rm ws/coop.toml

# ---- writing

status "writing elsewhere" 1 learn sh -c "echo x >$T/out/new; :"
is "is not suggested" "$(lines)" "[sandbox]"
not_ok "and was not done" test -e out/new
like "but listed with its flag" "$(learned)" 'writing outside the workspace: only with --with-writes'
if [ -w out ] && status "with its flag" 0 learn --with-writes sh -c "echo x >$T/out/new"; then
    is "it is" "$(lines | tr -d '\n ')" "[sandbox]extra_rw_paths=[\"$T/out\",]"
    ok "and was done" test -e out/new
fi

# ---- the network

ask='import socket
try: socket.create_connection(("example.org", 8080), 1).close()
except OSError: pass'
status "a host" 1 learn python3 -c "$ask"
is "is not suggested" "$(lines)" "[sandbox]"
like "but listed" "$(learned)" '^#     look up example.org'
learn --with-network python3 -c "$ask"
is "with the flag it is, with its port" "$(lines | tr -d '\n ')" '[sandbox]network="gate"[network]allow=["example.org:8080",]'
is "and nothing is refused then" "$(left python3 -c "$ask")" "[]"
learn --with-network python3 -c 'import socket
for a in ("10.1.2.3", 80), ("169.254.169.254", 80):
    try: socket.create_connection(a, 1)
    except OSError: pass'
is "addresses of private networks and of clouds are not opened by it" "$(lines)" "[sandbox]"
like "they are listed" "$(learned)" '^#     connect to 169.254.169.254:80'

python3 -u -c 'import http.server, socketserver
class H(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *a): pass
s = socketserver.TCPServer(("127.0.0.1", 0), H); print(s.server_address[1]); s.serve_forever()' >port &
server=$!
await test -s port
port=$(cat port)
if command -v git >/dev/null; then
    git init -q --bare repo.git && git -C repo.git update-server-info
    status "git from a server of this machine, by a name that is given" 0 \
        learn --allow "localhost:$port" sh -c "rm -rf clone; git clone -q http://localhost:$port/repo.git clone"
    like "is part of the policy" "$(learned)" "^    \"localhost:$port\",$"
else
    skip "git from a server of this machine" "no git"
fi
kill "$server"
wait "$server" 2>/dev/null

# ---- limits

status "a limit that is reached" 0 learn sh -c 'head -c 600m /dev/zero >/tmp/x'
is "is raised" "$(lines | tr -d '\n')" '[sandbox]tmp_size = "1g" # less was not enough; the default is "512m"'

if [ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -ge 20000 ]; then
    status "open files" 0 learn python3 -c 'import os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
for i in range(18000): os.open("/dev/null", os.O_RDONLY)'
    is "are raised" "$(lines | tr -d '\n')" '[sandbox]open_files = 32768 # less was not enough; the default is 16384'
else
    skip "open files are raised" "the hard limit here is no higher"
fi

# ---- real programs

if command -v gcc >/dev/null; then
    printf '#include <stdio.h>\nint main(void) { return puts("built") < 0; }\n' >ws/a.c
    status "a build with gcc" 0 learn sh -c 'gcc -O1 -o a a.c && ./a'
    is "needs nothing" "$(lines)" "[sandbox]"
else
    skip "a build with gcc" "no gcc"
fi

# ---- the command is not trusted

mkdir evil
evil=$'evil/a\nnetwork = "host"\n#'
echo x >"$evil"
echo x >$'evil/\e[2Jesc'
echo x >$'evil/bad\xff'
echo x >'evil/q"u\o'
echo plain >home/.ssh/plain
ln -s "$HOME/.ssh" evil/link
cat >ws/evil.py <<END
for name in ('a\nnetwork = "host"\n#', '\x1b[2Jesc', b'bad\xff', 'q"u\\\\o', 'link/plain'):
    try: open(b'$T/evil/' + (name if isinstance(name, bytes) else name.encode())).close()
    except OSError: pass
END
learn python3 evil.py
is "names that deceive are not suggested, links are followed, quotes are kept" "$(paths)" "$T/evil/q\\\"u\\\\o"
is "and are no lines of the policy" "$(lines | sed -n 1,2p)" "[sandbox]
extra_ro_paths = ["
unlike "nor escapes" "$(cat learned.toml said)" $'\e'
ok "which can be read" "$COOP" run --config learned.toml -w ws true

mkdir flood
for ((i = 0; i < 600; i++)); do mkdir "flood/$i" && : >"flood/$i/f"; done
status "a flood of paths" 0 learn sh -c "for i in \$(seq 0 599); do read -r x <$T/flood/\$i/f; done 2>/dev/null; :"
is "is one line" "$(paths)" "$T/flood"

ln -s "$T/victim" ws/link.toml
status "a name that the command makes where the policy goes" 0 \
    "$COOP" learn -q -w ws -o ws/policy.toml -- sh -c 'ln -sf link.toml policy.toml'
not_ok "is not followed" test -e victim
ok "but replaced" test ! -L ws/policy.toml
rm ws/policy.toml

# ---- commands that fail, hang or are interrupted

status "a command that fails" 1 learn sh -c "cat $T/etc/conf; exit 3"
like "leaves a partial policy" "$(learned)" '^# PARTIAL: .* exit status 3\.$'
is "with what it needed" "$(paths)" "$T/etc/conf"
status "one that takes too long" 1 learn --timeout 300ms sh -c "cat $T/etc/conf; sleep 60"
like "leaves a partial policy" "$(learned)" '^# PARTIAL: .* did not finish within the timeout\.$'
is "with what it needed" "$(paths)" "$T/etc/conf"
rm -f ws/up
"$COOP" learn -w ws -o learned.toml sh -c "cat $T/etc/conf; touch up; sleep 60" </dev/null >printed 2>said &
pid=$!
await test -e ws/up
kill -TERM $pid
wait $pid
is "one that is interrupted" "$?" 1
like "leaves a partial policy" "$(learned)" '^# PARTIAL: .* it was interrupted\.$'
is "with what it needed" "$(paths)" "$T/etc/conf"
status "a program that is not there" 125 learn no-such-program
status "no command" 125 learn
like "is told" "$(cat said)" 'the command is missing'

is "nothing is left but the policy" "$(find "$T" -maxdepth 2 -name '.coop-learn*')" ""
like "each run is in the audit log" "$("$COOP" audit --json 2>&1)" 'exit 3'
done_testing
