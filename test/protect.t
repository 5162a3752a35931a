#!/bin/bash
# Protected paths: what usually holds secrets cannot be read, what makes the owner's tools run something
# cannot be written, nothing is left behind, and git goes on working.
# needs: nodejs
# speed: slow
. "$(dirname "$0")/box.sh"
export HOME="$T/home" XDG_CACHE_HOME="$T/cache" GIT_CONFIG_NOSYSTEM=1
mkdir home
git config --global user.name tester
git config --global user.email tester@example.org
git config --global init.defaultBranch main
git config --global protocol.file.allow always
git config --global advice.detachedHead false
ME=(-e GIT_AUTHOR_NAME=box -e GIT_AUTHOR_EMAIL=box@example.org -e GIT_COMMITTER_NAME=box -e GIT_COMMITTER_EMAIL=box@example.org)
box() { local w=$1; shift; "$COOP" run -q -w "$w" "${ME[@]}" "$@" </dev/null; }
old() { touch -h -d '2020-01-02 03:04:05.678' "$@"; } # git compares content where a file is as young as its index

# Everything about a tree that a look, a box or its end could change.
cat >snapshot.py <<'END'
import os, sys
for directory, names, files in os.walk(sys.argv[1]):
    names.sort()
    for name in sorted(names + files) + ["."]:
        path = os.path.join(directory, name)
        st = os.lstat(path)
        print(path, st.st_ino, oct(st.st_mode), st.st_size, st.st_mtime_ns, st.st_ctime_ns, st.st_nlink, st.st_uid,
              sorted((x, os.getxattr(path, x, follow_symlinks=False)) for x in os.listxattr(path, follow_symlinks=False)))
END
snapshot() { python3 "$T/snapshot.py" "$1"; }
private_key() { printf -- '-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----\n'; }
certificate() { printf -- '-----BEGIN CERTIFICATE-----\nMIIDdz\n-----END CERTIFICATE-----\n'; }

# ---- what is hidden, and what is not

mkdir -p ws/a/b ws/certs ws/.env.d ws/secret ws/node_modules/p ws/app/vendor/q ws/any/lib/python3/site-packages/r
hidden=(.env .env.local .env.production a/.env a/b/.env.test credentials.json a/credentials.json my-secret.yaml
    a/secrets a/b/db_password.txt passwords.json deploy.pem master.key a/token.key a/raw.pem secret/.env)
shown=(.env.example .env.sample a/.env.template .env.production.example a/secret.pub secret.py a/password_reset.html
    src-secret.go reset-password.tsx secret-tool libsecret.so.1.2 secret/notes.txt ca.pem certs/public.key env credentials.jsonl
    .env.d/x node_modules/p/.env node_modules/p/server.key app/vendor/q/secret.txt any/lib/python3/site-packages/r/cacert.pem
    any/lib/python3/site-packages/r/.env)
for file in "${hidden[@]}" "${shown[@]}"; do echo "content of $file" >"ws/$file"; done
private_key >ws/deploy.pem
{ certificate; private_key; } >ws/a/raw.pem
certificate | tee ws/ca.pem ws/any/lib/python3/site-packages/r/cacert.pem >/dev/null
printf -- '-----BEGIN PUBLIC KEY-----\nMFkw\n-----END PUBLIC KEY-----\n' >ws/certs/public.key
printf '#!/bin/sh\n' >ws/secret-tool && chmod +x ws/secret-tool
run sh -c 'for f; do if cat "$f" >/dev/null 2>"/tmp/why"; then echo "shown $f"; else
    grep -q "Permission denied" /tmp/why && echo "hidden $f"; fi; done' - "${hidden[@]}" "${shown[@]}" >told
is "hidden, each with EACCES" "$(sed -n 's/^hidden //p' told)" "$(printf '%s\n' "${hidden[@]}")"
is "and nothing else" "$(sed -n 's/^shown //p' told)" "$(printf '%s\n' "${shown[@]}")"
is "outside all can be read" "$(for f in "${hidden[@]}"; do cat "ws/$f" >/dev/null || echo "$f"; done)" ""
is "--no-protect lifts it" "$(run --no-protect cat .env)" "content of .env"
printf '[sandbox]\nenabled = true\n[[users]]\nname = "bob"\ntrust = "full"\nmatch = ["signal:+2"]\n' >people.toml
for option in --no-protect --unprotect=.env; do
    status "$option is not for others than the owner" 125 run --config people.toml --as signal:+2 "$option" true
done
like "the message says who may use --no-protect" "$(run --config people.toml --as signal:+2 --no-protect true 2>&1)" "--no-protect is for the owner only, and 'signal:\+2' has the trust 'full'"
ok "--protect is for everybody" run --config people.toml --as signal:+2 --protect x true
is "--unprotect makes an exception" "$(run --unprotect .env cat .env)" "content of .env"
refused "and only the one" run --unprotect .env cat a/.env
refused "--protect hides more" run --protect 'a/*.html' cat a/password_reset.html
refused "--protect hides a directory with all in it" run --protect certs ls certs
refused "--protect holds in dependency trees too" run --protect '**/node_modules/*/server.key' cat node_modules/p/server.key
refused "--protect holds where a built-in rule does not apply" run --protect '**/*.p?m' cat ca.pem
refused "--protect-ignore-case" run --protect 'CA.PEM' --protect-ignore-case cat ca.pem
is "what is protected can be read" "$(run --protect-write ca.pem cat ca.pem)" "$(cat ws/ca.pem)"
refused "but not written" run --protect-write ca.pem sh -c 'echo x >>ca.pem'
like "a wrong pattern is named" "$(run --protect 'a[' true 2>&1)" "pattern 'a\['"
like "coop plan says what is hidden by which rule" "$("$COOP" plan -w ws true)" "hide 'a/b/db_password.txt' \(built-in default: \*\*/\*password\*\)"
like "the result says what holds it" "$(run --json true)" '"protected": "mounts'
is "--no-protect: nothing does" "$(run --no-protect --json true | python3 -c 'import json, sys; print(json.load(sys.stdin)["enforced"]["protected"])')" None

# ---- detours

ln ws/.env ws/hard && ln -s .env ws/soft && mkdir ws/conf ws/linked && echo real >ws/conf/real && ln -s ../conf/real ws/linked/.env
ln ws/a/.env ws/node_modules/p/hard
for path in hard soft conf/real linked/.env node_modules/p/hard /proc/self/cwd/.env /proc/self/root/work/.env /proc/1/cwd/.env \
    /proc/1/root/work/.env a/../.env ./.env /work//.env /proc/thread-self/cwd/a/b/.env.test; do
    refused "cannot be read as $path" run cat "$path"
done
refused "nor through a descriptor of the directory" run sh -c 'exec 3<.; cat /proc/self/fd/3/.env'
refused "nor when it is opened without reading first" run python3 -c 'import os; fd = os.open(".env", os.O_PATH); open("/proc/self/fd/%d" % fd).read()'
refused "it cannot be moved" run mv .env x
refused "nor linked" run ln .env x
refused "nor removed" run rm -f .env
refused "nor opened to all" run chmod 644 .env
refused "nor replaced" run sh -c 'echo x >x; mv -f x .env'
refused "nor by root inside" run --uid 0 cat .env
is "a pattern with wildcards can be taken back" "$(run --protect-write 'certs/*' --unprotect 'certs/*' sh -c 'cat certs/public.key >/tmp/k; cat /tmp/k >certs/public.key && echo written' 2>&1)" written
refused "by nothing before it" run --unprotect 'certs/*' --protect-write 'certs/*' sh -c 'echo x >certs/public.key'
mkdir -p ws/docs/old ws/cabinet && echo x | tee ws/docs/ok.txt ws/docs/a.txt ws/docs/old/x ws/cabinet/public.txt ws/cabinet/x >/dev/null
most=(--protect-write 'docs/*' --unprotect docs/ok.txt --unprotect docs/new --unprotect 'docs/old')
is "the most specific wins: an exception in a pattern with wildcards" "$(run "${most[@]}" sh -c 'echo y >docs/ok.txt && mkdir docs/new && echo y >docs/new/x && echo y >docs/old/x && mv docs/old/x docs/new/y && rm -r docs/new && cat docs/ok.txt')" y
for act in 'echo x >docs/a.txt' 'echo x >docs/b.txt' 'mkdir docs/b' 'mv docs/ok.txt docs/b' 'ln docs/ok.txt docs/b' 'ln -s ok.txt docs/b' 'mv docs other' \
    'mkdir pre && echo x >pre/b && mv docs/old away && mv pre docs/old2' 'mv docs/a.txt docs/new'; do
    refused "and nothing but the exception: $act" run "${most[@]}" sh -c "$act"
done
rm -rf ws/away ws/pre ws/docs/old && mkdir ws/docs/old
run --protect-write '**/gen/*' --unprotect from/gen/ok sh -c 'mkdir -p from/gen to && echo x >from/gen/ok && mv from/gen to/gen' 2>/dev/null
is "what an exception let be made is not moved to where there is none" "$(find ws/from ws/to -type f)" ws/from/gen/ok
rm -rf ws/from ws/to
refused "an exception in a directory that is hidden is none" run --protect 'cabinet/**' --unprotect cabinet/public.txt cat cabinet/public.txt
refused "nor if it is hidden by its name" run --protect cabinet --unprotect cabinet/public.txt cat cabinet/public.txt
is "it is one in what is hidden by itself" "$(run --protect 'cabinet/*' --unprotect cabinet/public.txt sh -c 'cat cabinet/public.txt; cat cabinet/x 2>/dev/null')" x
echo x >ws/afile
is "a pattern for directories says nothing of a file" "$(run --protect-write 'afile/' sh -c 'echo y >afile && cat afile')" y
refused "but no file is made where a directory could not be" run --protect-write 'absent/' sh -c 'echo x >absent'
refused "nor one in a directory that is kept" run --protect-write docs --unprotect docs/ok.txt sh -c 'echo x >docs/ok.txt'
ln -s ../ca.pem ws/docs/link && ln -s nowhere ws/docs/gone
for act in 'rm docs/link' 'mv docs/link x' 'ln -sfn x docs/gone' 'rm docs/gone'; do
    refused "a link whose name is kept stays: $act" run --protect-write 'docs/*' sh -c "$act"
done
is "and leads where it led" "$(run --protect-write 'docs/*' cat docs/link)" "$(cat ws/ca.pem)"
git init -q ws/docs/repo
for pattern in docs/repo/.git '**/.git' 'docs/**'; do
    refused "a git directory can be hidden, by $pattern" run --protect "$pattern" cat docs/repo/.git/HEAD
    refused "or kept" run --protect-write "$pattern" rm docs/repo/.git/HEAD
done
ok "else it can be removed" run rm -r docs/repo
refused "built-in exceptions are for reading" run --protect-write '**/*' sh -c 'echo x >new.pub'
refused "a link to it stays what it is" run rm linked/.env
refused "and where it is" run mv linked/.env x
refused "nor is it replaced" run ln -sfn elsewhere linked/.env
run sh -c 'rm -rf linked; rm -f soft' 2>/dev/null
refused "so the next box does not read what it led to" run cat conf/real
refused "moving the directory does not help" run sh -c 'mv a moved 2>/dev/null; cat moved/.env || cat a/.env'
is "and all is in its place" "$(cat ws/.env; [ -e ws/a/.env ] && cat ws/a/.env || cat ws/moved/.env)" $'content of .env\ncontent of a/.env'
rm -f ws/hard ws/node_modules/p/hard ws/x; [ ! -e ws/moved ] || mv ws/moved ws/a

refused "seen through another mount, it is hidden too" run --ro "$T/ws:/other" cat /other/.env
refused "and through a mount of what the workspace is in" run --ro "$T:/above" cat /above/ws/a/.env
refused "and through one of a part" run --ro "$T/ws/a:/part" cat /part/b/db_password.txt
is "what is mounted over it is seen" "$(mkdir over && echo over >over/.env && run --ro "$T/over/.env:/work/a/.env" cat a/.env)" over
refused "unless its own name is hidden" run --ro "$T/over:/work/a" cat a/.env

mkdir ws/closed && echo closed >ws/closed/.env
if real_root; then chown 12345 ws/closed; fi
chmod 0 ws/closed
refused "what is in a directory that cannot be searched is hidden too" run sh -c 'chmod 700 closed; cat closed/.env'
chmod 700 ws/closed && rm -r ws/closed

# ---- ordinary projects

is "a CA bundle can be loaded" "$(cp /etc/ssl/certs/ca-certificates.crt ws/bundle.pem && run python3 -c '
import ssl
print(len(ssl.create_default_context(cafile="bundle.pem").get_ca_certs()) > 10)')" True
# TLS on the box's own loopback, by certificates of the project: a bundle in it, and one among dependencies.
mkdir tls ws/node_modules/ca && (cd tls &&
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=ca -keyout ca.key -out ca.pem &&
    openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout server.key -out server.csr &&
    printf 'subjectAltName=DNS:localhost\n' >names &&
    openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out server.pem) >/dev/null 2>&1
cp tls/server.pem ws/server.pem && cat tls/ca.pem >>ws/bundle.pem && cp tls/ca.pem ws/node_modules/ca/cacert.pem
cat >ws/tls.js <<'END'
const fs = require("fs"), https = require("https");
const server = https.createServer({ key: fs.readFileSync("/key"), cert: fs.readFileSync("server.pem") }, (q, a) => a.end("hello"));
server.listen(0, "127.0.0.1", () => {
    const options = { host: "127.0.0.1", port: server.address().port, servername: "localhost" };
    if (process.argv[2]) options.ca = fs.readFileSync(process.argv[2]);
    https.get(options, (a) => { a.on("data", (d) => console.log(String(d))); a.on("end", () => server.close()); })
        .on("error", (e) => { console.log(e.code); server.close(); });
});
END
cat >ws/tls.py <<'END'
import socket, ssl, sys, threading
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("server.pem", "/key")
listener = socket.create_server(("127.0.0.1", 0))
def serve():
    with context.wrap_socket(listener.accept()[0], server_side=True) as s: s.sendall(b"hello")
threading.Thread(target=serve, daemon=True).start()
client = ssl.create_default_context(cafile=sys.argv[1])
with client.wrap_socket(socket.create_connection(listener.getsockname()), server_hostname="localhost") as s: print(s.recv(9).decode())
END
for bundle in bundle.pem node_modules/ca/cacert.pem; do
    is "TLS from Python, by $bundle" "$(run --ro "$T/tls/server.key:/key" python3 tls.py $bundle 2>&1)" hello
    if command -v node >/dev/null; then
        is "TLS from Node, by $bundle" "$(run --ro "$T/tls/server.key:/key" node tls.js $bundle 2>&1)" hello
        is "TLS from Node, by $bundle in its environment" \
            "$(run --ro "$T/tls/server.key:/key" -e NODE_EXTRA_CA_CERTS=$bundle node tls.js 2>&1)" hello
    else
        skip "TLS from Node, by $bundle" "no node"
    fi
done
if command -v node >/dev/null; then
    like "and without one it is refused" "$(run --ro "$T/tls/server.key:/key" node tls.js 2>&1)" "UNABLE_TO|SELF_SIGNED"
fi
ok "rm -rf node_modules" run rm -rf node_modules
is "it is gone" "$(ls -d ws/node_modules 2>/dev/null)" ""
is "what a box makes it can read, whatever it is called" "$(run sh -c 'echo new >c.key; cat c.key; rm c.key')" new

# ---- nothing is left behind

mkdir fp && cd fp || exit 1
git init -q && mkdir -p src/.vscode .claude && echo s >.env && echo s >src/.env && echo c >.claude/settings.json
git add -A && git commit -qm one && git remote add origin https://user:token@example.org/x.git
ln -s .env link && python3 -c 'import os; os.setxattr(".env", "user.mark", b"1")' 2>/dev/null
cd ..
attempts='cat .env; echo x >.envrc; mkdir .vscode .git/hooks/x; echo x >.git/hooks/pre-commit; mv .git .g; rm -rf .claude .env; chmod 777 .env
    echo x >>.claude/settings.json; ln .env y; git --no-optional-locks status; mkdir .config/fish; touch .bashrc; ln -s x .idea'
snapshot fp >before
box fp sh -c "$attempts" >/dev/null 2>&1
snapshot fp >after
is "nothing changed on the host after all this was refused" "$(diff before after)" ""
for ms in 1 2 3 4 6 8 12 16 24 40; do
    (timeout -s KILL "0.0$(printf %02d $ms)" "$COOP" run -w fp sh -c "$attempts; sleep 60" </dev/null) >/dev/null 2>&1
done 2>/dev/null
await bash -c "! grep -qs -F -e '$T/fp' /proc/[0-9]*/mountinfo"
snapshot fp >after
is "nor after SIGKILL at ten moments" "$(diff before after)" ""
unlike "no mount of it stays on the host" "$(cat /proc/self/mountinfo)" "$T/fp"

# ---- many

mkdir many && python3 -c '
import os
for i in range(100):
    os.makedirs("many/d%d" % i)
    for j in range(100):
        with open("many/d%d/.env.%d" % (i, j), "w") as f: f.write("x")'
is "10,000 of them are hidden" "$(box many sh -c 'cat d*/.env.* 2>/dev/null | wc -c; ls d*/.env.* | wc -l')" $'0\n10000'
is "and the box works" "$(box many sh -c 'echo made >d7/x; cat d7/x')" made

# ---- what lies on the way to a secret stays: the next box would know of none

broken() { # WHAT SHELL-TEXT: a box breaks the way to `real`, if it can; then another one reads
    box way sh -c "$2" >/dev/null 2>&1
    is "$1" "$(find way -name real | while read -r f; do box way cat "${f#way/}" 2>/dev/null; done)" ""
    rm -rf way
}
mkdir -p way/d && echo secret >way/d/real && ln -s d way/e && ln -s e/real way/.env
broken "a link in the place of a directory" 'rm e; mkdir e; mv e f; ln -sfn nowhere e'
mkdir -p way/d/sub && echo secret >way/d/real && ln -s d/sub/../real way/.env
broken "a directory that is left again" 'mv d/sub d/other; rmdir d/sub; rm -r d/sub'
mkdir -p way/x/sub && echo secret >way/real && ln -s x/sub/../../real way/.env
broken "and the one that holds it" 'mv x y; mv x/sub x/y; rmdir x/sub x; rm -r x'
mkdir -p way/d && echo secret >way/d/real && ln -s "$T/way/e/real" way/.env && ln -s d way/e
broken "by the host's own path" 'rm e; mv e f'
mkdir -p way/p/q && echo secret >way/real && ln -s ../../real way/p/q/.env
is "what holds the link itself needs no holding" "$(box way sh -c 'echo x >p/q/f && mv p/q/f f && ln f p/q/g && echo moved')" moved
broken "and stays all the same" 'mv p/q p/r; mv p z'
mkdir -p way/d/store/hooks && : >way/d/store/config && ln -s d way/e && ln -s e/store way/.git
box way sh -c 'rm e; mv e f; mkdir -p e/store/hooks; echo evil >e/store/hooks/pre-commit' >/dev/null 2>&1
is "the way to git's directory" "$(readlink way/e; find way -name pre-commit)" d
rm -rf way

# ---- large trees are remembered, and changes seen

rm -rf cache
mkdir big && python3 -c '
import os
for i in range(60):
    for j in range(40):
        os.makedirs("big/p%d/q%d" % (i, j))
with open("big/p3/q5/.env", "w") as f: f.write("x")
with open("big/p9/ca.pem", "w") as f: f.write("-----BEGIN CERTIFICATE-----\n")'
find big -exec touch -h -d '2020-01-01' {} +
seen() { box big sh -c 'cat "$1" 2>&1' - "$1" | grep -q 'Permission denied' && echo hidden || echo shown; }
is "in a large tree" "$(seen p3/q5/.env)" hidden
await 20 python3 -c '
import os, sys, time
sys.exit(time.time() - max(os.lstat(os.path.join(d, n)).st_ctime for d, ns, fs in os.walk("big") for n in ns + ["."]) < 3)'
is "again" "$(seen p3/q5/.env)" hidden
is "it is remembered outside" "$(find cache/coop -name 'scan-*' | wc -l)" 1
is "from memory" "$(seen p3/q5/.env)" hidden
echo new >big/p4/q4/.env && touch -d 2020-01-01 big/p4/q4 big/p4/q4/.env
is "a new one is seen, whatever its times say" "$(seen p4/q4/.env)" hidden
mkdir big/p4/new && echo new >big/p4/new/.env && touch -d 2020-01-01 big/p4/new/.env big/p4/new big/p4
is "in a new directory too" "$(seen p4/new/.env)" hidden
mv big/p3 big/p3moved
is "in a moved one too" "$(seen p3moved/q5/.env)" hidden
is "a certificate is shown" "$(seen p9/ca.pem)" shown
private_key >big/p9/ca.pem && touch -d 2020-01-01 big/p9/ca.pem
is "until a key is in it" "$(seen p9/ca.pem)" hidden
for file in cache/coop/scan-*; do dd if=/dev/urandom of="$file" bs=1 count=64 seek=200 conv=notrunc 2>/dev/null; done
is "a damaged memory is none" "$(seen p4/new/.env)" hidden
for file in cache/coop/scan-*; do truncate -s 100 "$file"; done
is "a torn one neither" "$(seen p4/new/.env)" hidden

# ---- git

git_project() { # DIRECTORY: two commits, a hidden file that is tracked, one that is not
    git init -q "$1" && (
        cd "$1" && echo S=1 >.env && mkdir sub && echo x >sub/db_password.txt && echo one >file && old .env sub/* file &&
            git add -A && git commit -qm one && echo two >>file && git commit -qam two && git branch topic HEAD~1 &&
            echo untracked >untracked-secret.txt && old untracked-secret.txt && git status >/dev/null)
}
git_project proj
g=0
git_works() { # NAME WORKSPACE [OPTIONS]
    local name=$1 w=$2
    shift 2
    g=$((g + 1))
    set -- "$@" -e G=$g
    is "$name: status is clean" "$(box "$w" "$@" git status --porcelain)" ""
    ok "$name: add -A" box "$w" "$@" git add -A
    is "$name: nothing hidden was added or lost" "$(git -C "$w" diff --cached --name-only)" ""
    ok "$name: commit" box "$w" "$@" sh -ec 'echo new >new$G; git add new$G; git commit -qm new$G; git log --oneline | grep new$G'
    ok "$name: commit -a" box "$w" "$@" sh -ec 'echo more >>new$G; git commit -qam more'
    ok "$name: stash" box "$w" "$@" sh -ec 'echo x >>file; git stash; git stash pop; git checkout -q file'
    ok "$name: branch, checkout, merge" box "$w" "$@" sh -ec 'git branch a$G; git checkout -q -b b$G; echo b >b$G; git add b$G; git commit -qm b
        git checkout -q -; git merge -q b$G; git branch -d b$G'
    ok "$name: rebase" box "$w" "$@" sh -ec 'git checkout -q -b r$G HEAD~1; echo r >r$G; git add r$G; git commit -qm r; git rebase -q a$G; git checkout -q -'
    ok "$name: reset, tag, fsck" box "$w" "$@" sh -ec 'git tag t$G; git reset -q --hard HEAD; git fsck 2>/dev/null'
    is "$name: status is clean at the end" "$(box "$w" "$@" git status --porcelain)" ""
    is "$name: and outside" "$(git -C "$w" status --porcelain | grep -v '^?? ')" ""
    refused "$name: no hook" box "$w" "$@" sh -c 'echo x >"$(git rev-parse --git-path hooks)/pre-commit"'
    refused "$name: hooks do not come by moving" box "$w" "$@" sh -c 'd=$(git rev-parse --git-common-dir) && mkdir h && echo x >h/pre-commit &&
        { mv "$d/hooks" "$d/h" && mv h "$d/hooks"; }'
    rm -rf "$w/h"
}
git_works "plain clone" proj
refused "plain clone: the hidden file stays hidden" box proj cat .env
is "what the policy tells git stays" "$(box proj -e GIT_CONFIG_COUNT=1 -e GIT_CONFIG_KEY_0=user.name -e GIT_CONFIG_VALUE_0=mine \
    sh -c 'git config user.name; git config core.checkStat')" $'mine\nminimal'
is "nothing hidden, nothing told" "$(mkdir -p none && git init -q none && box none env | grep GIT_CONFIG)" ""

git -C proj config remote.origin.url https://user:tok3n@example.org/x.git
git -C proj config http.https://example.org/.extraheader 'Authorization: Basic c2VjcmV0'
is "credentials in .git/config are not shown" "$(box proj cat .git/config | grep -cE 'tok3n|c2VjcmV0')" 0
is "the rest of it is" "$(box proj git config remote.origin.url)" "https://REDACTED@example.org/x.git"
refused "nor can it be reached otherwise" box proj sh -c 'cp .git/config x; mv .git/config y; grep tok3n x y .git/config'
is "outside it is whole" "$(git -C proj config remote.origin.url)" https://user:tok3n@example.org/x.git
rm -f proj/x

git_project main && git -C main worktree add -q ../linked topic && (cd linked && echo S >.env.local && old .env .env.local file sub/* && git status >/dev/null)
git_works "linked worktree" linked
git_works "linked worktree, same path" linked --same-path
is "linked worktree: its own git directory does not come apart" "$(box linked git worktree prune -v; git -C main worktree list | wc -l)" 2
refused "linked worktree: the main work tree is not shown" box linked ls "$T/main/file"
refused "linked worktree: its .git stays" box linked sh -c 'echo gitdir: /tmp/x >.git'

git_project part && git init -q super && (cd super && git submodule --quiet add "$T/part" lib && git commit -qm super &&
    cd lib && old file .env sub/* && git status >/dev/null && git branch topic HEAD~1)
git_works "submodule as workspace" super/lib
(cd super && echo one >file && git add -A && git commit -qm more)
git_works "repository with a submodule" super
ok "commit in the submodule from above" box super sh -ec 'cd lib; echo z >z; git add z; git commit -qm z; cd ..; git add lib; git commit -qm lib'
refused "no hook in the submodule's git directory" box super sh -c 'mkdir -p .git/modules/lib/hooks; echo x >.git/modules/lib/hooks/pre-commit'

mkdir bare && git clone -q --bare part bare/.bare && (cd bare && echo 'gitdir: ./.bare' >.git && git worktree add -q tree main &&
    cd tree && old .env file sub/* && git status >/dev/null)
git_works "worktree of a bare repository" bare/tree
ok "bare with worktrees as workspace" box bare sh -ec 'cd tree && git status && git log'
git_project within && git -C within worktree add -q wt topic
ok "a worktree inside the workspace" box within sh -ec 'cd wt && git status && git log'
refused "no hook in it" box bare sh -c 'mkdir -p .bare/hooks; echo x >.bare/hooks/pre-commit'
refused "it cannot be moved away" box bare mv .bare b

mkdir outer && git init -q outer && git_project outer/inner
refused "no hook in a repository inside" box outer sh -c 'echo x >inner/.git/hooks/pre-commit'
refused "nor its configuration" box outer sh -c 'echo x >>inner/.git/config'
ok "git works in it" box outer sh -ec 'cd inner; git --no-optional-locks status; echo z >z; git add z; git commit -qm z'
ok "and it can be removed" box outer sh -ec 'rm -rf inner/.git/hooks inner/.git/config inner/.git/objects'
refused "but not made anew with hooks" box outer sh -c 'mkdir -p inner/.git/hooks && echo x >inner/.git/hooks/pre-commit'

is "what already exists is no attempt to make it" "$(box outer sh -c 'mkdir -p .git/hooks && echo made' 2>&1)" made
is "nor is it recorded" "$("$COOP" run -w outer --json mkdir -p .git/hooks | python3 -c 'import json, sys; print(json.load(sys.stdin)["denials"])')" "[]"
refused "in it nothing is made" box outer mkdir -p .git/hooks/x
like "nor is mkdir alone told anything else" "$(box outer mkdir .git/hooks 2>&1)" "File exists"

# A git directory of any name: a bare repository inside, as the workspace itself, or a .git that is the workspace.
mkdir roof && git init -q --bare roof/depot && git init -q --bare bareroot && git init -q asgit && echo s=1 >bareroot/.env
for repository in roof:depot bareroot:. asgit/.git:.; do
    tree=${repository%:*} inside=${repository#*:}
    refused "no hook in a bare repository: $repository" box "$tree" sh -c "mkdir -p $inside/hooks; echo x >$inside/hooks/post-receive"
    refused "nor its configuration: $repository" box "$tree" sh -c "echo x >>$inside/config"
    isnt "nor by git itself: $repository" "$(box "$tree" sh -c "git -C $inside config core.fsmonitor x" 2>/dev/null; echo $?)" 0
    ok "git works in it: $repository" box "$tree" sh -ec "cd $inside; git config gc.auto 0; git rev-parse --git-dir; git update-ref refs/x \$(echo | git hash-object -w --stdin)"
    is "nothing was written: $repository" "$(test ! -e "$tree/$inside/hooks/post-receive"; echo $?; grep -c fsmonitor "$tree/$inside/config")" $'0\n0'
    like "coop why knows: $repository" "$("$COOP" why -w "$tree" write "$inside/hooks/x" 2>&1 | head -n 1)" ^denied
done
refused "what only looks like a git directory uncovers nothing" box bareroot cat .env
refused "a bare repository cannot be moved away" box roof mv depot d
mkdir -p around/app/objects && echo s=1 >around/app/objects/.env && box around sh -c 'touch app/HEAD && mkdir app/refs'
refused "nor does a git directory that a box has made around it" box around cat app/objects/.env
git -C main push -q ../roof/depot HEAD:refs/heads/fix-password && ok "a branch may be called anything" box roof git -C depot log fix-password
git_project beside && mkdir -p beside/sub && git init -q --bare beside/sub/depot && echo s=1 >beside/sub/.env
ok "what is hidden beside one is not in git's way" box beside sh -ec 'git add -A . ":!sub/depot"; git commit -qm x --allow-empty'

# A .git file is anybody's: it brings along nothing that does not point back.
mkdir -p hostile home/.ssh fake/.git/worktrees/x/sub && echo key >home/.ssh/id && git init -q victim && git -C victim commit -q --allow-empty -m x
for dir in "$HOME/.ssh" "$T/victim/.git" "$T/main/.git/worktrees/linked" ../victim/.git "$T/home" / "$T/no/such"; do
    echo "gitdir: $dir" >hostile/.git
    is "gitdir: ${dir#"$T"/} brings nothing along" "$(box hostile sh -c 'ls -d "$@" 2>/dev/null' - "$T/victim" "$T/main" "$HOME/.ssh" "$T/home" /main /victim)" ""
done
mkdir -p hostile/g && printf '%s\n' "$T/victim/.git" >hostile/g/commondir && printf '%s\n' "$T/hostile/.git" >hostile/g/gitdir
echo "gitdir: $T/hostile/g" >hostile/.git
is "nor does one inside that names another" "$(box hostile sh -c 'ls -d "$1" 2>/dev/null' - "$T/victim")" ""

# ---- the workspace, or a part of it, shown twice

mkdir -p twice/conf twice/node_modules && git init -q twice && rm -rf twice/.git/hooks && echo x=1 >twice/conf/.env && echo plain >twice/file
for mount in "$T/twice:/data" "$T/twice/.git:/g" "$T:/all"; do
    at=${mount#*:}
    case $mount in *.git:*) hooks=$at/hooks ;; "$T:"*) hooks=$at/twice/.git/hooks ;; *) hooks=$at/.git/hooks ;; esac
    refused "$at: no hooks directory at $hooks" box twice --rw "$mount" mkdir "$hooks"
    refused "$at: nor in the workspace" box twice --rw "$mount" mkdir .git/hooks
    refused "$at: nor by a magic link" box twice --rw "$mount" mkdir /proc/self/cwd/.git/hooks
    ok "$at: other files can be made" box twice --rw "$mount" sh -c "echo made >'$at/made' && rm '$at/made'"
done
is "and outside there is none" "$(find twice -name hooks)" ""
refused "a secret is hidden there too" box twice --ro "$T/twice:/data" cat /data/conf/.env
refused "and in a part" box twice --ro "$T/twice/conf:/c" cat /c/.env
is "a single file is shown as asked" "$(box twice --ro "$T/twice/file:/run/x" cat /run/x)" plain

# What is hidden must not be carried to where the next box would read it.
refused "a directory with something hidden stays" box twice mv conf node_modules/conf
refused "nor by exchange" box twice python3 -c 'import ctypes; l = ctypes.CDLL(None); raise SystemExit(l.renameat2(-100, b"conf", -100, b"node_modules", 2) != 0)'
ok "others can be moved" box twice sh -c 'mkdir a b && mv a b/ && rmdir b/a b'
is "it is where it was" "$(cat twice/conf/.env)" x=1

# ---- what writes git's configuration, harmlessly

git init -q dep && (cd dep && echo dep >dep && git add dep && git commit -qm dep)
git init -q parent && (cd parent && mkdir a b && echo 1 >a/f && echo 2 >b/f && git add . && git commit -qm one &&
    git submodule --quiet add "$T/dep" dep && git commit -qm sub)
git clone -q parent child
allow_file=(-e GIT_CONFIG_COUNT=1 -e GIT_CONFIG_KEY_0=protocol.file.allow -e GIT_CONFIG_VALUE_0=always)
is "submodule update --init" "$(box child --same-path --ro "$T/dep" "${allow_file[@]}" sh -c 'git submodule --quiet update --init && cat dep/dep' 2>&1)" dep
is "and no hooks came along" "$(find child/.git/modules -name hooks)" ""
is "sparse-checkout" "$(box child --same-path sh -c 'git sparse-checkout set a && ls -d a b 2>/dev/null')" a
is "config user.name" "$(box child sh -c 'git config user.name inside && git config user.name')" inside
ok "remote add" box child git remote add up https://example.org/x.git
refused "core.hooksPath is not harmless" box child git config core.hooksPath /tmp/x
refused "nor is an alias" box child git config alias.x '!sh'
mkdir fresh
is "git init in an empty workspace" "$(box fresh sh -c 'git init -q . && git config user.name x && git commit -q --allow-empty -m x && git log --format=%s')" x
is "without hooks" "$(ls fresh/.git/hooks 2>/dev/null)" ""

# ---- sockets have names too

bind='import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); c = socket.socket(socket.AF_UNIX); c.connect(sys.argv[1])'
for name in .vscode .git/hooks /work/.envrc; do
    refused "no socket called $name" box twice python3 -c "$bind" "$name"
done
ok "but others" box twice python3 -c "$bind" conf/a.sock
ok "also by a long way" box twice sh -ec 'd=$(printf %0120d 0); mkdir $d; cd $d; python3 -c "$1" b.sock' - "$bind"
ok "and outside of the workspace" box twice python3 -c "$bind" /tmp/c.sock
done_testing
