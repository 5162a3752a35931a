#!/bin/bash
# A file of --config that lies where commands write: it counts only as its owner has approved it, and
# no box can write it while it is in use. Whatever a box did to it before, nothing of it is obeyed.
. "$(dirname "$0")/box.sh"

export HOME=$T/home XDG_STATE_HOME=$T/state XDG_CONFIG_HOME=$T/home/.config
mkdir -p home/.config ws/conf shared outside
echo secret >outside/f
said="is where commands can write, and its current content is not approved"
wide="[sandbox]
mounts = [{ source = \"$T/outside\", target = \"/out\" }]"
tame='[sandbox]
memory = "1g"'
put() { printf '%s\n' "$2" >"$1" && chmod 600 "$1"; }

# ---- a file in the workspace

put ws/my.toml "$tame"
out=$("$COOP" run -w ws --config ws/my.toml -- true 2>&1)
is "one that nobody approved" "$?" 125
like "is refused with a sentence" "$out" "the configuration 'ws/my.toml' $said"
like "and what to do" "$out" "hint: read it, then run 'coop allow ws/my.toml'"
ok "that works" "$COOP" allow ws/my.toml
is "then it counts" "$("$COOP" run -w ws --config ws/my.toml --json -- true | jq .enforced.limits.memory.value)" $((1 << 30))
is "under each name" "$(cd ws && "$COOP" run --config ./conf/../my.toml -- echo hi) $("$COOP" run -w ws --config "$T/ws/my.toml" -- echo hi)" "hi hi"
for act in 'echo x >>my.toml' ': >my.toml' 'rm my.toml' 'mv my.toml x' 'ln -s x y; mv y my.toml' 'cp conf/.. /tmp -r; mv /tmp/my.toml my.toml' 'ln my.toml hard && echo x >hard' 'truncate -s 0 my.toml'; do
    refused "while it is in use: $act" "$COOP" run -q -w ws --config ws/my.toml -- sh -c "$act"
done
is "it is as it was" "$(cat ws/my.toml)" "$tame"
rm -f ws/y ws/hard

# ---- what a box does in a run without it

run sh -c 'printf "%s\n" "$0" >my.toml' "$wide"
chmod 600 ws/my.toml
like "a box rewrote it" "$(cat ws/my.toml)" "outside"
for how in "run -w ws --config ws/my.toml -- cat /out/f" "run --config $T/ws/my.toml -w ws -- cat /out/f" \
    "plan -w ws --config ws/my.toml true" "why -w ws --config ws/my.toml read /out/f" "run --root ws --config ws/my.toml -- cat /out/f"; do
    # shellcheck disable=SC2086 # words
    out=$("$COOP" $how 2>&1)
    isnt "not obeyed: ${how%% -*}" "$?" 0
    like "not obeyed: ${how%% -*}: said" "$out" "$said"
    unlike "nothing is read: ${how%% -*}" "$out" '^secret$'
done
like "coop check says it" "$(cd ws && "$COOP" check --config my.toml 2>&1)" "$said"
like "coop mcp says it" "$("$COOP" mcp --workspace ws --config ws/my.toml </dev/null 2>&1)" "$said"
like "coop whoami says it" "$("$COOP" whoami --config ws/my.toml -w ws --as x:1 2>&1 || (cd ws && "$COOP" whoami --config my.toml --as x:1 2>&1))" "$said"
put ws/my.toml "$tame"
ok "the bytes that were approved count again" "$COOP" run -w ws --config ws/my.toml -- true
ok "until the approval is taken back" "$COOP" allow --revoke ws/my.toml
status "so" 125 "$COOP" run -w ws --config ws/my.toml -- true

# ---- parents and links

put ws/conf/own.toml "$tame"
ok "one deeper in it" "$COOP" allow ws/conf/own.toml
ok "counts" "$COOP" run -w ws --config ws/conf/own.toml -- true
refused "its directory cannot be moved meanwhile" "$COOP" run -q -w ws --config ws/conf/own.toml -- mv conf away
run sh -c 'mv conf away; mkdir conf; printf "[sandbox]\nmemory = \"8g\"\n" >conf/own.toml; chmod 600 conf/own.toml'
like "a directory that was exchanged" "$("$COOP" run -w ws --config ws/conf/own.toml -- true 2>&1)" "$said"
put outside/plain.toml "$tame"
ln -s ../outside/plain.toml ws/link.toml
like "a link that a command may have made" "$("$COOP" run -w ws --config ws/link.toml -- true 2>&1)" \
    "the configuration 'ws/link.toml' leads through the symbolic link '$T/ws/link.toml', which a command may have created"
ln -s ws/my.toml out.toml && ln -s outside/plain.toml mine.toml
like "a link to one in the workspace" "$("$COOP" run -w ws --config out.toml -- true 2>&1)" "$said"
ok "a link of one's own" "$COOP" run -w ws --config mine.toml -- true
ok "a file elsewhere needs nothing" "$COOP" run -w ws --config outside/plain.toml -- true

# ---- other places that commands write

put shared/s.toml "$tame"
for flag in "--rw $T/shared:/s" "-v $T/shared:/s" "--mount source=$T/shared,target=/s" "--rw shared"; do
    # shellcheck disable=SC2086 # words
    like "a writable mount: ${flag%% *}" "$("$COOP" run -w ws $flag --config shared/s.toml -- true 2>&1)" "$said"
done
ok "a read-only one" "$COOP" run -w ws --ro "$T/shared:/s" --config shared/s.toml -- true
put shared/s.toml "[sandbox]
extra_rw_paths = [\"$T/shared\"]"
like "a mount of its own" "$("$COOP" run -w ws --config shared/s.toml -- true 2>&1)" "$said"
put shared/s.toml "[secrets.x]
command = [\"touch\", \"$T/ran\"]
[sandbox]
extra_rw_paths = [\"$T/shared\"]"
"$COOP" run -w ws --config shared/s.toml -- true >/dev/null 2>&1
"$COOP" run -w ws --rw "$T/shared:/s" --config shared/s.toml -- true >/dev/null 2>&1
cp -p shared/s.toml ws/s.toml
out=$("$COOP" run -w ws --config ws/s.toml -- true 2>&1)
is "nothing in it was executed" "$(ls ran 2>/dev/null)" ""
like "one with secrets is refused for good" "$out" "contains secrets and is where commands can write"
put outside/s.toml "[secrets.x]
command = [\"sh\", \"-c\", \"touch $T/ran; echo value\"]
users = [\"ann\"]
[sandbox]
enabled = true
[[users]]
name = \"ann\"
trust = \"inner\"
match = [\"x:1\"]"
for file in ws/s.toml outside/s.toml; do
    cp -p outside/s.toml ws/s.toml
    "$COOP" run -w ws --config "$file" --as x:1 -- true >/dev/null 2>&1
    is "what is executed: $file" "$(ls ran 2>/dev/null)" "$([ $file = ws/s.toml ] || echo ran)"
done
rm ran
"$COOP" run -w ws --rw outside --config outside/s.toml --as x:1 -- true >/dev/null 2>&1
is "nothing where a flag makes it writable" "$(ls ran 2>/dev/null)" ""
like "also by coop allow" "$("$COOP" allow ws/s.toml 2>&1)" "has secrets"
put home/.config/x "$tame"
mkdir -p home/.config/coop && put home/.config/coop/coop.toml "$tame"
for options in "-w home/.config" "-w ws --rw home/.config:/c" "-w ws --rw home:/c" "-w home --yes-whole-home"; do
    # shellcheck disable=SC2086 # words
    not_ok "the user's own cannot be written: $options" "$COOP" run $options -- sh -c 'for f in coop/coop.toml .config/coop/coop.toml /c/coop/coop.toml /c/.config/coop/coop.toml; do echo x >>$f && exit 0; done; exit 1'
    is "it is as it was: $options" "$(cat home/.config/coop/coop.toml)" "$tame"
done
ok "elsewhere it needs nothing" "$COOP" run -w ws -- true

# ---- what coop itself writes there

ln -s "$T/outside" ws/sub
like "coop learn writes through no such link" "$(cd ws && "$COOP" learn -o sub/p.toml -- true 2>&1)" "leads through the symbolic link '$T/ws/sub'"
is "nothing was written" "$(ls outside/p.toml 2>/dev/null)" ""
ok "but beside it" env -C ws "$COOP" learn -q -o p.toml -- true
status "what it wrote is approved by nobody" 125 "$COOP" run -w ws --config ws/p.toml -- true
ok "until somebody does" "$COOP" allow ws/p.toml
ok "and then holds" "$COOP" run -w ws --config ws/p.toml -- true
done_testing
