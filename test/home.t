#!/bin/bash
# Home directories: what of them no box may see or change, by whatever mount.
. "$(dirname "$0")/box.sh"

mkdir -p homes/me/project homes/me/src homes/other && echo mine >homes/me/project/file
export HOME=$T/homes/me XDG_CONFIG_HOME=$T/homes/me/.config XDG_STATE_HOME=$T/state XDG_CACHE_HOME=$T/cache
ln -s homes/me alias && ln -s "$T/homes" homes/me/project/up

# ---- a whole home is no workspace

refused_home() { # what, options
    local what=$1
    shift
    status "$what: refused" 125 "$COOP" run "$@" true </dev/null
    like "$what: in one sentence" "$("$COOP" run "$@" true 2>&1 </dev/null)" "whole home directory, with its keys and settings"
    like "$what: with what to do" "$("$COOP" run "$@" true 2>&1 </dev/null)" "--yes-whole-home"
}
refused_home "\$HOME" -w "$HOME"
refused_home "a parent of it" -w "$T/homes"
refused_home "by a link" -w "$T/alias"
refused_home "by a link to the parent" -w "$HOME/project/up"
refused_home "by dots" -w "$HOME/project/.."
refused_home "read-only too" -w "$HOME" --read-only
refused_home "as a root" --root "$HOME"
refused_home "restricted to it" -w "$T" --restrict homes/me
status "the current directory: refused" 125 sh -c 'cd "$HOME" && exec "$0" run true' "$COOP"
status "a project in it is fine" 0 "$COOP" run -w "$HOME/project" true
status "and so is a part of it" 0 "$COOP" run -w "$HOME" --restrict src true
status "and another directory beside it" 0 "$COOP" run -w "$T/homes/other" true
is "--yes-whole-home shows it" "$("$COOP" run -w "$HOME" --yes-whole-home cat project/file)" mine
is "as a root too" "$("$COOP" run --root "$HOME" --yes-whole-home cat /project/file)" mine
status "/ stays refused" 125 "$COOP" run -w / --yes-whole-home true
like "/home is refused" "$(HOME=/nonexistent "$COOP" run -w /home true 2>&1)" "holds the home directories"
like "coop why says the same" "$("$COOP" why -w "$HOME" read x 2>&1)" "holds your whole home directory"
like "coop plan too" "$("$COOP" plan -w "$HOME" true 2>&1)" "holds your whole home directory"
printf '[sandbox]\nenabled = true\nworkspace = "~"\n' >conf.toml
like "coop check finds a configuration's" "$("$COOP" check --config conf.toml 2>&1)" "holds your whole home directory"
status "and coop run refuses it" 125 "$COOP" run --config conf.toml true
hello='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
call() { # options of coop mcp -- tool arguments
    local options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    printf '%s\n' "$hello" "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"$2\",\"arguments\":$3}}" | "$COOP" mcp "${options[@]}" 2>&1
}
like "coop mcp says so" "$(call -w "$HOME" -- list_dir '{"path":"."}')" "holds your whole home directory"
like "and takes the flag" "$(call -w "$HOME" --yes-whole-home -- list_dir '{"path":"."}')" "project"
if [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
    like "by another mount of it" "$(mkdir -p bound && unshare -m sh -c "mount --bind '$HOME' bound && '$COOP' run -w bound true" 2>&1)" "holds your whole home directory"
else
    skip_never "by another mount of it" "needs root"
fi

# ---- well-known secrets are hidden in every mount

secrets=".ssh/id_ed25519 .gnupg/secring.gpg .aws/credentials .netrc .npmrc .git-credentials .pgpass .docker/config.json .kube/config
    .config/gh/hosts.yml .config/gcloud/credentials.db .password-store/a.gpg .mozilla/firefox/logins.json .config/google-chrome/cookies
    .config/coop/coop.toml .local/share/keyrings/login .bash_history .azure/token .config/rclone/rclone.conf"
for file in $secrets; do
    mkdir -p "$HOME/$(dirname "$file")" && echo '# TOPSECRET' >"$HOME/$file"
done
mkdir -p "$XDG_STATE_HOME/coop/allowed" && echo TOPSECRET >"$XDG_STATE_HOME/coop/allowed/x"
echo plain >"$HOME/.plain" && echo '[sandbox]' >"$HOME/project/coop.toml"

everything='grep -rs TOPSECRET "$@" 2>/dev/null; cat "$1/.plain"'
sees() { # what is found of secrets below the directories behind --
    local options=()
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    "$COOP" run "${options[@]}" sh -c "$everything" sh "${@:2}" </dev/null
}
is "--ro \$HOME" "$(sees -w ws --ro "$HOME" -- "$HOME")" plain
is "--rw \$HOME" "$(sees -w ws --rw "$HOME" -- "$HOME")" plain
is "a mount elsewhere" "$(sees -w ws --ro "$HOME:/h" -- /h)" plain
is "twice" "$(sees -w ws --ro "$HOME:/h" --rw "$HOME:/i" -- /h /i)" plain
is "of the parent" "$(sees -w ws --ro "$T/homes:/h" -- /h/me)" plain
is "of a link" "$(sees -w ws --ro "$T/alias:/h" -- /h)" plain
is "of a part: .config" "$("$COOP" run -w ws --ro "$HOME/.config:/c" sh -c 'grep -rs TOPSECRET /c; ls /c' </dev/null | tr '\n' ' ')" "coop gcloud gh google-chrome rclone "
is "as a workspace" "$(sees -w "$HOME" --yes-whole-home -- /work)" plain
is "as a root" "$("$COOP" run --root "$HOME" --yes-whole-home sh -c 'cat /.ssh/id_ed25519 /.netrc /.aws/credentials /.config/coop/coop.toml; cat /.plain' 2>/dev/null </dev/null)" plain
is "of --mount" "$(sees -w ws --mount "type=bind,source=$HOME,target=/h" -- /h)" plain
is "of -v" "$(sees -w ws -v "$HOME:/h:ro" -- /h)" plain
printf '[sandbox]\nenabled = true\nextra_rw_paths = ["~"]\n' >wide.toml
is "of extra_rw_paths" "$(sees --config wide.toml -w ws -- "$HOME")" plain
like "coop check warns" "$("$COOP" check -w ws --config wide.toml 2>&1)" "shows a whole home directory"
is "coop's state, where the environment says that it is" "$("$COOP" run -w ws --ro "$T:/t" sh -c 'cat /t/state/coop/allowed/x' 2>/dev/null </dev/null)" ""
for what in .ssh/id_ed25519 .netrc .config/coop/coop.toml; do
    like "coop why: $what" "$("$COOP" why -w ws --ro "$HOME" read "$HOME/$what" 2>&1)" denied
    like "file tools: $what" "$(call --config wide.toml -w ws -- read_file "{\"path\":\"$HOME/$what\"}")" "is hidden"
done
like "file tools read the rest" "$(call --config wide.toml -w ws -- read_file "{\"path\":\"$HOME/.plain\"}")" plain
like "the box of a tool" "$(call --config wide.toml -w ws -- bash "{\"command\":\"cat $HOME/.netrc $HOME/.plain\"}")" "plain"
unlike "sees no secret" "$(call --config wide.toml -w ws -- bash "{\"command\":\"cat $HOME/.netrc $HOME/.plain\"}")" TOPSECRET
is "nothing is moved away: the box cannot take a secret out of its place" "$("$COOP" run -w ws --rw "$HOME" sh -c 'cd "$0"; mv .ssh s; mv .netrc n; ln .netrc m; cp -r .ssh t; cat s/* n m t/*' "$HOME" 2>/dev/null </dev/null; find "$HOME" -maxdepth 1 -name '[snm]')" ""
rm -rf "$HOME/t"
rm "$HOME/.netrc" && mkdir "$HOME/real" && echo TOPSECRET >"$HOME/real/netrc" && ln -s real/netrc "$HOME/.netrc"
is "a secret that is a link is hidden where it lies" "$("$COOP" run -w ws --ro "$HOME:/h" cat /h/.netrc /h/real/netrc 2>/dev/null </dev/null)" ""
is "by a mount of where it lies, too" "$("$COOP" run -w ws --ro "$HOME/real:/r" cat /r/netrc 2>/dev/null </dev/null)" ""
is "in a workspace, too" "$("$COOP" run -w "$HOME/real" cat netrc 2>/dev/null </dev/null)" ""
is "a project's own coop.toml is read" "$("$COOP" run -w "$HOME/project" cat coop.toml </dev/null)" "[sandbox]"
is "what a mount names is meant" "$("$COOP" run -w ws --ro "$HOME/.ssh:/ssh" cat /ssh/id_ed25519 </dev/null)" "# TOPSECRET"
is "--no-protect lifts it" "$("$COOP" run -w ws --ro "$HOME:/h" --no-protect cat /h/.aws/credentials </dev/null)" "# TOPSECRET"
is "but not for coop's own" "$("$COOP" run -w ws --ro "$HOME:/h" --no-protect cat /h/.config/coop/coop.toml 2>/dev/null </dev/null)" ""
status "which no mount may name" 125 "$COOP" run -w ws --ro "$HOME/.config/coop:/c" true
status "nor a workspace be in" 125 "$COOP" run -w "$HOME/.config/coop" true
status "not even as a store of memory" 125 "$COOP" run -w ws --ro "$HOME/.config/coop:/memory/x" true
mkdir -p elsewhere/memory/private ws && echo TOPSECRET | tee elsewhere/memory/private/note >/dev/null
printf '[memory]\ndirectory = "%s"\n' "$T/elsewhere/memory" >memory.toml
is "memory that the configuration puts elsewhere" "$("$COOP" run --config memory.toml -w ws --ro elsewhere:/e sh -c 'cat /e/memory/private/note; ls /e' 2>/dev/null </dev/null)" memory
is "not with --no-protect either" "$("$COOP" run --config memory.toml -w ws --rw elsewhere:/e --no-protect sh -c 'cat /e/memory/private/note; echo x >/e/memory/x; mv /e/memory /e/m' 2>/dev/null </dev/null; find elsewhere | sort | tr '\n' ' ')" "elsewhere elsewhere/memory elsewhere/memory/private elsewhere/memory/private/note "
is "nor in a workspace" "$("$COOP" run --config memory.toml -w elsewhere cat memory/private/note 2>/dev/null </dev/null)" ""
status "nor named by a mount" 125 "$COOP" run --config memory.toml -w ws --ro elsewhere/memory/private:/m true
like "nor by file tools" "$(call --config memory.toml -w elsewhere -- read_file '{"path":"memory/private/note"}')" '"isError":true'

# ---- a mount inside what is hidden

mkdir -p "$HOME/.ssh" && echo 'host ssh-ed25519 AAAA' >"$HOME/.ssh/known_hosts"
inner() { "$COOP" run -w ws "$@" sh -c 'cat "$1/known_hosts"; cat "$1/id_ed25519"' sh "$HOME/.ssh" </dev/null 2>&1; }
inside="the mount at '$HOME/.ssh/known_hosts' lies in '$HOME/.ssh', which is hidden"
like "--ro ~ and --ro ~/.ssh/known_hosts: refused, in one sentence" "$(inner --ro "$HOME" --ro "$HOME/.ssh/known_hosts")" "$inside"
like "the other way round" "$(inner --ro "$HOME/.ssh/known_hosts" --rw "$HOME")" "$inside"
status "with status 125" 125 "$COOP" run -w ws --ro "$HOME" --ro "$HOME/.ssh/known_hosts" true </dev/null
is "the hint works" "$("$COOP" run -w ws --ro "$HOME" --ro "$HOME/.ssh/known_hosts:/known" cat /known </dev/null)" 'host ssh-ed25519 AAAA'
is "and so does the file alone" "$(inner --ro "$HOME/.ssh/known_hosts" | head -1)" 'host ssh-ed25519 AAAA'

if [ "$(id -u)" = 0 ]; then
    is "root's box with /etc sees no passwords" "$("$COOP" run -w ws --ro /etc:/e sh -c 'cat /e/shadow /e/gshadow; ls /e/passwd' 2>/dev/null </dev/null)" /e/passwd
else
    skip_never "root's box with /etc sees no passwords" "needs root"
fi

# ---- what a login runs is not written, by whatever mount

for file in .bashrc .profile .zshrc .config/fish/config.fish .gitconfig; do
    mkdir -p "$HOME/$(dirname "$file")" && echo '# mine' >"$HOME/$file"
done
ln -s src/alias "$HOME/.bash_aliases" && echo '# mine' >"$HOME/src/alias"
state() { (cd "$HOME" && cat .bashrc .profile .zshrc .config/fish/config.fish .gitconfig src/alias .plain && find . -name .bash_aliases -o -name .cache -o -print | sort); }
# A link may be removed, but not made again, and what it led to was kept until then.
attempt() { ln -sfn src/alias "$HOME/.bash_aliases" && "$COOP" run "${@:2}" sh -c "$attempts; echo ran" sh "$1" </dev/null 2>/dev/null; }
before=$(state)
attempts='cd "$1"; for f in .bashrc .profile .zshrc .config/fish/config.fish .gitconfig .bash_aliases src/alias .bash_login .zshenv .config/autostart .config/systemd/user/x.service .ssh/rc .cache/coop/x; do
    echo evil >>$f; rm -f $f; echo evil >new && mv new $f; ln -sf /x $f; mkdir -p $f; ln src/alias $f; rm -f new; ln $f hard && echo evil >>hard; rm -f hard; done
    mv .config c; mv .ssh s; mv .bashrc b; ln .bashrc b && echo evil >>b; mkdir d && mv d .config/autostart; rm -rf d c/gh'
is "a box tries" "$(attempt "$HOME" -w ws --rw "$HOME")" ran
is "--rw \$HOME" "$(state)" "$before"
is "another tries" "$(attempt /h/me -w ws --rw "$T/homes:/h")" ran
is "--rw of its parent, elsewhere" "$(state)" "$before"
is "one of a configuration" "$(attempt "$HOME" --config wide.toml -w ws)" ran
is "extra_rw_paths" "$(state)" "$before"
is "one in the home itself" "$(attempt /work -w "$HOME" --yes-whole-home)" ran
is "as a workspace" "$(state)" "$before"
for file in .bashrc .bash_login .config/autostart/x; do
    like "file tools: $file" "$(call --config wide.toml -w ws -- write_file "{\"path\":\"$HOME/$file\",\"content\":\"evil\"}")" '"isError":true'
done
is "nothing changed" "$(state)" "$before"
is "the rest can be written" "$("$COOP" run -w ws --rw "$HOME" sh -c 'echo y >"$1/src/new" && mkdir "$1/src/d" && mv "$1/src/new" "$1/src/d/" && cat "$1/src/d/new"; rm -r "$1/src/d"' sh "$HOME" </dev/null)" y
is "two boxes at once" "$(for i in 1 2; do attempt "$HOME" -w ws --rw "$HOME" >/dev/null & done; wait; state)" "$before"

# ---- coop's own files, behind links and before they are there

mkdir -p own/home own/dot/d own/conf own/state
mine() { env -u XDG_CONFIG_HOME HOME="$T/own/home" XDG_STATE_HOME="$T/own/state" "$COOP" "$@" </dev/null; }
# What a box leaves where coop would read a configuration: DIRECTORY (of the box), options of coop run.
plant='cd "$1" && shift
for d; do
    cat "$d/coop.toml"; echo TAKEN >>"$d/coop.toml"; rm -f "$d/coop.toml"; mv "$d" "$d.old"; mkdir -p "$d"; echo TAKEN >"$d/coop.toml"
    mkdir -p new/coop; echo TAKEN >new/coop.toml; echo TAKEN >new/coop/coop.toml; mv -T new "$d"; mv -T new "${d%/*}"; mv -T new/coop "$d"
done 2>/dev/null; echo ran'
taken() { grep -s -e TAKEN -e TOPSECRET own/home/.config/coop/coop.toml own/conf/coop/coop.toml own/dot/d/coop.toml; }
for options in "/c coop -w ws --rw $T/own/home/.config:/c" "/c .config/coop -w ws --rw $T/own/home:/c" "/c home/.config/coop -w ws --rw $T/own:/c" \
    "/work coop -w own/home/.config" "/work .config/coop -w own/home --yes-whole-home" "/work home/.config/coop -w own --yes-whole-home"; do
    read -r at name rest <<<"$options"
    for there in "" .config .config/coop; do
        case $rest in *home/.config*) [ "$there" ] || continue ;; esac
        rm -rf own/home && mkdir -p "own/home/$there"
        # shellcheck disable=SC2086 # words
        is "not there yet: $rest ($there)" "$(mine run -q $rest sh -c "$plant" sh $at $name)" ran
        is "nor afterwards: $rest ($there)" "$(taken)" ""
    done
done
for options in "-w ws --rw $T/own/conf:/work/c" "-w own/conf" "-w own --restrict conf"; do
    rm -rf own/conf own/home && mkdir -p own/conf own/home
    # shellcheck disable=SC2086 # words
    XDG_CONFIG_HOME=$T/own/conf "$COOP" run -q $options sh -c "$plant" sh . coop c/coop conf/coop </dev/null >/dev/null 2>&1
    is "\$XDG_CONFIG_HOME: $options" "$(taken)" ""
done
printf '[sandbox]\nenabled = true\n' >owned.toml
rm -rf own/conf && mkdir -p own/conf
like "coop why says it" "$(XDG_CONFIG_HOME=$T/own/conf "$COOP" why -w own/conf write /work/coop/coop.toml 2>&1)" "it belongs to coop, and no box may see it"
like "file tools refuse it" "$(XDG_CONFIG_HOME=$T/own/conf call --config owned.toml -w own/conf -- write_file '{"path":"coop/coop.toml","content":"x","create_parents":true}')" '"isError":true'
is "and nothing is made" "$(ls -A own/conf)" ""
rm -rf own/home && mkdir -p own/home/.config/coop
ln -s ../../../dot/d/coop.toml own/home/.config/coop/coop.toml
for content in '# TOPSECRET' ''; do
    for options in "/c d -w ws --rw $T/own/dot:/c" "/c . -w ws --rw $T/own/dot/d:/c" "/work d -w own/dot" "/work . -w own/dot/d" "/ d --root own/dot" "/c d -w ws --ro $T/own/dot:/c"; do
        read -r at name rest <<<"$options"
        rm -rf own/dot && mkdir -p own/dot/d && { [ -z "$content" ] || echo "$content" >own/dot/d/coop.toml; }
        # shellcheck disable=SC2086 # words
        is "a link to '$content': $rest" "$(mine run -q $rest sh -c "$plant" sh $at $name)" ran
        is "it is as it was: $rest" "$(cat own/dot/d/coop.toml 2>/dev/null)" "$content"
    done
done
rm -rf own/dot/d own/home && mkdir -p own/home/.config own/dot/config/coop own/other
said="is found through the symbolic link '$T/own/home/.config', which a box could change"
rm -r own/home/.config && ln -s ../dot/config own/home/.config
like "a link on the way, in a writable mount" "$(mine run -w ws --rw "$T/own/home:/c" true 2>&1)" "$said"
like "in a workspace" "$(mine run -w own/home --yes-whole-home true 2>&1)" "$said"
ok "not in a read-only mount" mine run -w ws --ro "$T/own/home:/c" true
ok "nor in another place" mine run -w ws --rw "$T/own/other:/c" true
is "where it leads nothing is made" "$(mine run -q -w ws --rw "$T/own/dot:/c" sh -c "$plant" sh /c config/coop; ls -A own/dot/config/coop)" ran
ln -s ../../../other own/dot/config/coop/x && rm own/home/.config && mkdir -p own/home/.config/coop own/way
ln -s "$T/own/way/link" own/home/.config/coop/coop.toml && echo '# mine' >own/other/c.toml && ln -s ../other/c.toml own/way/link
like "a second link" "$(mine run -w own/way true 2>&1)" "is found through the symbolic link '$T/own/way/link', which a box could change"

# ---- at a second path, which a mount of the host gives it

mkdir -p two/home/.ssh two/home/.gnupg two/home/.config/coop two/alias two/up/home two/part/keys two/ws
echo TOPSECRET | tee two/home/.ssh/known two/home/.gnupg/x two/home/.config/coop/coop.toml.old >/dev/null && echo mine >two/home/.bashrc && echo plain >two/home/plain
cat >two/try <<'END'
mount --bind home alias && mount --bind home up/home && mount --bind home/.ssh part/keys || exit 77
export HOME=$PWD/home XDG_CONFIG_HOME=$PWD/home/.config
"$COOP" run -q -w ws "$@" </dev/null 2>&1
END
two() { (cd two && COOP=$COOP unshare "$(is_root && echo -m || echo -rm)" sh ./try "$@"); }
two true >/dev/null
if [ $? = 77 ]; then
    skip "a home at a second path" "no mounts can be made here"
else
    found='grep -rs TOPSECRET /a; cat /a/plain /a/home/plain 2>/dev/null'
    is "a home at a second path" "$(two --ro alias:/a sh -c "$found")" plain
    is "--rw" "$(two --rw alias:/a sh -c "$found")" plain
    is "a directory above that path" "$(two --ro up:/a sh -c "$found")" plain
    is "a part of it at a second path" "$(two --ro part:/a sh -c "$found; echo nothing")" nothing
    like "coop's own" "$(two --ro alias/.config/coop:/a ls -A /a)" "would show a box coop's own files"
    is "what a login runs stays as it is" "$(two --rw alias:/a sh -c 'exec 2>/dev/null; echo evil >>/a/.bashrc; echo evil >/a/.bash_login; mkdir -p /a/.config/autostart; mv /a/.config /a/c'; cat two/home/.bashrc; ls -A two/home two/home/.config | tr '\n' ' ')" \
        "mine
two/home: .bashrc .config .gnupg .ssh plain  two/home/.config: coop "
fi

# ---- keys are recognised by what is in them, as well as by name

mkdir -p keys/sub
key=$(printf -- '-----BEGIN OPENSSH PRIVATE KEY-----\nTOPSECRET\n-----END OPENSSH PRIVATE KEY-----')
for file in id_rsa id_ed25519_work sub/id_ecdsa x.ppk sub/me.asc vpn.ovpn x.pem~ .x.key.swp kubeconfig aws-credentials; do echo "$key" >keys/$file; done
for file in prod.env .env~ .env.swp .prod.env.swp sub/x.p12 x.pfx terraform.tfstate terraform.tfstate.backup .netrc .pgpass .git-credentials store.jks; do echo TOPSECRET >keys/$file; done
echo '//registry.example.org/:_authToken=TOPSECRET' >keys/.npmrc
echo '{"type":"service_account","private_key":"TOPSECRET"}' >keys/service-account.json
is "hidden in a workspace" "$("$COOP" run -w keys grep -rs TOPSECRET . </dev/null)" ""
count=$(find keys -type f | wc -l)
is "in each of its files" "$("$COOP" run -w keys sh -c 'find . -type f | while read -r f; do cat "$f" >/dev/null 2>&1 || echo hidden; done | wc -l' </dev/null)" "$count"
like "file tools too" "$(call -w keys -- read_file '{"path":"id_ed25519_work"}')" "is hidden"
like "coop why too" "$("$COOP" why -w keys read id_rsa 2>&1)" denied
mkdir -p fine/sub
echo 'ssh-ed25519 AAAA me' | tee fine/id_rsa.pub fine/id_ed25519.pub fine/id_rsa_notes fine/kubeconfig.md >/dev/null
echo 'registry=https://registry.example.org/' >fine/.npmrc
echo 'kind: ServiceAccount' >fine/service-account.yaml
echo 'A=1' | tee fine/example.env fine/.env.example fine/prod.example.env >/dev/null
echo x >fine/debug.keystore
echo '-----BEGIN PGP SIGNATURE-----' >fine/release.asc
echo 'def token(): pass' >fine/credentials.py
is "what merely has such a name is read" "$("$COOP" run -w fine sh -c 'find . -type f -exec cat {} + >/dev/null' 2>&1 </dev/null)" ""
echo "$key" >fine/id_rsa_notes
refused "until a key is put there" "$COOP" run -w fine cat id_rsa_notes
is "--unprotect shows one" "$("$COOP" run -w fine --unprotect id_rsa_notes grep -c TOPSECRET id_rsa_notes </dev/null)" 1
done_testing
