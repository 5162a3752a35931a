#!/bin/bash
# config.t - coop config show, schema and import; coop allow; files that want to hurt
. "$(dirname "$0")/tap.sh"

export HOME=$T/home XDG_CONFIG_HOME=$T/config XDG_STATE_HOME=$T/state
umask 022
mkdir -p "$HOME" "$XDG_CONFIG_HOME/coop" work
mine=$XDG_CONFIG_HOME/coop/coop.toml
if [ -e /etc/coop/coop.toml ]; then
    skip_never "all of it" "this machine has an /etc/coop/coop.toml" || done_testing
fi
show() { timeout -s KILL 60 "$COOP" config show -w work "$@"; }
# says DESCRIPTION STATUS EXPECTED-STDERR: what show says, and that it prints nothing when it fails
says() {
    local r=0
    show >out 2>err || r=$?
    [ "$r" = 0 ] || [ ! -s out ] || r="$r, and printed something"
    is "$1" "$r|$(cat err)" "$2|$3"
}
value() { show 2>/dev/null | awk -v key="$1" '$1 == key { $1 = ""; print substr($0, 2) }'; }

# ---- show

ok "without any file the defaults hold" show
is "a default says so" "$(value sandbox.memory)" '"2g" built-in default'
cat >"$mine" <<'END'
[sandbox]
memory = "4g"
blocked_paths = ["~/.ssh"]
allow_network = true

[[users]]
name = "alice"
trust = "owner"
match = ["terminal:default"]

[groups]
"family*" = "inner"
END
is "a value knows its place" "$(value sandbox.memory)" "\"4g\" $mine:2:10"
is "the network is what the keys say together" "$(value sandbox.network)" "\"host\" $mine:4:17"
is "tables in lists are numbered" "$(value 'users[0].trust')" "\"owner\" $mine:8:9"
is "names are keys" "$(value 'groups.family*')" "\"inner\" $mine:12:13"
printf '[sandbox]\nmemory = "3g"\nblocked_paths = ["x"]\n' >work/coop.toml
ws=$(cd work && pwd -P)
is "a project narrows" "$(value sandbox.memory)" "\"3g\" $ws/coop.toml:2:10"
is "what it forbids is added" "$(value sandbox.blocked_paths)" \
    "[\"~/.ssh\", \"x\"] $mine:3:18, $ws/coop.toml:3:18"
rm work/coop.toml
if command -v jq >/dev/null; then
    is "--json has the same" \
        "$(show --json | jq -c '.values[] | select(.key == "sandbox.memory") | [.value, .layer, .origin.line, .origin.column]')" \
        '["4g","user",2,10]'
    is "--json names the files" "$(show --json | jq -r '.files[] | .path + " " + .layer')" "$mine user"
else
    skip "--json" "no jq"
fi
printf '[sandbox]\nmemory = "1g"\n' >other.toml
is "--config replaces the user's file" "$(show --config other.toml | grep -c '4g')" 0
status "a file that is named must exist" 1 show --config gone.toml
status "a workspace must exist" 1 "$COOP" config show -w gone
status "an operand is wrong usage" 2 "$COOP" config show x

# ---- mistakes

cat >"$mine" <<'END'
[sandbox]
memry = "1g"
memory = "lots"
[[users]]
name = "a"
trust = "oner"
match = ["x:1"]
END
says "several mistakes in one go" 1 "$mine:2:1: error: unknown key 'memry' in sandbox; did you mean 'memory'?
$mine:3:10: error: sandbox.memory is 'lots', expected a size such as \"512m\" or \"2g\" or \"none\"
$mine:6:9: error: users[].trust is 'oner', expected one of public, familiar, inner, full, owner; did you mean \"owner\"?"

# ---- secrets

(umask 077 && printf '[secrets.KEY]\nvalue = "canary-7"\nusers = ["a"]\n[secrets.CMD]\ncommand = ["echo", "canary-7"]\n' >secret.toml)
for option in "" --json; do
    unlike "config show $option shows no secret" "$(show --config secret.toml $option 2>&1)" canary
    like "config show $option says that there is one" "$(show --config secret.toml $option 2>&1)" '\[secret\]'
done
chmod 644 secret.toml
like "secrets that others can read are refused" "$(show --config secret.toml 2>&1)" \
    'secret.toml:1:2: error: secrets are refused in a file that others can read or write \(its mode is 0644\)'
chmod 600 secret.toml
printf '[secrets.KEY]\nvalue = canary-7\n' >secret.toml
unlike "a mistake among secrets does not tell them" "$(show --config secret.toml 2>&1)" canary
cp secret.toml work/coop.toml
unlike "nor in a project" "$(show 2>&1)" canary
printf '[secrets.KEY]\nvalue = "canary-7"\n' >work/coop.toml
: >"$mine"
says "a project has no secrets" 1 "$ws/coop.toml:1:2: error: [secrets] has no place in a project's file; write it into the owner's own file"
chmod o+w "$mine"
rm work/coop.toml
says "a file that others can write is a warning" 0 "$mine: warning: others can write this file, and with it decide what is allowed; chmod go-w it"
chmod o-w "$mine"

# ---- what a project asks for, and coop allow

printf '[sandbox]\nmemory = "9g"\nnetwork = "host"\n' >work/coop.toml
fix="the owner approves this file with: coop allow $ws/coop.toml"
asked="$ws/coop.toml:2:10: error: sandbox.memory asks for '9g', but the owner's configuration says '2g' (built-in default); $fix
$ws/coop.toml:3:11: error: sandbox.network asks for 'host', the network \"host\", but the owner's configuration gives \"none\" (built-in default); $fix"
says "asking for more is refused" 1 "$asked"
out=$(cd work && "$COOP" allow 2>&1)
like "coop allow prints what it grants" "$out" "coop.toml:2:10: info: sandbox.memory asks for '9g'"
like "and what it approved" "$out" "^approved $ws/coop.toml$"
says "what is approved is given" 0 ""
is "and shown" "$(value sandbox.network)" "\"host\" $ws/coop.toml:3:11"
like "coop allow --list shows it" "$("$COOP" allow --list)" "^valid .* $ws/coop.toml$"
is "only its owner can read the approvals" "$(stat -c %a "$XDG_STATE_HOME/coop/allowed")" 700
echo '# another thought' >>work/coop.toml
says "another byte voids it" 1 "$asked"
like "coop allow --list says so" "$("$COOP" allow --list)" "^changed .* $ws/coop.toml$"
mkdir elsewhere && cp work/coop.toml elsewhere && "$COOP" allow elsewhere/coop.toml >/dev/null 2>&1
says "the same text elsewhere is not approved here" 1 "$asked"
ok "coop allow --revoke takes it back" "$COOP" allow --revoke elsewhere/coop.toml
status "once" 1 "$COOP" allow --revoke elsewhere/coop.toml
like "an approval inside the workspace does not count" \
    "$(XDG_STATE_HOME=$T/work/state "$COOP" allow work/coop.toml 2>&1)" "lies in the workspace"
ok "and none was made" test ! -e work/state
like "nor through a link" \
    "$(ln -s work link && XDG_STATE_HOME=$T/link/state "$COOP" allow work/coop.toml 2>&1)" "lies in the workspace"
like "what is no project file is one for --config" "$("$COOP" allow other.toml)" "^approved $T/other.toml"
status "coop allow wants one file" 2 "$COOP" allow a b
echo 'x = 1' >>work/coop.toml
status "a file with a mistake is not approved" 1 "$COOP" allow work/coop.toml
rm work/coop.toml
status "where there is no file, there is nothing to approve" 1 env -C work "$COOP" allow

# ---- the campaign's file

mkdir work/.campaign
cp "$SRC/doc/examples/campaign.yaml" work/.campaign/sandbox.yaml
is "the campaign's YAML binds" "$(value commands.go.allowed)" \
    "[\"build\", \"test\", \"vet\", \"mod\"] $ws/.campaign/sandbox.yaml:8:11"
printf '[commands]\nstrength = "check"\n' >"$mine"
like "commands are asked for where there is a list" "$(show 2>&1)" \
    "sandbox.yaml:4:3: error: commands.go adds a command that the owner's configuration does not allow"
ok "and can be approved" "$COOP" allow work/.campaign/sandbox.yaml
ok "then they are given" show
printf 'sandbox:\n  enabled: no\n  pids_limit: 7\n' >work/.campaign/sandbox.yaml
like "in YAML too, false is written false" "$(show 2>&1)" \
    "sandbox.yaml:2:12: error: sandbox.enabled is 'no', expected true or false; write true or false"
rm -r work/.campaign
: >"$mine"

# ---- coop config schema walks the whole table

rows=$(sed -nE 's/^\[([a-z_.*]+(\[\])?[a-z_.*]*)\]$/\1/p' "$SRC"/src/settings/*.ini | grep -vx order | sort)
flat='
import json, sys
def walk(path, node):
    if path: yield path
    if path.endswith("].sandbox"): return
    nodes = [node] + node.get("anyOf", [])
    for n in nodes:
        if n.get("type") == "array": n, inner = n["items"], path + "[]"
        else: inner = path
        for key, child in n.get("properties", {}).items():
            yield from walk(inner + "." + key if inner else key, child)
        if isinstance(n.get("additionalProperties"), dict):
            yield from walk(inner + ".*", n["additionalProperties"])
for path in walk("", json.load(sys.stdin)):
    print(path)
'
if command -v python3 >/dev/null; then
    is "coop config schema has every key" "$("$COOP" config schema | python3 -c "$flat" | sort)" "$rows"
else
    skip "coop config schema has every key" "no python3"
fi

# ---- examples

for example in "$SRC"/doc/examples/*.toml "$SRC"/doc/examples/*.yaml; do
    cp "$example" "$T/${example##*/}" && chmod 600 "$T/${example##*/}"
    is "${example##*/} is clean" "$("$COOP" config show --config "$T/${example##*/}" 2>&1 >/dev/null; echo $?)" 0
done

# ---- import

cat >zones.toml <<'END'
basePath = "/tmp/sandbox"
[zones]
workspace = { path = "project", writable = true }
cache = { path = "cache", writable = false }
END
cat >zones.json <<'END'
{ "sandbox": { "type": "local", "basePath": "/tmp/sandbox",
	"zones": { "workspace": { "path": "project", "writable": true }, "cache": { "path": "cache", "writable": false } } } }
END
expected='[sandbox]
root = "/tmp/sandbox/project"
readonly = false
mounts = [
    { source = "/tmp/sandbox/cache", target = "/cache", readonly = true },
]'
for file in zones.toml zones.json; do
    "$COOP" config import --zones $file >imported.toml 2>err
    is "zones are converted from ${file#*.}" "$(cat imported.toml err)" "$expected"
done
ok "the result is a configuration" show --config imported.toml
echo 'zones = { a = { path = "../x" } }' >zones.toml
like "mistakes have a place" "$("$COOP" config import --zones zones.toml 2>&1)" "zones.toml:1:1: error: the configuration has no 'basePath'"
status "and the status is 1" 1 "$COOP" config import --zones zones.toml
status "import wants a file" 2 "$COOP" config import

# ---- files that want to hurt: in the project, where the agent puts them

hurts() { # DESCRIPTION SENTENCE: one line on stderr, status 1
    local r=0
    show >out 2>err || r=$?
    is "$1" "$r|$(wc -c <out)|$(wc -l <err)|$(head -c "$((${#ws} + 10 + ${#2}))" err)" "1|0|1|$ws/coop.toml$2"
    rm -rf work/coop.toml
}
repeat() { awk -v n="$2" -v text="$1" 'BEGIN { for (i = 0; i < n; i++) printf "%s", text }'; }
mkdir work/coop.toml
hurts "a directory" ": error: cannot be read: it is a directory"
mkfifo work/coop.toml
hurts "a FIFO" ": error: cannot be read: it is a FIFO"
ln -s coop.toml work/coop.toml
hurts "a link to itself" ": error: a symbolic link leads to this file"
ln -s /etc/passwd work/coop.toml
hurts "a link to elsewhere" ": error: a symbolic link leads to this file"
truncate -s 17M work/coop.toml
hurts "17 MiB" ": error: cannot be read: it is larger than 16 MiB"
printf 'a = "\377"\n' >work/coop.toml
hurts "invalid UTF-8" ":1:6: error: "
printf 'a\0b\n' >work/coop.toml
hurts "a NUL" ":1:2: error: "
{ printf 'a = '; repeat '[' 10000; } >work/coop.toml
hurts "nesting of 10,000" ":1:517: error: tables and arrays lie more than 512 deep"
{ printf '[groups]\n'; awk 'BEGIN { for (i = 0; i < 100000; i++) print "k" i " = \"x\"" }'; } >work/coop.toml
show >out 2>err
is "100,000 wrong values: a hundred are named, the others counted" "$(wc -l <err) $(tail -n 1 err)" "101 and 99900 more"
awk 'BEGIN { for (i = 0; i < 100000; i++) print "key" i " = 1" }' >work/coop.toml
show >out 2>err
is "100,000 unknown keys likewise" "$(wc -l <err) $(tail -n 1 err)" "101 and 99900 more"
many() { # WHAT PATTERN: what `coop check` says of the file
    is "$1" "$("$COOP" check --config many.toml -w work 2>&1 | sed 's/^.*error/error/' | head -n 1)" "$2"
}
rm work/coop.toml
{ echo '[environment.set]' && awk 'BEGIN { for (i = 0; i < 100000; i++) print "K" i " = \"x\"" }'; } >many.toml
many "100,000 variables are too many" "error: more than 4096 variables"
{ printf '[sandbox]\nextra_ro_paths = [' && awk 'BEGIN { for (i = 0; i < 100000; i++) printf "\"/x/%d\", ", i }' && echo ']'; } >many.toml
many "and so many paths" "error: more than 4096 mounts"
{ printf '[sandbox]\nmounts = [' && awk 'BEGIN { for (i = 0; i < 100000; i++) printf "{ source = \"/usr\", target = \"/x/%d\" }, ", i }' && echo ']'; } >many.toml
many "and mounts" "error: more than 4096 mounts"
{ printf '[environment]\ncampaign = """'; repeat 'sixteen bytes...' 655360; echo '"""'; } >work/coop.toml
is "a value of 10 MiB is a value" "$(show | grep -c sixteen)" 1
printf '\357\273\277[sandbox]\r\nmemory = "1g"\r\n' >work/coop.toml
is "a byte order mark and CRLF are fine" "$(value sandbox.memory)" "\"1g\" $ws/coop.toml:2:10"
cp work/coop.toml work/Coopfile
like "two project files are one too many" "$(show 2>&1)" "$ws/Coopfile: error: there is a coop.toml beside this file; keep one of them"
rm work/coop.toml work/Coopfile
if [ "$(id -u)" != 0 ]; then
    printf '' >work/coop.toml && chmod 000 work/coop.toml
    hurts "a file that cannot be read" ": error: cannot be read: Permission denied"
fi
done_testing
