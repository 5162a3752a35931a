#!/bin/bash
# mcp.t - the Model Context Protocol: by hand, with the real SDK and inspector, and with a server of others
# worlds: root user
# builds: asan
# needs: nodejs npm
# speed: slow
. "$(dirname "$0")/box.sh"

nap=9000$$ many=8000$$ # by which sleepers are known, whoever else runs this

# ---- by hand: lines in, lines out

# A server that talks through fd 7 (to it) and 8 (from it); sets server.
serve() { # [OPTIONS]
    mkfifo to from
    rm -f err
    "$COOP" mcp -w "$T/ws" "$@" <to >from 2>err &
    server=$!
    exec 7>to 8<from
    rm to from
}
say() { printf '%s\n' "$1" >&7; }
hear() { IFS= read -rt "$(scaled 30)" -u 8 answer; } # the next message
# The next answer, which is one with an id.
hear_answer() { while hear; do case $answer in '{"jsonrpc":"2.0","id":'* | '['*) return ;; esac; done; answer=; return 1; }
ask() { say "$1" && hear_answer; }
end_server() { exec 7>&- 8<&-; wait "$server"; }
initialize() { # VERSION [CAPABILITIES]
    ask '{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"'"$1"'","capabilities":'"${2-{\}}"',"clientInfo":{"name":"t","version":"1"}}}'
    say '{"jsonrpc":"2.0","method":"notifications/initialized"}'
}
part() { jq -rc "$1" <<<"$answer" 2>&1; } # of the answer
request() { # ID METHOD [PARAMS]
    printf '{"jsonrpc":"2.0","id":%s,"method":"%s","params":%s}' "$1" "$2" "${3-{\}}"
}
tool() { # ID NAME ARGUMENTS [META]
    request "$1" tools/call '{"name":"'"$2"'","arguments":'"$3"',"_meta":'"${4-{\}}"'}'
}

printf 'hello\n' >ws/a.txt
serve
ask "$(request 1 ping)"
is "ping is answered before all else" "$answer" '{"jsonrpc":"2.0","id":1,"result":{}}'
ask "$(request 2 tools/list)"
is "nothing else is, before 'initialize'" "$(part '[.id, .error.code]')" '[2,-32600]'
initialize 2025-06-18
is "the revision that was asked for is spoken" "$(part .result.protocolVersion)" 2025-06-18
is "it can do these things" "$(part '.result.capabilities | keys')" '["logging","resources","tools"]'
await test -s err
like "it greets with its version" "$(cat err)" "^coop mcp $("$COOP" --version | cut -d ' ' -f 2): nobody in particular, level full"
if "$COOP" status >/dev/null 2>&1; then
    await grep -q Sandbox: err
    like "and with the banner" "$(cat err)" '^Sandbox: linux \(namespaces \+ landlock \+ seccomp\) — owner bypasses$'
fi

# what was sent, what of the answer is looked at, what is expected
table=(
    'no JSON' '{"jsonrpc"' '[.id, .error.code]' '[null,-32700]'
    'JSON with something behind it' '{} {}' '[.id, .error.code]' '[null,-32700]'
    'a name twice' '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}' '[.id, .error.code]' '[null,-32700]'
    'a number' '17' '[.id, .error.code]' '[null,-32600]'
    'an empty object' '{}' '[.id, .error.code]' '[null,-32600]'
    'another version of JSON-RPC' '{"jsonrpc":"1.0","id":3,"method":"ping"}' '[.id, .error.code]' '[3,-32600]'
    'an id that is null' '{"jsonrpc":"2.0","id":null,"method":"ping"}' '[.id, .error.code]' '[null,-32600]'
    'an id that is an object' '{"jsonrpc":"2.0","id":{},"method":"ping"}' '[.id, .error.code]' '[null,-32600]'
    'a NUL in a text' '{"jsonrpc":"2.0","id":3,"method":"ping","params":{"a":"\u0000"}}' '[.id, .error.code]' '[3,-32700]'
    'half of a character' '{"jsonrpc":"2.0","id":"h","method":"ping","params":{"a":"\ud800"}}' '[.id, .error.code]' '["h",-32700]'
    'an id with a NUL' '{"jsonrpc":"2.0","id":"\u0000","method":"ping"}' '[.id, .error.code]' '[null,-32700]'
    'a method that is a number' '{"jsonrpc":"2.0","id":4,"method":4}' '[.id, .error.code]' '[4,-32600]'
    'params that are an array' '{"jsonrpc":"2.0","id":5,"method":"ping","params":[]}' '[.id, .error.code]' '[5,-32602]'
    'an answer to nothing and with nothing' '{"jsonrpc":"2.0","id":6}' '[.id, .error.code]' '[6,-32600]'
    'an unknown method' "$(request 7 no/such)" '[.id, .error.code]' '[7,-32601]'
    'initialize once more' "$(request 8 initialize '{"protocolVersion":"2025-06-18","capabilities":{}}')" '[.id, .error.code]' '[8,-32600]'
    'a batch, in a revision without' "[$(request 9 ping)]" '[.id, .error.code]' '[null,-32600]'
    'a tool without a name' "$(request 10 tools/call)" '[.id, .error.code]' '[10,-32602]'
    'a tool that does not exist' "$(tool 11 no_such '{}')" '[.id, .error.code]' '[11,-32602]'
    'arguments that are a text' "$(tool 12 read_file '"x"')" '[.id, .error.code]' '[12,-32602]'
    'arguments that do not fit' "$(tool 13 read_file '{"path":7}')" '[.id, .result.isError]' '[13,true]'
    'a cursor of nobody' "$(request 14 tools/list '{"cursor":"x"}')" '[.id, .error.code]' '[14,-32602]'
    'a cursor of nobody for resources' "$(request 15 resources/list '{"cursor":"x"}')" '[.id, .error.code]' '[15,-32602]'
    'a level that does not exist' "$(request 16 logging/setLevel '{"level":"loud"}')" '[.id, .error.code]' '[16,-32602]'
    'the level of everything' "$(request 17 logging/setLevel '{"level":"debug"}')" '[.id, .result]' '[17,{}]'
    'a level' "$(request 17 logging/setLevel '{"level":"emergency"}')" '[.id, .result]' '[17,{}]'
    'a resource of another sort' "$(request 18 resources/read '{"uri":"http://a/"}')" '[.id, .error.code, .error.data.uri]' '[18,-32002,"http://a/"]'
    'a resource without an address' "$(request 19 resources/read)" '[.id, .error.code]' '[19,-32602]'
    'an id that is a text' "$(request '"a \"b\" ü"' ping)" '[.id, .result]' '["a \"b\" ü",{}]'
    'white space around it' "  $(request 20 ping)  " '[.id, .result]' '[20,{}]'
    'params that are missing' '{"jsonrpc":"2.0","id":21,"method":"tools/list"}' '.id' 21
    'a NUL in a text' "$(tool 22 read_file '{"path":"a\u0000b"}')" '[.id, .error.code]' '[22,-32700]'
    'more depth than anybody needs' "$(printf '[%.0s' {1..200})" '[.id, .error.code]' '[null,-32700]'
)
for ((i = 0; i < ${#table[@]}; i += 4)); do
    ask "${table[i + 1]}"
    is "${table[i]}" "$(part "${table[i + 2]}")" "${table[i + 3]}"
done
for id in 12345678901234567890123 1.50 -0 1e3; do
    ask "$(request $id ping)"
    is "the id $id is answered as it was written" "$answer" '{"jsonrpc":"2.0","id":'$id',"result":{}}'
done
for silent in '{"jsonrpc":"2.0","method":"no/such"}' '{"jsonrpc":"2.0","method":"x","params":[]}' '' $'\r' \
    '{"jsonrpc":"2.0","id":99,"result":{}}' '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":12}}'; do
    say "$silent"
    ask "$(request 30 ping)"
    is "nothing answers: $silent" "$(part .id)" 30
done
{ head -c 34000000 /dev/zero | tr '\0' a; echo; } >&7
hear_answer
is "a message that is too long" "$(part '[.id, .error.code]')" '[null,-32600]'
ask "$(request 31 ping)"
is "and the next one is read" "$(part .id)" 31
ask "$(tool 32 write_file '{"path":"large","content":"'"$(head -c 3000000 /dev/zero | tr '\0' x)"'"}')"
is "a large message that is not too long" "$(part '[.id, .result.isError]') $(stat -c %s ws/large)" '[32,null] 3000000'
rm ws/large
ask "$(tool 33 bash '{"command":"printf \"\\\\377\\\\001\\\\033[31mx\\n\""}')"
is "raw bytes cannot break the JSON" "$(part '.result.structuredContent.exit_code') $(iconv -f utf-8 -t utf-8 <<<"$answer" | tail -c +1 | wc -l)" "0 1"
unlike "and control characters are not there" "$answer" "$(printf '[\001\033]')"

# ---- running, being asked twice, cancelled

mkfifo ws/wait # the command says that it runs, and runs until it is told
wait_command='echo up > up; read x < wait; echo over'
say "$(tool 40 bash "{\"command\":\"$wait_command\"}")"
await test -e ws/up
ask "$(tool 40 read_file '{"path":"a.txt"}')"
is "an id that is under way cannot be used again" "$(part '[.id, .error.code]')" '[40,-32600]'
ask "$(tool 41 read_file '{"path":"a.txt"}')"
is "a read overtakes a slow command" "$(part '[.id, .result.content[0].text]')" '[41,"hello\n"]'
echo >ws/wait
hear_answer
is "which ends when it does" "$(part '[.id, .result.structuredContent.output]')" '[40,"over\n"]'
ask "$(tool 40 read_file '{"path":"a.txt"}')"
is "then the id is free again" "$(part .id)" 40

for ((i = 0; i < 40; i++)); do say "$(tool "\"slow-$i\"" bash '{"command":"echo >> many; exec sleep '$many'"}')"; done
many() { [ "$(wc -l <ws/many)" = 32 ]; }
ok "as many commands run as may" await many
ask "$(tool 44 read_file '{"path":"a.txt"}')"
is "and a read overtakes them all" "$(part '[.id, .result.content[0].text]')" '[44,"hello\n"]'
for ((i = 39; i >= 0; i--)); do # first those that wait: else they begin when others end
    say '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"slow-'$i'"}}'
done
none_of_many() { ! pgrep -fx "sleep $many" >/dev/null; }
ok "cancelled, they all end" await none_of_many
ask "$(tool 45 bash '{"command":"wc -l < many; rm many"}')"
is "and those that waited never began" "$(part '.result.content[0].text')" "32"

rm ws/up
say "$(tool '"c"' bash '{"command":"echo up > up; exec sleep '$nap'"}')"
await test -e ws/up
sleeper() { pgrep -fx "sleep $nap" >/dev/null; }
no_sleeper() { ! sleeper; }
ok "a command runs" await sleeper
say '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"c","reason":"enough"}}'
ok "cancelled, its box ends" await no_sleeper
ask "$(request 42 ping)"
is "and it is not answered" "$(part .id)" 42

rm ws/up
say "$(tool 43 bash '{"command":"echo first line; echo up > up; read x < wait"}' '{"progressToken":"p-1"}')"
hear
is "progress is told while a command runs" \
    "$(part '[.method, .params.progressToken, .params.message, (.params.progress | type)]')" \
    '["notifications/progress","p-1","first line","number"]'
hear
is "and that it lives, though it is silent" "$(part '[.method, .params.progressToken]')" '["notifications/progress","p-1"]'
echo >ws/wait
hear_answer
is "until it ends" "$(part .id)" 43

# Nobody may notice, but it must not stop: many requests while nothing is read.
for ((i = 100; i < 400; i++)); do say "$(tool $i read_file '{"path":"a.txt"}')"; done
for ((i = 100; i < 400; i++)); do hear_answer && printf '%s\n' "$answer"; done | jq .id | sort >got
is "three hundred requests at once are all answered" "$(cat got)" "$(seq 100 399)"

rm ws/up
say "$(tool 50 bash '{"command":"echo up > up; exec sleep '$nap'"}')"
await test -e ws/up
ok "a command runs" await sleeper
exec 8<&- 7>&-
ok "a client that vanishes takes its boxes along" await no_sleeper
wait "$server"
is "and the server ends in peace" $? 0

# ---- the end by a signal, and when nobody reads

for signal in TERM INT HUP; do
    serve --quiet
    initialize 2025-06-18
    rm -f ws/up
    say "$(tool 1 bash '{"command":"echo up > up; exec sleep '$nap'"}')"
    await test -e ws/up
    kill -$signal "$server"
    wait "$server"
    is "SIG$signal ends it" "$? $(pgrep -cfx "sleep $nap")" "0 0"
    exec 7>&- 8<&-
done
is "--quiet says nothing" "$(cat err)" ""

serve --quiet
initialize 2025-06-18
rm -f ws/up
say "$(tool 1 bash '{"command":"echo up > up; exec sleep '$nap'"}')"
await test -e ws/up
seq 100000000 100005000 >ws/big # more than the pipe holds, all answers together
for ((i = 2; i < 60; i++)); do say "$(tool $i read_file '{"path":"big"}')"; done
ok "a client that does not read cannot hold it" kill -TERM "$server"
wait "$server"
is "it ends all the same" "$? $(pgrep -cfx "sleep $nap")" "0 0"
rm ws/big
exec 7>&- 8<&-

serve --quiet
initialize 2025-06-18
exec 8<&-
say "$(request 1 ping)"
wait "$server"
is "a client that only closes its reading end has vanished too" $? 0
exec 7>&-

requests="$(request 0 initialize '{"protocolVersion":"2025-06-18","capabilities":{}}')
$(tool 1 read_file '{"path":"a.txt"}')
$(tool 2 bash '{"command":"echo from the box"}')"
is "requests can come through a pipe that ends" \
    "$("$COOP" mcp -q -w ws <<<"$requests" | jq -j 'select(.id > 0).result.content[0].text' | sort)" \
    "$(printf 'from the box\nhello')"

# ---- revisions

for version in 2024-11-05 2025-03-26 2025-06-18 2025-11-25; do
    serve --quiet
    initialize $version
    is "$version is spoken" "$(part .result.protocolVersion)" $version
    ask "$(request 1 tools/list)"
    case $version in
    2024*) expected='["description","inputSchema","name"]' ;;
    2025-03*) expected='["annotations","description","inputSchema","name"]' ;;
    *) expected='["annotations","description","inputSchema","name","outputSchema","title"]' ;;
    esac
    is "$version: what is told of a tool" "$(part '.result.tools[0] | keys')" "$expected"
    ask "$(tool 2 read_file '{"path":"a.txt"}')"
    case $version in 2024* | 2025-03*) expected='["content"]' ;; *) expected='["content","structuredContent"]' ;; esac
    is "$version: what is answered" "$(part '.result | keys')" "$expected"
    if [ $version = 2025-03-26 ]; then
        ask "[$(request 3 ping),{\"jsonrpc\":\"2.0\",\"method\":\"x\"},$(tool '"t"' read_file '{"path":"a.txt"}'),7]"
        is "$version: a batch is answered by one array" "$(part '[.[] | .id] | sort')" '[null,3,"t"]'
        ask "[]"
        is "$version: an empty batch is a mistake" "$(part '[.id, .error.code]')" '[null,-32600]'
        say '[{"jsonrpc":"2.0","method":"x"}]'
        ask "$(request 4 ping)"
        is "$version: a batch of notifications is not answered" "$(part .id)" 4
    fi
    end_server
done
serve --quiet
initialize 1999-01-01
is "one that nobody knows is answered with the newest" "$(part .result.protocolVersion)" 2025-11-25
end_server

# ---- pages of resources

mkdir -p ws/many/sub
for ((i = 0; i < 450; i++)); do : >"ws/many/f$i"; done
: >'ws/many/sub/with space and "'
serve --quiet
initialize 2025-11-25
cursor='' pages=0
: >uris
while :; do
    ask "$(request 1 resources/list "{${cursor:+\"cursor\":\"$cursor\"}}")"
    part '.result.resources[].uri' >>uris
    pages=$((pages + 1))
    cursor=$(part '.result.nextCursor // ""')
    [ -n "$cursor" ] || break
done
is "resources come in pages, each once" "$pages $(grep -c /many/ uris) $(sort uris | uniq -d | wc -l)" "3 451 0"
ask "$(request 2 resources/read '{"uri":"file:///work/many/sub/with%20space%20and%20%22"}')"
is "a name with a space can be read" "$(part '.result.contents[0].text')" ""
end_server
rm -r ws/many

# ---- who may do what

cat >people.toml <<'END'
[sandbox]
enabled = true
[[users]]
name = "anna"
trust = "owner"
match = ["test:owner"]
[[users]]
name = "fred"
trust = "full"
match = ["test:full"]
[[users]]
name = "ines"
trust = "inner"
match = ["test:inner"]
[[users]]
name = "fritz"
trust = "familiar"
match = ["test:familiar"]
END
serve --config people.toml --as test:familiar
initialize 2025-11-25
await test -s err
like "it greets whom it serves" "$(cat err)" 'test:familiar \(fritz\), level familiar'
ask "$(request 1 tools/list)"
is "only what they may use is listed" "$(part '[.result.tools[].name] | sort')" '["glob","grep","list_dir","read_file","stat"]'
ask "$(tool 2 bash '{"command":"true"}')"
is "the rest is refused" "$(part .result.isError)" true
like "in words that say what to do instead" "$(part '.result.content[0].text')" 'familiar.*read_file'
end_server
serve --read-only
initialize 2025-11-25
ask "$(request 1 tools/list)"
unlike "--read-only: what changes something is not listed" "$(part '[.result.tools[].name]')" 'write_file|remove|git_commit'
ask "$(tool 2 bash '{"command":"touch x"}')"
is "--read-only: a command cannot change the workspace" "$(part .result.isError) $(ls ws/x 2>&1)" "true ls: cannot access 'ws/x': No such file or directory"
ask "$(tool 3 read_file '{"path":"a.txt"}')"
is "--read-only: but it can be read" "$(part '.result.content[0].text')" hello
end_server

# ---- the client's roots, by hand

mkdir ws/one
serve --quiet --config people.toml
initialize 2025-11-25 '{"roots":{"listChanged":true}}'
is "lists that roots change are said to" "$(part '[.result.capabilities.tools.listChanged, .result.capabilities.resources.listChanged]')" '[true,true]'
hear_answer
is "a client that has roots is asked for them" "$(part .method)" roots/list
cp people.toml people.good
printf 'sandbox = 1\n' >people.toml
say '{"jsonrpc":"2.0","id":'"$(part '.id | tojson')"',"result":{"roots":[{"uri":"file://'"$T"'/ws/one"}]}}'
ask "$(tool 1 read_file '{"path":"a.txt"}')"
is "roots that cannot be applied leave nothing instead of all" "$(part '[.id, .error.code]')" '[1,-32603]'
ask "$(request 2 resources/read '{"uri":"file:///work/a.txt"}')"
is "nor resources" "$(part '[.id, .error.code]')" '[2,-32603]'
mv people.good people.toml
say '{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}'
hear_answer
say '{"jsonrpc":"2.0","id":'"$(part '.id | tojson')"',"result":{"roots":[{"uri":"file://'"$T"'/ws/one"}]}}'
ask "$(tool 3 read_file '{"path":"a.txt"}')"
like "once they can be, they hold" "$(part '.result.content[0].text')" 'outside the directories'
end_server
rmdir ws/one

# ---- rights: root's boxes are the workspace's owner, and so is whatever reads for them

if real_root; then
    printf 'of root alone\n' >ws/root-only
    mkdir -m 700 ws/root-directory
    : >ws/root-directory/f
    chmod 600 ws/root-only
    chown 12345:12345 ws
    chmod 755 "$T"
    for names in '' --filesystem-names; do
        serve --quiet $names
        initialize 2025-11-25
        path=/work/root-only
        [ -z "$names" ] || path=$T/ws/root-only
        ask "$(tool 1 bash "{\"command\":\"cat $path\"}")"
        like "a command cannot read what is root's alone $names" "$(part '.result.content[0].text')" 'Permission denied'
        ask "$(tool 2 read_file "{\"path\":\"$path\"}")"
        is "nor can a tool $names" "$(part .result.isError)" true
        ask "$(request 3 resources/read "{\"uri\":\"file://$path\"}")"
        is "nor is it a resource $names" "$(part .error.code)" -32002
        ask "$(request 4 resources/list)"
        unlike "what cannot be searched is not listed $names" "$answer" root-directory/f
        [ -z "$names" ] || ask "$(tool 5 directory_tree "{\"path\":\"$T/ws\"}")"
        unlike "nor shown in a tree $names" "$answer" '\"f\"'
        end_server
    done
    chown 0:0 ws
    rm -r ws/root-only ws/root-directory
fi

# ---- mistakes of whoever starts it

status "an option that does not exist" 2 "$COOP" mcp --no-such
status "a workspace that does not exist" 125 "$COOP" mcp -w /no/such
status "an identity that is none" 2 "$COOP" mcp --as nobody
status "a port that is none" 2 "$COOP" mcp --http --port 70000
printf 'sandbox = 1\n' >bad.toml
out=$("$COOP" mcp --policy bad.toml 2>&1 </dev/null)
is "a configuration with a mistake ends it" $? 2
like "and says where the mistake is" "$out" 'bad\.toml:1'
status "--write without install" 2 "$COOP" mcp --write
status "--port without --http" 2 "$COOP" mcp --port 4100
status "--token-file without --http" 2 "$COOP" mcp --token-file people.toml
status "--group without --as" 2 "$COOP" mcp --group
status "a client that starts a server with --http" 2 "$COOP" mcp install --http

# ---- configuration of clients

export HOME=$T/home
mkdir "$HOME"
out=$("$COOP" mcp install -w ws --read-only)
for name in claude-code claude-desktop codex cursor gemini vscode windsurf zed; do
    like "install prints the block of $name" "$out" "client $name"
done
is "install writes nothing by itself" "$(ls -A "$HOME")" ""
is "--write without any client says so" "$("$COOP" mcp install --write)" "no client was found; --client NAME creates the file"
mkdir -p "$HOME/.cursor"
printf '{"other": 1.50, "mcpServers": {"x": {"command": "y"}}}' >"$HOME/.cursor/mcp.json"
chmod 640 "$HOME/.cursor/mcp.json"
"$COOP" mcp install --write -w ws --as test:full >out
is "--write adds it to the clients that are here" "$(cat out)" "Cursor: added to $HOME/.cursor/mcp.json"
is "and keeps what was there" \
    "$(jq -c '[.mcpServers.x.command, (.mcpServers.coop | keys)]' "$HOME/.cursor/mcp.json") $(grep -c '"other": 1.50' "$HOME/.cursor/mcp.json")" \
    '["y",["args","command"]] 1'
is "with the options that were given" "$(jq -c .mcpServers.coop.args "$HOME/.cursor/mcp.json")" \
    "[\"mcp\",\"--workspace=$T/ws\",\"--as=test:full\"]"
is "and the rights" "$(stat -c %a "$HOME/.cursor/mcp.json")" 640
is "a second time changes nothing" "$("$COOP" mcp install --write -w ws --as test:full)" "Cursor: $HOME/.cursor/mcp.json already has it"
ok "what was written starts a server" bash -c 'jq -r ".mcpServers.coop | .command, .args[]" "$0" | { mapfile -t words; "${words[@]}" --quiet </dev/null; }' <(
    jq '.mcpServers.coop.args -= ["--as=test:full"]' "$HOME/.cursor/mcp.json")
for group in '--group' '--group-name=team'; do
    "$COOP" mcp install --client cursor --config people.toml --as test:full -w ws $group | tail -n +3 >block
    is "$group is written as it is given" "$(jq -r '.mcpServers.coop.args[-1]' block)" "$group"
    ok "$group: and the server takes it" bash -c 'jq -r ".mcpServers.coop | .command, .args[]" block | { mapfile -t words; "${words[@]}" --quiet </dev/null; }'
done
printf '{ // a comment\n}' >"$HOME/.cursor/mcp.json"
mkdir "$HOME/.gemini"
status "a file that is not JSON is left alone" 2 "$COOP" mcp install --write
is "as it was" "$(cat "$HOME/.cursor/mcp.json")" "$(printf '{ // a comment\n}')"
ok "and the other clients have theirs" jq -e .mcpServers.coop "$HOME/.gemini/settings.json"
ok "a file of a named client is made" "$COOP" mcp install --write --client codex
like "in its own language" "$(cat "$HOME/.codex/config.toml")" '^\[mcp_servers\.coop\]$'
is "and not twice" "$("$COOP" mcp install --write --client codex)" "Codex: $HOME/.codex/config.toml already has it"
out=$("$COOP" mcp install --client cursr 2>&1)
is "a client that nobody knows" $? 2
like "is told the one that was meant" "$out" "did you mean cursor"

# ---- HTTP by hand

serve_http() { # [OPTIONS]
    rm -f err
    "$COOP" mcp -w "$T/ws" --http "$@" </dev/null 2>err &
    server=$!
    await grep -q listening err
    port=$(sed -n 's,.*127\.0\.0\.1:\([0-9]*\)/mcp,\1,p' err)
    token=$(sed -n 's/.*token //p' err)
}
http() { # BYTES: prints the answer
    exec 9<>"/dev/tcp/127.0.0.1/$port"
    printf '%b' "$1" >&9
    within 20 cat <&9
    exec 9>&-
}
http_status() { http "$1" | head -n 1 | cut -d ' ' -f 2; }
# A POST of this body, with further lines of head.
post() { # BODY [LINES] [HOST]
    local host=${3-127.0.0.1:$port}
    printf 'POST /mcp HTTP/1.1\\r\\nHost: %s\\r\\nAuthorization: Bearer %s\\r\\nContent-Type: application/json\\r\\nAccept: application/json, text/event-stream\\r\\nConnection: close\\r\\n%bContent-Length: %d\\r\\n\\r\\n%s' \
        "$host" "$token" "${2-}" "${#1}" "${1//\\/\\\\}"
}
init=$(request 0 initialize '{"protocolVersion":"2025-11-25","capabilities":{}}')
serve_http
is "its first words come in this order" "$(sed -n 's/^\(coop mcp [0-9]\|Sandbox\|coop mcp: listening\|coop mcp: token\).*/\1/p' err | tr -d 0-9 | paste -sd ,)" "coop mcp ,Sandbox,coop mcp: listening,coop mcp: token"
is "it listens on the loopback interface alone" \
    "$(awk -v port=":$(printf %04X "$port")" '$4 == "0A" && index($2, port) { print $2 }' /proc/net/tcp /proc/net/tcp6)" "0100007F:$(printf %04X "$port")"
out=$(http "$(post "$init")")
like "a session begins with initialize" "$out" '"protocolVersion":"2025-11-25"'
session=$(tr -d '\r' <<<"$out" | sed -n 's/^Mcp-Session-Id: //p')
ok "and has a name" grep -Eqx '[0-9a-f]{32}' <<<"$session"
with="Mcp-Session-Id: $session\\r\\n"
like "a request in it is answered" "$(http "$(post "$(tool 1 read_file '{"path":"a.txt"}')" "$with")")" '"text":"hello'
is "a notification is accepted" "$(http_status "$(post '{"jsonrpc":"2.0","method":"notifications/initialized"}' "$with")")" 202
like "who wants to hear of progress gets a stream" "$(http "$(post "$(tool 2 bash '{"command":"echo x"}' '{"progressToken":1}')" "$with")")" '^data: .*"id":2'
wrong=$token
token=${token%?}x
is "another token is refused" "$(http_status "$(post "$init")")" 401
token=
is "no token is refused" "$(http_status "$(post "$init")")" 401
token=$wrong
is "another host is refused" "$(http_status "$(post "$init" "" evil.example)")" 403
is "this host at another port is refused" "$(http_status "$(post "$init" "" 127.0.0.1:1)")" 403
is "localhost is this host" "$(http_status "$(post "$init" "" "localhost:$port")")" 200
is "a page of another host is refused" "$(http_status "$(post "$init" 'Origin: http://evil.example\r\n')")" 403
is "also one that is called like this one" "$(http_status "$(post "$init" 'Origin: http://localhost.evil.example\r\n')")" 403
is "also one without a name" "$(http_status "$(post "$init" 'Origin: null\r\n')")" 403
is "a page of this host is not" "$(http_status "$(post "$init" 'Origin: http://localhost:6274\r\n')")" 200
is "no session" "$(http_status "$(post "$(request 1 ping)")")" 400
is "a session that does not exist" "$(http_status "$(post "$(request 1 ping)" 'Mcp-Session-Id: 0123\r\n')")" 404
is "a revision that does not exist" "$(http_status "$(post "$(request 1 ping)" "${with}MCP-Protocol-Version: 1999-01-01\\r\\n")")" 400
is "no JSON" "$(http_status "$(post '{' "$with")")" 400
is "another address" "$(http_status "$(post "$init" | sed 's,/mcp,/other,')")" 404
is "another method" "$(http_status "$(post "$init" | sed 's,POST,PUT,')")" 405
is "another type of content" "$(http_status "$(post "$init" | sed 's,application/json,text/plain,')")" 415
is "types that cannot be given" "$(http_status "$(post "$init" | sed 's,Accept: [^\\]*,Accept: text/html,')")" 406
is "a stream that nobody accepts" "$(http_status "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:$port\r\nAuthorization: Bearer $token\r\n$with\r\n")" 406
is "no HTTP" "$(http_status 'hello\r\n\r\n')" 400
is "HTTP of another time" "$(http_status 'GET / HTTP/3.0\r\n\r\n')" 505
is "two lengths" "$(http_status "$(post "$init" 'Content-Length: 1\r\n')")" 400
is "a head without end" "$(http_status "GET / HTTP/1.1\r\nA: $(head -c 20000 /dev/zero | tr '\0' a)\r\n\r\n")" 431
is "a body beyond measure" "$(http_status "$(post "$init" | sed 's/Content-Length: [0-9]*/Content-Length: 99999999/')")" 413
chunked=$(post "$init" | sed "s/Content-Length: [0-9]*/Transfer-Encoding: chunked/; s/\\\\r\\\\n\\\\r\\\\n.*/\\\\r\\\\n\\\\r\\\\n/")
is "a body in chunks" "$(http_status "$chunked$(printf '%x' ${#init})\r\n$init\r\n0\r\n\r\n")" 200
exec 9<>"/dev/tcp/127.0.0.1/$port"
whole=$(post "$init" 'Expect: 100-continue\r\n')
printf '%b' "${whole%%\{*}" >&9
IFS= read -rt "$(scaled 20)" -u 9 line
is "a client that asks whether to go on is told to" "${line%$'\r'}" "HTTP/1.1 100 Continue"
printf '%b' "{${whole#*\{}" >&9
like "and then answered" "$(within 20 cat <&9)" '^HTTP/1.1 200'
exec 9>&-

get="GET /mcp HTTP/1.1\\r\\nHost: 127.0.0.1:$port\\r\\nAuthorization: Bearer $token\\r\\nAccept: text/event-stream\\r\\n$with\\r\\n"
exec 6<>"/dev/tcp/127.0.0.1/$port"
printf '%b' "$get" >&6
IFS= read -rt "$(scaled 20)" -u 6 line
is "GET is the session's own stream" "${line%$'\r'}" "HTTP/1.1 200 OK"
is "and there is one" "$(http_status "$get")" 409
exec 6>&-
rm -f ws/up
exec 9<>"/dev/tcp/127.0.0.1/$port"
printf '%b' "$(post "$(tool 3 bash '{"command":"echo up > up; exec sleep '$nap'"}')" "$with")" >&9
await test -e ws/up
ok "a command runs" await sleeper
exec 9>&-
ok "a connection that breaks takes its box along" await no_sleeper
is "the session lives" "$(http_status "$(post "$(request 4 ping)" "$with")")" 200
# Without a token: said half, said nothing, said all but with another token and kept open.
strangers=()
for ((i = 0; i < 200; i++)); do
    exec {fd}<>"/dev/tcp/127.0.0.1/$port" || break
    strangers+=("$fd")
    case $((i % 3)) in
    0) printf 'POST /mcp HTTP/1.1\r\nHost: ' >&"$fd" ;;
    1) printf 'GET / HTTP/1.1\r\nHost: 127.0.0.1:%s\r\n\r\n' "$port" >&"$fd" ;;
    esac 2>/dev/null
done
is "two hundred others may connect" "${#strangers[@]}" 200
is "and a client with the token gets in" "$(http_status "$(post "$(request 4 ping)" "$with")")" 200
is "again and again" "$(for _ in {1..20}; do http_status "$(post "$(request 4 ping)" "$with")"; done | sort | uniq -c | tr -s ' ')" " 20 200"
threads=$(ls /proc/"$(pgrep -P "$server" coop-mcp || echo "$server")"/task | wc -l)
ok "they hold few places ($threads threads)" test "$threads" -lt 120
for fd in "${strangers[@]}"; do exec {fd}>&-; done
exec {slow}<>"/dev/tcp/127.0.0.1/$port"
printf 'POST /mcp HTTP/1.1\r\nHost: ' >&"$slow"
is "who says half and no more is sent away" "$(timeout 15 cat <&"$slow" | wc -c) ${PIPESTATUS[0]}" "0 0"
exec {slow}>&-
is "DELETE ends it" "$(http_status "DELETE /mcp HTTP/1.1\r\nHost: 127.0.0.1:$port\r\nAuthorization: Bearer $token\r\nConnection: close\r\n$with\r\n")" 200
is "and then it is not there" "$(http_status "$(post "$(request 5 ping)" "$with")")" 404
kill -TERM "$server"
wait "$server"
is "a signal ends it" $? 0

printf 'a-token-of-my-own-choice\n' >token
chmod 644 token
status "a token that others can read is refused" 2 "$COOP" mcp --http --token-file token
chmod 600 token
serve_http --token-file token
unlike "a token of one's own is not printed" "$(cat err)" "token"
token=a-token-of-my-own-choice
is "and is the one that counts" "$(http_status "$(post "$init")")" 200
status "a port that is taken is said to be" 125 "$COOP" mcp -w ws --http --port "$port"
kill -TERM "$server"
wait "$server"

# ---- the real thing, from npm

# Installed once, beside the build, where that can be written; else for this run alone.
install_packages() {
    MCP_NODE=$SRC/build/mcp-node
    [ -e "$MCP_NODE/installed" ] || [ -w "$SRC/build" ] || MCP_NODE=$T/mcp-node
    "$SRC/test/mcp/install" "$MCP_NODE"
}
# Results of a driver, as results of ours.
drive() { # DRIVER [ARGUMENTS]
    local name=$1 line last=
    shift
    while IFS= read -r line; do
        last=$line
        case $line in
        'ok - '*) tap_result 0 "${line#ok - }" ;;
        'not ok - '*) tap_result 1 "${line#not ok - }" ;;
        done) ;;
        *) note "$line" ;;
        esac
    done < <(within 120 node "$SRC/test/mcp/$name.mjs" "$@" 2>driver-err)
    is "$name: the driver came to its end" "$last" "done"
    [ "$last" = "done" ] || note "$(cat driver-err)"
}
if ! install_packages; then
    skip "the SDK drives every tool" "its packages cannot be installed: $(tail -n 3 "$MCP_NODE/log" 2>/dev/null | tr '\n' ' ')"
    done_testing
fi
export MCP_NODE COOP
fresh() { rm -rf "$T/ws" && mkdir "$T/ws"; }

fresh
drive tools "$T/ws"
fresh
serve_http
drive tools "$T/ws" "http://127.0.0.1:$port/mcp" "$token"
kill -TERM "$server"
wait "$server"

fresh
mkdir ws/one ws/two outside
for name in ws/one ws/two outside; do basename $name >$name/f; done
drive roots "$T/ws" "$T/outside"
serve_http
drive roots "$T/ws" "$T/outside" "http://127.0.0.1:$port/mcp" "$token"
kill -TERM "$server"
wait "$server"

mkdir alias alias-too
drive alias "$T/alias" "$T/alias-too"

repository() {
    fresh
    mkdir ws/src
    printf 'int add(int a, int b)\n{\n    return a - b;\n}\n' >ws/src/add.c
    cat >ws/src/test.c <<'END'
#include <stdio.h>
int add(int a, int b);
int main(void)
{
    puts(add(2, 3) == 5 ? "PASS" : "FAIL");
    return add(2, 3) != 5;
}
END
    printf 'test: prog\n\t./prog\nprog: src/add.c src/test.c\n\tcc -o prog src/add.c src/test.c\n' >ws/Makefile
    echo prog >ws/.gitignore
    (cd ws && git init -q -b main . && git config user.name t && git config user.email t@example.org && git add -A && git commit -qm begin)
}
for level in nobody owner full inner familiar public; do
    repository
    identity=test:$level
    [ $level != nobody ] || identity=
    drive day "$T/ws" "$T/people.toml" $level ${identity:+$identity}
done

fresh
drive foreign "$T/ws"

inspector=("$MCP_NODE/node_modules/.bin/mcp-inspector" --cli "$COOP" mcp --quiet -w "$T/ws")
fresh
printf 'hello\n' >ws/a.txt
out=$(within 60 "${inspector[@]}" --method tools/list 2>&1)
is "the inspector lists the tools" "$(jq -r '.tools | length' <<<"$out")" 21
out=$(within 60 "${inspector[@]}" --method tools/call --tool-name read_file --tool-arg path=a.txt 2>&1)
is "and calls one" "$(jq -r '.content[0].text' <<<"$out")" hello
out=$(within 60 "${inspector[@]}" --method resources/list 2>&1)
is "and lists resources" "$(jq -r '.resources[].uri' <<<"$out")" file:///work/a.txt
done_testing
