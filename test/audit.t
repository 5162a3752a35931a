#!/bin/bash
# audit.t - what was run, by whom and what was refused is recorded, and nobody changes that unseen
# worlds: root user
# builds: asan
# speed: slow
. "$(dirname "$0")/box.sh"
export XDG_STATE_HOME=$T/state XDG_CONFIG_HOME=$T/config HOME=$T/home XDG_CACHE_HOME=$T/cache
unset COOP_LOG
log=$T/state/coop/audit
mkdir -p config/coop home
records() { "$COOP" audit --json "$@"; }
last() { tail -n 1 "$log/audit.jsonl" | jq -rc "$1" 2>&1; }
fresh() { rm -rf "$log"; } # a new log
preferred=(--mode preferred)

# ---- one record for each run

status "coop audit without a log is no failure" 0 "$COOP" audit
run "${preferred[@]}" -- sh -c 'exit 3' 2>/dev/null
is "a run is recorded with its end" "$(last '[.event, .end, .status, .command, .workspace]')" \
    "[\"run\",\"exited\",3,\"sh -c 'exit 3'\",\"$T/ws\"]"
is "with the digest of its policy" "$(last '.policy | length')" 64
is "with the walls that held" "$(last '.walls | keys | length')" 7
is "with its tier" "$(last .tier)" "$(run "${preferred[@]}" --json -- true 2>/dev/null | jq -r .enforced.tier)"
is "with what it used" "$(last '.usage | keys | join(" ")')" "bytes_written cpu_us peak_memory_bytes"
is "with how long it took" "$(last '.duration_us > 0')" true
is "with who is behind it" "$(last '[.uid, .user, .identity, .trust]')" "[$(id -u),null,null,null]"
is "the log is for its owner alone" "$(stat -c %a "$log" "$log/audit.jsonl" "$log/head" | xargs)" "700 600 600"
# shellcheck disable=SC2016 # the variable is the box's
session=$(run "${preferred[@]}" -- sh -c 'echo $COOP_SESSION' 2>/dev/null)
is "a run can be found by the session that it was told" "$(records --session "$session" | jq -r .event | xargs)" run
run "${preferred[@]}" -- no-such-program 2>/dev/null
is "a program that is not there" "$(last '[.end, .status, .command]')" '["failed",127,"no-such-program"]'
run "${preferred[@]}" --timeout 50ms -- sleep 60 2>/dev/null
is "a timeout" "$(last '[.end, .status, .denied]')" '["timeout",124,1]'
run "${preferred[@]}" -c 'echo "a  b" | cat >/dev/null' 2>/dev/null
is "of -c the text" "$(last .command)" 'echo "a  b" | cat >/dev/null'
run "${preferred[@]}" --json -- true >/dev/null 2>&1
is "with --json too" "$(last '[.end, .command]')" '["exited","true"]'
run "${preferred[@]}" -- sh -c 'mkdir .vscode' >/dev/null 2>&1
is "what was refused" "$(last '[.denied, .denials[0].op, .denials[0].target]')" '[1,"create","/work/.vscode"]'
before=$(wc -l <"$log/audit.jsonl")
"$COOP" run --no-such-option 2>/dev/null
"$COOP" plan true >/dev/null
"$COOP" why read /etc/passwd >/dev/null
is "a mistake, a plan and a question are no runs" "$(wc -l <"$log/audit.jsonl")" "$before"
ok "coop audit verify finds nothing wrong" "$COOP" audit verify

# ---- people

cat >config/coop/coop.toml <<EOF
[sandbox]
enabled = true
mode = "preferred"
[[users]]
name = "olga"
trust = "owner"
match = ["terminal:olga"]
[[users]]
name = "fred"
trust = "familiar"
match = ["signal:+1*"]
[[users]]
name = "ines"
trust = "inner"
match = ["signal:+2*"]
[commands]
strength = "check"
EOF
run --as terminal:olga -- true 2>/dev/null
is "the owner, who is not boxed in" "$(last '[.user, .identity, .trust, .tier, .walls.files]')" '["olga","terminal:olga","owner","none",null]'
run --as signal:+15 -- ls 2>/dev/null
is "somebody who may run nothing" "$(last '[.user, .trust, .end, .denied, .command]')" '["fred","familiar","refused",1,"ls"]'
run --as signal:+25 -- rm -rf x 2>/dev/null
is "a command that may not run" "$(last '[.user, .end, .status, .denied, .command]')" '["ines","refused",126,1,"rm -rf x"]'
is "of one user" "$(records --user ines | jq -r 'select(.event == "run").command')" "rm -rf x"
is "of one identity" "$(records --user signal:+15 | jq -r .event | xargs)" run
is "of a user of the system" "$(records --user "$(id -un)" | jq -r .identity | sort -u)" null
is "only what was refused" "$(records --denied | jq -s 'map(.denied > 0) | all')" true
is "of both" "$(records --denied --user fred | jq -r .end)" refused
is "nothing is older than a day" "$(records --since 1d | wc -l)" "$(wc -l <"$log/audit.jsonl")"
is "and nothing newer than tomorrow" "$(records --since "$(date -d tomorrow +%F)" | wc -l)" 0
like "for people" "$("$COOP" audit --user fred)" "fred +run +refused +ls  \('signal:\+15' may not run commands"
is "a broken configuration is recorded too" "$(printf 'x = 1\n' >bad.toml; run --config bad.toml -- true 2>/dev/null; last '[.end, .status, .command]')" '["refused",125,"true"]'

# ---- policies and approvals

fresh
run -- true 2>/dev/null
is "the first run brings the policy" "$(records | jq -r .event | xargs)" "policy run"
is "with its files and their digests" "$(records | jq -rc 'select(.event == "policy").files[] | [.path, .layer, (.digest | length)]')" \
    "[\"$T/config/coop/coop.toml\",\"user\",64]"
run -- true 2>/dev/null
is "the same policy is not told again" "$(records | jq -r .event | xargs)" "policy run run"
run --network off -- true 2>/dev/null
is "another one is" "$(records | jq -r .event | xargs)" "policy run run policy run"
printf '[sandbox]\nallow_network = true\n' >ws/coop.toml
"$COOP" allow ws/coop.toml >/dev/null 2>&1
is "an approval" "$(last '[.event, .end, .file, (.digest | length)]')" "[\"approval\",\"given\",\"$T/ws/coop.toml\",64]"
"$COOP" allow --revoke ws/coop.toml >/dev/null
is "and that it was taken back" "$(last '[.event, .end, .file]')" "[\"approval\",\"taken back\",\"$T/ws/coop.toml\"]"
rm ws/coop.toml

# ---- tools

mcp() { # requests of tools/call as "NAME ARGUMENTS" lines
    {
        echo '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
        echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
        while read -r name arguments; do
            echo '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"'"$name"'","arguments":'"$arguments"'}}'
        done
    } | "$COOP" mcp --quiet -w "$T/ws" "${mcp_options[@]}"
}
mcp_options=()
fresh
echo hello >ws/a.txt
for call in 'read_file {"path":"a.txt"}' 'write_file {"path":"b.txt","content":"canary-in-a-file"}' 'bash {"command":"echo hi; exit 4"}' \
    'read_file {"path":"/etc/shadow"}'; do
    mcp <<<"$call" >/dev/null 2>&1
done
is "each call of a tool is recorded" "$(records | jq -rc 'select(.event == "tool") | [.tool, .end, .status, .command]')" \
    '["read_file","done",0,"path=a.txt"]
["write_file","done",0,"path=b.txt content=(16 bytes)"]
["bash","exited",4,"echo hi; exit 4"]
["read_file","refused",1,"path=/etc/shadow"]'
is "what a file is to hold is not repeated" "$(grep -c canary-in-a-file "$log/audit.jsonl")" 0
is "a command of a tool has walls" "$(records | jq -rc 'select(.tool == "bash") | .walls | length')" 7
mcp_options=(--as signal:+15)
mcp <<<'bash {"command":"ls"}' >/dev/null 2>&1
is "a tool that may not be used" "$(last '[.tool, .user, .trust, .end, .denied]')" '["bash","fred","familiar","refused",1]'
mcp_options=()
like "coop audit stats counts them" "$("$COOP" audit stats)" '^ +1  fred  bash  \(1 with refusals\)$'
is "and as JSON" "$("$COOP" audit stats --json | jq -c '[.records, .denied]')" "[5,2]"

# ---- secrets and escapes stay out

fresh
cat >config/coop/coop.toml <<EOF
[sandbox]
mode = "preferred"
[secrets.deploy]
value = "canary-from-config"
providers = ["p"]
[environment]
provider = "p"
EOF
chmod 600 config/coop/coop.toml
export COOP_LOG=debug GITHUB_TOKEN=canary-from-caller
{
    run -e DB_PASSWORD=canary-from-flag -- echo canary-from-config canary-from-caller canary-from-flag
    run -- sh -c 'echo password=canary-assigned; curl -H "Authorization: Bearer canary-bearer-1" https://u:canary-url@host' canary-from-config
    run -- canary-from-config
    run -- sh -c 'mkdir -p .git/canary-from-config; cat canary-from-config; : >.git/hooks'
    run -- printf '\033[31mred\033]0;title\007'
    run -- $'evil\033[2J\nname'
    mcp <<<'bash {"command":"echo canary-from-config canary-from-caller; cat canary-from-config"}'
    mcp <<<'read_file {"path":"canary-from-config"}'
    mcp <<<'bash {"command":"echo \u001b[31m"}'
} >/dev/null 2>stderr </dev/null
unset COOP_LOG GITHUB_TOKEN
is "no secret is in the audit log" "$(grep -rho 'canary[a-z0-9-]*' "$log" | sort -u | xargs)" ""
is "nor in the log" "$(grep -a ' coop ' stderr | grep -ao 'canary[a-z0-9-]*' | sort -u | xargs)" ""
like "but what happened is" "$(records | jq -r .command)" '^echo \[secret deploy\] .*hidden'
isnt "the log told something" "$(grep -ac ' debug coop ' stderr)" 0
is "no control character is in the audit log" "$(LC_ALL=C grep -rc $'[\001-\011\013-\037\177]' "$log/audit.jsonl")" 0
is "nor an escaped one" "$(grep -c 'u001b' "$log/audit.jsonl")" 0
is "nor in the log" "$(grep -a ' coop ' stderr | LC_ALL=C grep -ac $'[\001-\011\013-\037\177]')" 0
like "they are visible" "$(records | jq -r .command)" 'x1b\[31m'
is "a file with secrets has no digest that values could be tried against" \
    "$(records | jq -rc 'select(.event == "policy").files[].digest' | sort -u)" null
rm config/coop/coop.toml

# ---- tampering

fresh
for i in 1 2 3 4 5 6; do run "${preferred[@]}" -- echo "number $i" >/dev/null 2>&1; done
ok "a log of several runs is right" "$COOP" audit verify
head=$("$COOP" audit verify | sed -n 's/^head //p')
cp -r "$log" kept
restore() { rm -rf "$log" && cp -r kept "$log"; }
tampered() { # DESCRIPTION PATTERN
    local out r=0
    out=$("$COOP" audit verify 2>&1) || r=$?
    is "$1: exit status" "$r" 1
    like "$1: is told" "$out" "$2"
    restore
}
sed -i '4s/number 3/number 9/' "$log/audit.jsonl"
tampered "a record was changed" '^audit.jsonl:4: record 4 was changed$'
sed -i '4d' "$log/audit.jsonl"
tampered "a record was removed" '^audit.jsonl:4: record 4 is missing$'
sed -i '3{h;d};4G' "$log/audit.jsonl"
tampered "records changed places" 'record 3 stands behind record 4'
sed -i '$d' "$log/audit.jsonl"
tampered "the last record was removed" '^the last 1 records are missing: the head says there are 7$'
truncate -s -10 "$log/audit.jsonl"
tampered "the end was cut off" '^the last 1 records are missing'
rm "$log/audit.jsonl"
tampered "the file was removed" '^the last 7 records are missing'
rm "$log/head"
tampered "the head was removed" '^the head is missing'
sed -i '4{p}' "$log/audit.jsonl"
tampered "a record was repeated" 'record 4 stands behind record 4'
ok "a head that was noted elsewhere is found" "$COOP" audit verify --head "$head"
status "and missed where another log took its place" 1 "$COOP" audit verify --head "7:$(printf '%064d' 1)"
status "a head that is none is refused" 2 "$COOP" audit verify --head 7
is "verify --json" "$("$COOP" audit verify --json | jq -c '[.ok, .records, .last, .problems]')" "[true,7,7,[]]"
printf '{"seq":8,"ti' >>"$log/audit.jsonl"
like "a record that was torn is told apart" "$("$COOP" audit verify)" 'the writer of a record was killed: 12 bytes'
run "${preferred[@]}" -- true 2>/dev/null
like "and the log goes on behind it" "$("$COOP" audit verify)" '^ok: 8 records'
is "the record says so" "$(last .torn)" 12

# ---- many at once, and killed

fresh
for i in $(seq 16); do
    (for j in 1 2 3; do run "${preferred[@]}" -- echo "$j" >/dev/null 2>&1; done) &
done
wait
is "16 writers at once" "$(records | jq -r 'select(.event == "run").end' | sort | uniq -c | xargs)" "48 exited"
ok "and the chain is whole" "$COOP" audit verify
for i in $(seq 60); do
    "$COOP" run -w ws "${preferred[@]}" -- true 2>/dev/null </dev/null &
    victim=$!
    "$COOP" run -w ws "${preferred[@]}" -- true 2>/dev/null </dev/null &
    read -rt "0.00$((RANDOM % 10))" <> <(:) || :
    kill -9 $victim 2>/dev/null
    wait
done 2>/dev/null
ok "writers that are killed leave it whole" "$COOP" audit verify

# ---- rotation

fresh
printf '[sandbox]\nmode = "preferred"\n[audit]\nmax_size = "4k"\n' >config/coop/coop.toml
for i in $(seq 12); do run -- echo "$i" >/dev/null 2>&1; done
isnt "a full file is followed by another" "$(find "$log" -name 'audit-*.jsonl' | wc -l)" 0
like "the chain goes on through all of them" "$("$COOP" audit verify)" "^ok: 13 records in [3-9] files"
is "a question reads all of them" "$(records | jq -r 'select(.event == "run").command' | xargs)" \
    "echo 1 echo 2 echo 3 echo 4 echo 5 echo 6 echo 7 echo 8 echo 9 echo 10 echo 11 echo 12"
cp -r "$log" kept2
older=("$log"/audit-*.jsonl)
rm "${older[1]}"
like "a file that is gone is missed" "$("$COOP" audit verify)" "are missing"
rm -rf "$log" && mv kept2 "$log"
printf 'keep = 1\n' >>config/coop/coop.toml
for i in $(seq 8); do run -- echo "$i" >/dev/null 2>&1; done
is "as many are kept as were asked for" "$(find "$log" -name 'audit-*.jsonl' | wc -l)" 1
like "and that others were removed is told" "$("$COOP" audit verify)" "^the records up to [0-9]+ were removed with their files"

# ---- following

fresh
run -- echo before >/dev/null
"$COOP" audit -f --json >followed &
follower=$!
await grep -q before followed
for i in 1 2 3 4 5 6 7 8; do run -- echo "after $i" >/dev/null; done
await grep -q 'after 8' followed
is "-f shows what comes, through new files too" "$(jq -r 'select(.event == "run").command' followed | xargs)" \
    "echo before echo after 1 echo after 2 echo after 3 echo after 4 echo after 5 echo after 6 echo after 7 echo after 8"
kill $follower
wait $follower 2>/dev/null

# ---- off, required, and no room

fresh
printf 'audit = "off"\n[sandbox]\nmode = "preferred"\n' >config/coop/coop.toml
run -- true 2>/dev/null
not_ok "off: nothing is recorded" test -e "$log"
like "and coop audit says so" "$("$COOP" audit 2>&1)" 'audit = "off"'
printf 'audit = "required"\n[sandbox]\nmode = "preferred"\n' >config/coop/coop.toml
run -- true 2>/dev/null
is "required: the beginning is recorded too" "$(records | jq -r .event | xargs)" "policy start run"
printf 'audit = "off"\n' >ws/coop.toml
like "a project cannot turn it off" "$(run -- true 2>&1)" "audit.mode.*\"?off"
printf '[audit]\ndirectory = "/tmp/x"\n' >ws/coop.toml
like "nor move it" "$(run -- true 2>&1)" "audit.directory"
rm ws/coop.toml
printf 'audit = "perhaps"\n' >config/coop/coop.toml
like "a word that is none is refused" "$(run -- true 2>&1)" 'audit.mode is .perhaps., expected one of required, on, off'
rm config/coop/coop.toml

# A file system of 64 KiB that is full.
cat >full <<'EOF'
mount -t tmpfs -o size=64k tmpfs "$XDG_STATE_HOME" || exit 99
mkdir -p "$XDG_STATE_HOME/coop/audit"
cd "$T" || exit 99
"$COOP" run -w ws --mode preferred -- true 2>/dev/null </dev/null
dd if=/dev/zero of="$XDG_STATE_HOME/fill" bs=4k 2>/dev/null
i=0; while [ $i -lt 10 ]; do i=$((i + 1)); "$COOP" run -w ws --mode preferred -- echo "$(printf '%0900d' $i)" >/dev/null 2>err </dev/null || echo "run $i failed"; done
cat err
echo "told $(grep -c 'record it in the audit log' err) times"
"$COOP" audit verify
printf 'audit = "required"\n' >required.toml
"$COOP" run --config required.toml -w ws --mode preferred -- touch ran </dev/null
echo "status $?"
test -e ws/ran && echo "it ran"
rm "$XDG_STATE_HOME/fill"
"$COOP" run -w ws --mode preferred -- true </dev/null
"$COOP" audit verify
EOF
mkdir -p state
full=$(T=$T COOP=$COOP unshare -Urm sh full 2>&1)
if [ $? = 99 ]; then
    skip "a full disk" "no user namespaces here"
else
    unlike "a full disk breaks no run" "$full" "run [0-9]+ failed"
    like "it is told once a run" "$full" '^told 1 times$'
    like "it names the reason" "$full" 'No space left on device'
    like "required: nothing is run" "$full" '^status 125$'
    unlike "really nothing" "$full" "it ran"
    like "required: that is said" "$full" 'what cannot be recorded is not run'
    is "what was recorded is whole, before and after" "$(grep -c '^ok: ' <<<"$full")" 2
fi

# ---- no box sees it

fresh
mkdir -p ws/home
XDG_STATE_HOME=$T/ws/home/state
export XDG_STATE_HOME
run "${preferred[@]}" -- true 2>/dev/null
if [ "$("$COOP" status --json | jq -r .tier)" = full ]; then
    refused "a log in the workspace cannot be read" run -- cat home/state/coop/audit/audit.jsonl
    refused "nor written" run -- sh -c 'echo x >>home/state/coop/audit/audit.jsonl'
    refused "nor removed" run -- rm -rf home/state/coop/audit
    refused "nor moved away" run -- mv home elsewhere
    ok "and is whole" "$COOP" audit verify
    rm -rf ws/home
    refused "one that is not there yet cannot be made" run -- sh -c 'echo x >home/state/coop/audit/head'
    mkdir other
    refused "a mount does not show it" "$COOP" run -w other --ro "$T/ws" -- cat "$T/ws/home/state/coop/audit/audit.jsonl"
    refused "nor does a root" "$COOP" run --root "$T/ws" -- cat /home/state/coop/audit/audit.jsonl
    like "a plan shows that it is hidden" "$("$COOP" plan -w ws -- true)" "hide '/work/home/state/coop/audit'"
fi
status "a mount of the log itself is refused" 125 run --ro "$XDG_STATE_HOME/coop/audit" -- true
status "and a workspace in it" 125 "$COOP" run -w "$XDG_STATE_HOME/coop/audit" -- true
mcp <<<'read_file {"path":"home/state/coop/audit/audit.jsonl"}' >answers 2>/dev/null
is "a tool does not see it either" "$(tail -n 1 answers | jq -c .result.isError)" true
export XDG_STATE_HOME=$T/state
ln -s "$T/elsewhere" "$T/state/coop/link"
printf '[audit]\ndirectory = "%s"\n' "$T/state/coop/link" >link.toml
run --config link.toml "${preferred[@]}" -- true 2>err
like "a directory that is a link is not followed" "$(cat err)" "Not a directory|Too many levels"
not_ok "and nothing is made there" test -e elsewhere

mkdir inner
"$COOP" run -w inner "${preferred[@]}" --ro "$COOP:/opt/coop" -- /opt/coop run -- true >/dev/null 2>&1
is "a coop in a box leaves no log in the workspace" "$(ls -A inner)" ""

# ---- the log of what coop does

said() { { COOP_LOG=$1 run "${preferred[@]}" "${@:2}" >/dev/null; } 2>&1; }
is "nothing by default" "$(run -q -- true 2>&1)" ""
like "debug tells the command" "$(said debug -- echo hi)" "debug coop sandbox_exec#[0-9a-f]{6}: run: echo hi"
like "and each step" "$(said debug -- true)" "debug coop sandbox_exec#[0-9a-f]{6}: step 1 of [0-9]+: "
is "info does not" "$(said info -- true | grep -c step)" 0
like "error tells what could not be set up" "$(said error -- no-such-program)" "error coop sandbox_exec#[0-9a-f]{6}: not run: no-such-program: execute"
like "info tells that somebody is not boxed in" "$(said info --mode disabled -- true)" "info  coop sandbox_exec#.*on the host, without a sandbox"
like "a level that is none is refused" "$(said loud -- true)" "bad COOP_LOG 'loud'"
is "as JSON, a line each" "$(said debug --log-format json -- true | jq -r 'select(.span == "sandbox_exec" and (.message | test("cgroup") | not)).level' | sort -u)" debug
status "a format that is none is refused" 125 run --log-format xml -- true
like "status tells of the probe" "$(COOP_LOG=info "$COOP" status 2>&1 >/dev/null)" "info  coop probe#[0-9a-f]{6}: linux"
COOP_LOG=debug mcp <<<'bash {"command":"true"}' >/dev/null 2>err
like "a command of a tool lies in the span of the tool" "$(cat err)" \
    "debug coop tool_execute#[0-9a-f]{6}:sandbox_exec#[0-9a-f]{6}: run: "
mcp_options=(--log-format json)
COOP_LOG=debug mcp <<<'bash {"command":"true"}' >/dev/null 2>err
is "and as JSON" "$(grep '^{' err | jq -r 'select(.span == "sandbox_exec").parent' | sort -u)" tool_execute
done_testing
