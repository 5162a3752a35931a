#!/bin/bash
# trust.t - who may do what, whether or not the sandbox is enabled
#
# The table of levels holds in both cases; what `enabled = false` takes away is the box around commands
# that are allowed. Each front end is asked: run, cron, plan, why, check, whoami, mcp.
. "$(dirname "$0")/tap.sh"
export XDG_CONFIG_HOME=$T/config XDG_STATE_HOME=$T/state HOME=$T/home
mkdir -p ws home
echo inside >ws/file
echo outside >beside
people() { # enabled [more lines of the first table]
    printf '[sandbox]\nenabled = %s\n%s\n' "$1" "${2-}"
    for level in owner full inner familiar public; do
        printf '[[users]]\nname = "%s"\ntrust = "%s"\nmatch = ["x:%s"]\n' "u-$level" "$level" "$level"
        printf '[[cron]]\nname = "c-%s"\nuser = "u-%s"\ncommand = "cat %s"\n' "$level" "$level" "$T/beside"
    done
    printf '[groups]\nopen = "inner"\nclosed = "public"\n'
}
people true >on.toml
people false >off.toml
people true 'mode = "disabled"' >mode.toml
coop_as() { # file words...
    local file=$1 command=$2
    shift 2
    "$COOP" "$command" -w "$T/ws" --config "$T/$file.toml" "$@" 2>&1 </dev/null
}
run() { # file identity [flags...]: whether the command ran, and where
    local file=$1 identity=$2 out
    shift 2
    out=$("$COOP" run -w "$T/ws" --config "$T/$file.toml" --as "$identity" "$@" -- sh -c 'cat file; cat "$0"' "$T/beside" 2>&1 </dev/null)
    case $out in
    *"may not run commands"*) echo refused ;;
    *inside*outside*) echo host ;;
    *inside*) echo box ;;
    *) echo "$out" ;;
    esac
}

# ---- no configuration at all

here() { (cd ws && "$COOP" "$@" 2>&1 </dev/null); }
like "an unknown sender runs nothing where nothing is configured" "$(here run --as signal:unknown -- id)" "'signal:unknown' may not run commands"
status "with coop's own status" 125 here run --as signal:unknown -- id
for identity in signal:unknown Terminal:default terminal:Default terminal:default2 'terminal:default ' webhook:x; do
    like "nor $identity" "$(here run --as "$identity" -- id)" "may not run commands"
done
for identity in '' : terminal terminal: :default $'terminal:default\n'; do
    status "'$identity' is no identity" 125 here run --as "$identity" -- id
done
like "the terminal may, where no users are named" "$(here run --as terminal:default -- cat file)" inside
like "but not in a group" "$(here run --as terminal:default --group -- id)" "may not run commands"
printf '[[users]]\nname = "a"\ntrust = "inner"\nmatch = ["x:a"]\n' >one.toml
like "where users are named, somebody must match it" "$(coop_as one run --as terminal:default -- id)" "hint: write a \[\[users\]\] entry that matches 'terminal:default'"

# ---- run

boxes=box
"$COOP" run -w ws -- true 2>/dev/null || boxes=
expect() { # file level what
    local want=$3
    if [ "$want" = box ] && [ -z "$boxes" ]; then
        skip "run, $1: $2" "no box can be made here"
        return 0
    fi
    is "run, $1: $2" "$(run "$1" "x:$2")" "$want"
}
for file in on off mode; do
    allowed=host
    [ $file = on ] && allowed=box
    expect $file owner host
    expect $file full $allowed
    expect $file inner $allowed
    for level in familiar public stranger; do expect $file $level refused; done
    is "run, $file: the owner in a group" "$(run $file x:owner --group)" refused
    is "run, $file: in a group with a lower ceiling" "$(run $file x:full --group-name closed)" refused
    is "run, $file: a flag does not help" "$(run $file x:familiar --mode disabled)" refused
    status "cron, $file: familiar" 125 coop_as $file run --cron c-familiar
    status "cron, $file: public" 125 coop_as $file run --cron c-public
    like "cron, $file: owner" "$(coop_as $file run --cron c-owner)" outside
    status "plan, $file: public" 2 coop_as $file plan --as x:public -- id
done
is "run, off: in a group with a ceiling that may" "$(run off x:owner --group-name open)" host

# ---- why, check, whoami

for file in on off mode; do
    for question in "read file" "write file" "exec /bin/sh" "-- id" "read $T/beside"; do
        # shellcheck disable=SC2086
        like "why, $file: public, $question" "$(coop_as $file why --as x:public $question)" "^denied: .*"
    done
    like "why, $file: familiar reads" "$(coop_as $file why --as x:familiar read file)" "^allowed"
    like "why, $file: familiar does not read beside" "$(coop_as $file why --as x:familiar read "$T/beside")" "^denied"
    like "why, $file: familiar does not write" "$(coop_as $file why --as x:familiar write file)" "^denied"
    like "why, $file: familiar runs nothing" "$(coop_as $file why --as x:familiar -- id)" "^denied"
    like "why, $file: owner" "$(coop_as $file why --as x:owner read "$T/beside")" "^allowed"
done
like "why, off: inner" "$(coop_as off why --as x:inner read "$T/beside")" "^allowed"
{
    cat off.toml
    while read -r level answer question; do
        printf '[[expect]]\nas = "x:%s"\n%s = "%s"\n' "$level" "$answer" "$question"
    done
} >expect.toml <<END
public deny read file
public deny -- id
familiar allow read file
familiar deny write file
familiar deny -- id
familiar deny read $T/beside
inner allow -- id
END
ok "check, off: expectations hold" "$COOP" check --config "$T/expect.toml" -w "$T/ws"
who() { coop_as "$1" whoami --as "x:$2" | sed -n 's/^\(tools\|commands\)  *//p' | paste -sd '|'; }
is "whoami, off: public" "$(who off public)" "none|not at all"
is "whoami, off: stranger" "$(who off stranger)" "none|not at all"
is "whoami, off: familiar" "$(who off familiar)" "read-only file tools|not at all"
is "whoami, off: inner" "$(who off inner)" "bash and file tools|on the host: the sandbox is not enabled"
is "whoami, off: owner" "$(who off owner)" "all|on the host, without a sandbox"
is "whoami, on: inner" "$(who on inner)" "bash and file tools|in a sandbox"
is "whoami, on: public" "$(who on public)" "none|not at all"
is "whoami, mode: inner" "$(who mode inner)" "bash and file tools|on the host: the mode is 'disabled'"
is "whoami without configuration says what run does" "$(here whoami | sed -n 's/^\(level\|tools\|commands\)  *//p' | paste -sd '|')" \
    "full|all|on the host: the sandbox is not enabled"

like "cron: the hint of a refusal" "$(coop_as on run --cron c-familiar)" "hint: 'coop whoami --cron c-familiar' shows"
like "can be followed" "$(coop_as on whoami --cron c-familiar | paste -sd '|')" '^identity +c-familiar\|user +u-familiar\|.*level +familiar'
like "an identity is quoted there" "$(coop_as on run --as 'x:a b' -- id)" "hint: 'coop whoami --as '?x:a b'?' shows"

# ---- mcp

answers() { # file level
    {
        echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
        echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
        echo '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
        printf '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"read_file","arguments":{"path":"%s"}}}\n' "$T/beside"
        printf '{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"bash","arguments":{"command":"cat %s"}}}\n' "$T/beside"
    } | "$COOP" mcp --quiet --config "$T/$1.toml" -w "$T/ws" --as "x:$2" 2>/dev/null
}
calls() { answers "$@" | jq -r 'select(.id == 2) | .result.tools | "\(length) tools"'; }
said() { answers "$@" | jq -r 'select(.id == 3 or .id == 4) | .result.content[0].text'; }
for file in on off mode; do
    is "mcp, $file: public has no tools" "$(calls $file public)" "0 tools"
    is "mcp, $file: nor has a stranger" "$(calls $file stranger)" "0 tools"
    is "mcp, $file: familiar reads" "$(calls $file familiar)" "5 tools"
    unlike "mcp, $file: familiar reads nothing beside the workspace" "$(said $file familiar)" 'outside'
    unlike "mcp, $file: a call that is not listed is refused" "$(said $file public)" 'outside'
done
is "mcp, off: inner has all but what leaves the machine" "$(calls off inner)" "21 tools"
is "mcp, off: full has all" "$(calls off full)" "22 tools"

# ---- a file that cannot be believed

for broken in 'sandbox = 1' '[[users]]\nname = "a"\ntrust = "boss"\nmatch = ["x:a"]' '[[users]' \
    '[[users]]\nname = "a"\ntrust = "owner"\nmatch = ["x:a"]\n[[users]]\nname = "b"\ntrust = "full"\nmatch = ["x:a"]' \
    '[[users]]\nname = "a"\ntrust = "owner"\nmatch = ["*"]'; do
    # shellcheck disable=SC2059
    printf "$broken\n" >broken.toml
    status "run: nothing with '$broken'" 125 coop_as broken run --as x:a -- id
    not_ok "mcp: nothing with '$broken'" coop_as broken mcp --as x:a
    not_ok "whoami: nothing with '$broken'" coop_as broken whoami --as x:a
done
status "nor with a file that is not there" 125 coop_as missing run --as x:a -- id
status "a project cannot disable the sandbox" 125 sh -c 'printf "[sandbox]\nenabled = false\n" >"$2/ws/coop.toml"; "$1" run -w "$2/ws" --config "$2/on.toml" --as x:inner -- id' sh "$COOP" "$T"
rm -f ws/coop.toml

# ---- memory stores

memory=$T/state/coop/memory
mkdir -p "$memory/social" "$memory/private"
echo remembered >"$memory/social/note"
echo mine >"$memory/private/note"
like "whoami: the owner's stores are on the host" "$(coop_as on whoami --as x:owner)" "^stores +private, shared, social, in $memory$"
like "whoami: others' in the box" "$(coop_as on whoami --as x:inner)" "^stores +shared, social, in /memory$"
like "whoami: nobody's" "$(coop_as on whoami --as x:public)" "^stores +none$"
# shellcheck disable=SC2016
like "the owner's commands are told" "$(coop_as on run --as x:owner -- sh -c 'cat "$COOP_MEMORY/private/note"')" '^mine$'
# shellcheck disable=SC2016
like "without a sandbox others' too" "$(coop_as off run --as x:inner -- sh -c 'cat "$COOP_MEMORY/social/note"')" '^remembered$'
like "and with the mode 'disabled'" "$(coop_as mode run --as x:inner -- printenv COOP_MEMORY)" "^$memory$"
like "not having a home does not stop the owner" "$(env -u HOME -u XDG_STATE_HOME "$COOP" run --config on.toml -w ws --as x:owner -- echo runs 2>&1)" '^runs$'
if [ -n "$boxes" ]; then
    # shellcheck disable=SC2016
    is "in a box too" "$(coop_as on run --as x:inner -- sh -c 'echo $COOP_MEMORY; cat /memory/social/note; ls /memory')" $'/memory\nremembered\nshared\nsocial'
else
    skip "stores in a box" "no box can be made here"
fi
asks() { # file level tool arguments
    {
        echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}'
        printf '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"%s","arguments":%s}}\n' "$3" "$4"
    } | "$COOP" mcp --quiet --config "$T/$1.toml" -w "$T/ws" --as "x:$2" 2>/dev/null |
        jq -r '.result | .instructions // .content[0].text'
}
for file in on off mode; do
    like "mcp, $file: familiar reads social" "$(asks $file familiar read_file '{"path":"/memory/social/note"}')" '^remembered'
    unlike "mcp, $file: but not private" "$(asks $file familiar read_file '{"path":"/memory/private/note"}')" '^mine'
    like "why, $file: familiar does not write there" "$(coop_as $file why --as x:familiar write /memory/social/note)" '^denied'
done
like "mcp: the owner's model is told where" "$(asks on owner read_file "{\"path\":\"$memory/private/note\"}")" "in $memory\."
like "mcp: and its tools read there" "$(asks on owner read_file "{\"path\":\"$memory/private/note\"}")" '^mine'

# ---- another word for a network

printf '[network]\nmode = "veth"\n' >veth.toml
like "veth is another word for nat in a file" "$(coop_as veth whoami)" '^network +nat '
is "and as a flag" "$("$COOP" plan --network veth -w "$T/ws" -- true 2>&1 | head -n 20)" "$("$COOP" plan --network nat -w "$T/ws" -- true 2>&1 | head -n 20)"
status "but no other word is" 2 "$COOP" plan --network vet -w "$T/ws" -- true
is "a project cannot ask for it by that name either" "$(printf '[network]\nmode = "veth"\n' >ws/coop.toml; coop_as on run -- true >out; echo $?; rm ws/coop.toml)" 125
done_testing
