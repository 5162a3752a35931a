#!/bin/bash
# Protected names in directories that are mounted beside the workspace.
. "$(dirname "$0")/box.sh"

export HOME=$T/home XDG_CONFIG_HOME=$T/home/.config XDG_STATE_HOME=$T/state XDG_CACHE_HOME=$T/cache
mkdir -p home ws/o
key=$(printf -- '-----BEGIN OPENSSH PRIVATE KEY-----\nTOPSECRET\n-----END OPENSSH PRIVATE KEY-----')
make_other() { # a repository with secrets, as a sibling of the workspace
    rm -rf other && mkdir -p other/sub/deep other/src && git init -q other
    echo TOPSECRET | tee other/.env other/sub/prod.env other/sub/deep/terraform.tfstate >/dev/null
    echo "$key" | tee other/id_rsa other/sub/server.pem >/dev/null
    git init -q other/inner && echo TOPSECRET >other/inner/.env
    ln other/.env other/src/linked && ln -s ../.env other/src/symlink
    echo '# mine' | tee other/.envrc other/coop.toml >/dev/null
    echo plain >other/plain && echo 'ssh-ed25519 AAAA me' >other/id_rsa.pub
}
make_other
hello='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
call() { # options of coop mcp -- tool arguments
    local options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    printf '%s\n' "$hello" "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"$2\",\"arguments\":$3}}" | "$COOP" mcp "${options[@]}" 2>&1
}

# ---- read

sees() { # directory options
    "$COOP" run "${@:2}" sh -c 'grep -rsl TOPSECRET "$1" 2>/dev/null; cat "$1/plain" "$1/id_rsa.pub"' sh "$1" </dev/null 2>/dev/null | tr '\n' ' '
}
printf '[sandbox]\nenabled = true\nextra_ro_paths = ["%s"]\n' "$T/other" >ro.toml
printf '[sandbox]\nenabled = true\nextra_rw_paths = ["%s"]\n' "$T/other" >rw.toml
fine="plain ssh-ed25519 AAAA me "
is "--ro" "$(sees /o -w ws --ro other:/o)" "$fine"
is "--rw" "$(sees /o -w ws --rw other:/o)" "$fine"
is "-v" "$(sees /o -w ws -v "$T/other:/o:ro")" "$fine"
is "--mount" "$(sees /o -w ws --mount "type=bind,source=$T/other,target=/o")" "$fine"
is "at its own path" "$(sees "$T/other" -w ws --ro other)" "$fine"
is "two mounts of it" "$(sees /o -w ws --ro other:/o --rw other:/p; sees /p -w ws --ro other:/o --rw other:/p)" "$fine$fine"
is "a part of it" "$("$COOP" run -w ws --ro other/sub:/o sh -c 'grep -rsl TOPSECRET /o' </dev/null 2>/dev/null)" ""
is "a parent, which shows the workspace too" "$(sees /p/other -w ws --rw "$T:/p")" "$fine"
is "in the workspace" "$(sees /work/o -w ws --ro other:/work/o)" "$fine"
is "a mount in a mount" "$(sees /o/src -w ws --rw other:/o --ro other:/o/src)" "$fine"
is "extra_ro_paths" "$(sees "$T/other" -w ws --config ro.toml)" "$fine"
is "extra_rw_paths" "$(sees "$T/other" -w ws --config rw.toml)" "$fine"
is "with a root" "$(sees /o --root ws --ro other:/o)" "$fine"
is "one box after another of a sandbox" "$(call -w ws --config rw.toml -- bash "{\"command\":\"cat $T/other/.env $T/other/plain\"}" | grep -c TOPSECRET)" 0
is "a single file is what was named" "$("$COOP" run -w ws --ro other/.env:/e cat /e </dev/null)" TOPSECRET
is "--unprotect shows" "$("$COOP" run -w ws --ro other:/o --unprotect .env cat /o/.env </dev/null)" TOPSECRET
is "and nothing else" "$("$COOP" run -w ws --ro other:/o --unprotect .env cat /o/id_rsa </dev/null 2>/dev/null)" ""
is "--no-protect lifts it" "$("$COOP" run -w ws --ro other:/o --no-protect cat /o/id_rsa </dev/null)" "$key"
is "--protect holds there" "$("$COOP" run -w ws --ro other:/o --protect '**/plain' cat /o/plain </dev/null 2>/dev/null)" ""
for file in .env sub/prod.env id_rsa sub/server.pem inner/.env src/linked src/symlink; do
    like "file tools: $file" "$(call --config ro.toml -w ws -- read_file "{\"path\":\"$T/other/$file\"}")" "is hidden"
done
unlike "grep finds nothing" "$(call --config ro.toml -w ws -- grep "{\"pattern\":\"TOPSEC\",\"path\":\"$T/other\"}")" TOPSECRET
unlike "nor is it listed" "$(call --config ro.toml -w ws -- list_dir "{\"path\":\"$T/other\"}")" 'id_rsa[^.]'
like "file tools read the rest" "$(call --config ro.toml -w ws -- read_file "{\"path\":\"$T/other/plain\"}")" plain
like "coop why" "$("$COOP" why -w ws --ro other:/o read /o/.env 2>&1)" "denied"
like "coop why, by content" "$("$COOP" why -w ws --ro other:/o read /o/sub/server.pem 2>&1)" "denied"
like "coop why, of the rest" "$("$COOP" why -w ws --ro other:/o read /o/id_rsa.pub 2>&1)" "allowed"
like "coop why, of a single file" "$("$COOP" why -w ws --ro other/.env:/e read /e 2>&1)" "allowed"

# ---- write

state() { (cd other && cat .envrc coop.toml .git/config inner/.git/config .env plain && find . -path ./.git/index -o -print | sort); }
before=$(state)
attempts='cd "$1"; echo evil >>inner/.git/config; echo evil >inner/.git/hooks/x; for f in .git/hooks/pre-commit .git/config .git/commondir .envrc coop.toml .mcp.json .vscode; do
    echo evil >>$f; rm -f $f; echo evil >new && mv new $f; ln -sf /x $f; mkdir -p $f; rm -f new; ln $f hard && echo evil >>hard; rm -f hard; done
    mkdir t && echo evil >t/config && mv -T t .git; rm -rf t; mv .git g; mv sub s; mv .env e; ln .env e; git config core.fsmonitor /x; git config core.hooksPath /x; echo ran'
attempt() { "$COOP" run "${@:2}" sh -c "$attempts" sh "$1" </dev/null 2>/dev/null; }
is "a box tries" "$(attempt /o -w ws --rw other:/o)" ran
is "--rw" "$(state)" "$before"
is "another" "$(attempt "$T/other" -w ws --config rw.toml)" ran
is "extra_rw_paths" "$(state)" "$before"
is "by a mount of its parent" "$(attempt /p/other/inner -w ws --rw "$T:/p")" ran
# Repositories in a tree may be removed, but nothing of theirs that git obeys may be made.
is "a repository in the tree" "$(grep -rl evil other/inner; find other/inner/.git/hooks -type f ! -name "*.sample")" ""
make_other
is "with a root" "$(attempt /o --root ws --rw other:/o)" ran
is "likewise" "$(state)" "$before"
is "two at once" "$(for i in 1 2; do attempt /o -w ws --rw other:/o >/dev/null & done; wait; state)" "$before"
for file in .git/hooks/x .git/config .envrc coop.toml inner/.git/config; do
    like "file tools: $file" "$(call --config rw.toml -w ws -- write_file "{\"path\":\"$T/other/$file\",\"content\":\"evil\"}")" '"isError":true'
done
like "nor by moving" "$(echo evil >ws/evil; call --config rw.toml -w ws -- move "{\"from\":\"evil\",\"to\":\"$T/other/coop.toml\"}")" '"isError":true'
is "nothing changed" "$(state)" "$before"
like "coop why" "$("$COOP" why -w ws --rw other:/o write /o/.git/hooks/x 2>&1)" denied
is "the rest can be written" "$("$COOP" run -w ws --rw other:/o sh -c 'cd /o && echo y >src/new && mkdir -p d && mv src/new d/ && git add plain && git -c user.name=m -c user.email=m@x commit -qm m && git log --format=%s && git config user.name me && cat d/new && rm -r d && rm .git/index' </dev/null 2>&1)" "m
y"
is "git's own settings pass the gate" "$(git -C other config user.name)" me
like "file tools write the rest" "$(call --config rw.toml -w ws -- write_file "{\"path\":\"$T/other/src/x\",\"content\":\"hello\"}")" '"created":true'
many=() && for i in $(seq 20); do mkdir -p "many/$i" && echo TOPSECRET >"many/$i/.env" && many+=(--rw "many/$i:/m/$i"); done
is "many mounts" "$("$COOP" run -w ws "${many[@]}" sh -c 'for i in /m/*; do cat $i/.env; echo x >$i/.envrc; echo x >$i/y; done; ls -A /m/20' </dev/null 2>/dev/null | tr '\n' ' ')" ".env y "

# ---- private files, whatever they are called

make_private() { # DIRECTORY
    mkdir -p "$1/sub" "$1/node_modules"
    echo "$key" | tee "$1/notes" "$1/sub/copy of it" "$1/open" "$1/main.py" "$1/node_modules/notes" >/dev/null
    echo "url: https://me:TOPSECRET@example.org/" >"$1/settings"
    echo "TOPSECRET but no key" >"$1/diary" && : >"$1/empty"
    (head -c 70000 /dev/zero && echo "$key") >"$1/large"
    chmod 600 "$1"/notes "$1/sub/copy of it" "$1"/main.py "$1"/node_modules/notes "$1"/diary "$1"/empty "$1"/large && chmod 400 "$1/settings" && chmod 644 "$1/open"
}
make_private private
make_private ws/.tool && make_private ws/visible && mkdir -p ws/a/.deep && make_private ws/a/.deep/er
shown() { "$COOP" run "${@:2}" sh -c 'cd "$1" && grep -al TOPSECRET * */* 2>/dev/null | sort | tr "\n" " "' sh "$1" </dev/null 2>/dev/null; }
rest="diary large main.py node_modules/notes open "
is "a private file with a key: --ro" "$(shown /p -w ws --ro private:/p)" "$rest"
is "--rw" "$(shown /p -w ws --rw private:/p)" "$rest"
is "a directory with a dot in the workspace" "$(shown /work/.tool -w ws)" "$rest"
is "and one deeper" "$(shown /work/a/.deep/er -w ws)" "$rest"
is "a workspace below such a directory is a workspace" "$(shown /work -w ws/.tool)" "diary large main.py node_modules/notes notes open settings sub/copy of it "
is "elsewhere in the workspace only names count" "$(shown /work/visible -w ws)" "diary large main.py node_modules/notes notes open settings sub/copy of it "
is "through another mount too" "$(shown /p -w ws --ro ws/visible:/p)" "$(shown /work/visible -w ws)"
is "--unprotect" "$(shown /p -w ws --ro private:/p --unprotect notes)" "diary large main.py node_modules/notes notes open "
is "--no-protect" "$(shown /p -w ws --ro private:/p --no-protect)" "diary large main.py node_modules/notes notes open settings sub/copy of it "
ln private/notes private/other-name && chmod 600 private/notes
is "all of its names" "$(shown /p -w ws --ro private:/p)" "$rest" && rm private/other-name
chmod 644 private/notes
like "a mode counts as it is at the start" "$(shown /p -w ws --ro private:/p)" notes
chmod 600 private/notes
unlike "and again" "$(shown /p -w ws --ro private:/p)" " notes"
printf '[sandbox]\nenabled = true\nextra_ro_paths = ["%s"]\n' "$T/private" >private.toml
for file in notes settings 'sub/copy of it'; do
    like "file tools: $file" "$(call --config private.toml -w ws -- read_file "{\"path\":\"$T/private/$file\"}")" "is hidden"
    like "coop why: $file" "$("$COOP" why -w ws --ro private:/p read "/p/$file" 2>&1)" "denied.*only its owner|only its owner"
done
like "file tools in the workspace" "$(call -w ws --config private.toml -- read_file '{"path":".tool/notes"}')" "is hidden"
like "coop why in the workspace" "$("$COOP" why -w ws read .tool/notes 2>&1)" "only its owner"
for file in diary open main.py; do
    like "file tools: $file" "$(call --config private.toml -w ws -- read_file "{\"path\":\"$T/private/$file\"}")" TOPSECRET
    like "coop why: $file" "$("$COOP" why -w ws --ro private:/p read "/p/$file" 2>&1)" allowed
done
# What a box makes stays its own for that run.
is "a box reads what it has made" "$("$COOP" run -w ws sh -c 'umask 077; echo "$0" >.tool/mine; cat .tool/mine' "$key" </dev/null)" "$key"
is "a program of the host makes one meanwhile" "$(
    mkfifo go
    "$COOP" run -q --timeout 100s -w ws sh -c 'touch up; read -r x; while grep -qs TOPSECRET .tool/later; do :; done; echo hidden' <go 2>/dev/null &
    exec 6>go && await test -e ws/up && (umask 077 && echo "$key" >ws/.tool/later) && echo go >&6 && wait
)" hidden
done_testing
