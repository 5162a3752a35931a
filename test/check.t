#!/bin/bash
# coop check: each check fires once and is silent once; expectations, also in a real box; --narrower
. "$(dirname "$0")/tap.sh"
export XDG_CONFIG_HOME=$T/config XDG_STATE_HOME=$T/state HOME=$T/home
mkdir -p ws/src ws/private home/.ssh data
echo key >home/.ssh/id_rsa
echo x >home/notes
echo x >ws/private/x

check() { "$COOP" check --config "$T/f.toml" -w "$T/ws" "$@" </dev/null 2>&1; }
file() { cat >"$T/f.toml"; }
says() { # what pattern; the file is on stdin
    file
    like "$1" "$(check)" "$2"
}
# Without what the machine itself lacks: some have no user namespaces.
clean() {
    file
    is "$1" "$(check | grep -vE 'this host|^[0-9]+ error')" ""
}
full_tier() { "$COOP" status >/dev/null 2>&1; }
# What tries things in the box is coop itself, and a sanitizer cannot live there.
can_live() { full_tier && "$COOP" run -w ws --ro "$COOP:/run/coop" -- /run/coop --version >/dev/null 2>&1; }

# ---- clean

: >f.toml
clean "an empty file is clean" </dev/null
clean "an ordinary one is clean" <<EOF
[sandbox]
memory = "1g"
pids_limit = 100
extra_ro_paths = ["$T/data"]
blocked_paths = ["private"]
env_passthrough = ["EDITOR"]
[protect]
deny = ["fixtures/*"]
[[users]]
name = "a"
trust = "owner"
match = ["terminal:default"]
[[expect]]
deny = "read private/x"
EOF
# Without what it says of limits where no cgroup can be written: weaker.t is about these lines.
settled() { check | grep -v 'no cgroup can enforce'; }
full_tier && is "and the summary says so" "$(settled)" "0 errors, 0 warnings, 1 of 1 expectation holds"
full_tier && status "exit status 0" 0 check

# ---- the seed's six

says "memory format" 'f.toml:2:10: error: sandbox.memory is .2x., expected a size' <<<$'[sandbox]\nmemory = "2x"'
status "exit status 1 on errors" 1 check
says "pids" 'f.toml:2:14: error: sandbox.pids_limit is 0' <<<$'[sandbox]\npids_limit = 0'
says "several owners" "f.toml:7:9: warning: user 'b' is owner, and so is 'a'" <<'EOF'
[[users]]
name = "a"
trust = "owner"
match = ["x:1"]
[[users]]
name = "b"
trust = "owner"
match = ["x:2"]
EOF
full_tier && status "warnings are no errors" 0 check
status "--strict makes them so" 1 check --strict
says "no owner" 'warning: no user is owner' <<'EOF'
[sandbox]
enabled = true
[[users]]
name = "a"
trust = "full"
match = ["terminal:default"]
EOF
file <<<''
if full_tier; then
    unlike "a host that can hold everything" "$(settled)" 'this host'
    if is_root || in_user_namespace; then
        skip_never "a host that refuses user namespaces" "root makes them anyway"
    else
        # A limit of none on user namespaces, in a user namespace of our own.
        refusing() { unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"' sh "$@"; }
        if refusing true 2>/dev/null; then
            like "user namespaces refused" "$(refusing "$COOP" check --config f.toml -w ws 2>&1)" 'error: this host refuses user namespaces'
            like "and how far it is degraded" "$(refusing "$COOP" check --config f.toml -w ws 2>&1)" "error: this host cannot provide all isolation layers, only the tier"
            file <<<$'[sandbox]\nmode = "preferred"'
            like "which is a warning where the mode is preferred" "$(refusing "$COOP" check --config f.toml -w ws 2>&1)" "f.toml:2:8: warning: this host cannot provide all isolation layers"
        else
            skip_never "a host that refuses user namespaces" "the limit cannot be set here"
        fi
    fi
else
    like "a host that cannot hold everything" "$(check)" 'error: this host'
fi

# ---- more

says "a source that does not exist" "f.toml:2:19: error: the mount source '/no/such/place' cannot be shown" \
    <<<$'[sandbox]\nextra_ro_paths = ["/no/such/place"]'
says "a mount that a block hides" "error: '$T/data' is mounted, but blocked_paths hides '$T' .line 3" <<EOF
[sandbox]
extra_rw_paths = ["$T/data"]
blocked_paths = ["$T"]
EOF
says "a mount that changes nothing" "warning: the mount of '$T/data/a' changes nothing" \
    < <(mkdir -p data/a && printf '[sandbox]\nextra_ro_paths = ["%s", "%s"]\n' "$T/data" "$T/data/a")
says "a mount point that is not there" "error: the mount target '/work/none' is in the workspace and does not exist" <<EOF
[[sandbox.mounts]]
source = "$T/data"
target = "/work/none"
EOF
says "the workspace once more" "warning: the mount of '$T' shows the whole workspace once more" <<<$'[sandbox]\nextra_ro_paths = ["'"$T"'"]'
says "a block that misses" "error: blocked_paths '$T/ws/private' hides nothing: .*; write 'private'" <<<$'[sandbox]\nblocked_paths = ["'"$T"'/ws/private"]'
says "match collisions" "error: 'x:1' is in the 'match' of user 'a' and of user 'b'" <<'EOF'
users = [ { name = "a", trust = "full", match = ["x:1"] }, { name = "b", trust = "full", match = ["x:1"] } ]
EOF
says "denied and allowed" "error: 'a' is in protect.allow and, on line 2, in protect.deny" <<<$'[protect]\ndeny = ["a"]\nallow = ["a"]'
says "a malformed pattern" 'f.toml:2:9: error: ' <<<$'[protect]\ndeny = ["["]'
says "a pattern twice" "warning: 'a' is twice in protect.deny" <<<$'[protect]\ndeny = ["a", "a"]'
says "a shadowed pattern" "warning: 'k/a' in protect.deny changes nothing: 'k' .line 2" <<<$'[protect]\ndeny = ["k", "k/a"]'
says "a reserved variable" 'f.toml:2:10: error: ' <<<$'[environment.set]\nCOOP_X = "1"'
says "a filtered variable" 'f.toml:2:20: error: ' <<<$'[sandbox]\nenv_passthrough = ["AWS_SECRET"]'
says "a malformed host" 'f.toml:2:10: error: ' <<<$'[network]\nallow = ["http://example.org"]'
says "hosts that nobody asks for" 'warning: network.allow changes nothing' <<<$'[network]\nmode = "none"\nallow = ["example.org"]'
says "contradictory commands" "error: 'go test' is allowed and, as 'test', blocked" <<'EOF'
[commands]
strength = "check"
[commands.go]
allowed = ["test"]
blocked = ["test"]
EOF
says "an override that widens" "info: user 'b' gets more than .sandbox. allows: limits: memory" <<'EOF'
[[users]]
name = "b"
trust = "full"
match = ["x:1"]
sandbox = { memory = "8g" }
EOF
clean "one that does not" <<'EOF'
[[users]]
name = "b"
trust = "full"
match = ["x:1"]
sandbox = { memory = "1g" }
EOF
says "a user's own keys that are wrong" "error: for user 'b': .*AWS_SECRET" <<'EOF'
[[users]]
name = "b"
trust = "full"
match = ["x:1"]
sandbox = { env_passthrough = ["AWS_SECRET"] }
EOF
file <<<$'[secrets.token]\nvalue = "canary-4711"\nusers = ["a"]'
chmod 644 f.toml
like "secrets that others can read" "$(check)" 'error: secrets are refused in a file that others can read'
unlike "are not shown" "$(check; check --json)" canary
chmod 600 f.toml
unlike "nor are others" "$(check; check --json)" canary
unlike "a private file is fine" "$(check)" 'others can read'
says "two mistakes in one go" '2 errors' <<<$'[sandbox]\nmemory = "x"\nnonsense = 1'
says "an unknown key" "did you mean 'memory'" <<<$'[sandbox]\nmemry = "1g"'
status "a word too many" 2 check word
status "an option that is none" 2 check --no-such

# ---- a project's file

file <<<''
echo $'[sandbox]\nnetwork = "host"' >ws/coop.toml
like "a project that asks for more" "$(check)" 'ws/coop.toml:2:11: error: sandbox.network asks for'
printf '[[expect]]\ndeny = "connect example.org:443"\n' >ws/coop.toml
full_tier && is "a project's own tests" "$(settled)" "0 errors, 0 warnings, 1 of 1 expectation holds"
rm ws/coop.toml

# ---- expectations

file <<EOF
[sandbox]
enabled = true
extra_ro_paths = ["$T/data"]
blocked_paths = ["private"]
env_passthrough = ["EDITOR"]
[environment.set]
CI = "1"
[commands]
strength = "check"
[protect]
deny = ["fixtures/*"]
[[users]]
name = "fay"
trust = "familiar"
match = ["x:fay"]
[[users]]
name = "olga"
trust = "owner"
match = ["x:olga"]
[[expect]]
deny = "read ~/.ssh/id_rsa"
[[expect]]
allow = "write src/"
[[expect]]
deny = "connect example.org:443"
[[expect]]
deny = "read private/x"
[[expect]]
deny = "read .env"
[[expect]]
deny = "write .git/hooks/pre-commit"
[[expect]]
allow = "read $T/data"
[[expect]]
deny = "write $T/data"
[[expect]]
allow = "exec /bin/sh"
[[expect]]
deny = "write /usr/bin/env"
[[expect]]
allow = "env CI"
[[expect]]
deny = "env AWS_SECRET_ACCESS_KEY"
[[expect]]
allow = "-- git status"
[[expect]]
deny = "-- git push --force"
[[expect]]
deny = "write src/x"
as = "x:fay"
EOF
echo d >data/d
full_tier && like "all of them hold" "$(check)" '^0 errors, 0 warnings, 15 of 15 expectations hold$'
before=$(find ws -printf '%p %s\n' | sort)
if can_live; then
    like "in a real box too" "$(check --live)" '^0 errors, 0 warnings, 15 of 15 expectations hold$'
    json=$(check --live --json)
    is "which agrees where it was tried" "$(grep -c '"live": "agrees"' <<<"$json")" 14
    is "and never disagrees" "$(grep -c '"live": "disagrees"' <<<"$json")" 0
    is "for refused users there is nothing to try" "$(grep -A1 '"live": "not tried"' <<<"$json" | tr -s ' \n' ' ')" ' "live": "not tried", "tried": "they may not run commands" '
    is "commands are decided, and not run" "$(grep -c '"tried": "decided as for a run; nothing was run"' <<<"$json")" 2
    is "nothing is left of it" "$(find ws -printf '%p %s\n' | sort)" "$before"
else
    skip_never "in a real box too" "coop itself cannot run in a box here"
fi
says "a wrong one names the rule, its place and what would change it" \
    "f.toml:4:9: error: expected 'allow read private/x', but it is refused by blocked_paths 'private' .$T/f.toml:2:18.: it is hidden; remove it from blocked_paths" \
    <<<$'[sandbox]\nblocked_paths = ["private"]\n[[expect]]\nallow = "read private/x"'
status "and is an error" 1 check
says "a hole in the policy" "error: expected 'deny read ~/notes', but it is allowed by mount '$T/home'" <<EOF
[sandbox]
extra_ro_paths = ["~"]
[[expect]]
deny = "read ~/notes"
[[expect]]
deny = "read ~/.ssh/id_rsa"
EOF
can_live && like "is one in the box too" "$(check --live --json)" '"live": "agrees"'
# The text knows nothing of links; the box does.
echo secret >ws/.env
ln -s .env ws/link
file <<<$'[[expect]]\nallow = "read link"'
can_live && like "a box that disagrees" "$(check --live)" "error: 'allow read link': in a real box it fails: Permission denied, but by the policy it is allowed"
rm ws/.env ws/link
file <<<$'[[expect]]\nallow = "read private/x"\n[[expect]]\nallow = "write new"'
can_live && is "it is the workspace that is tried" "$(check --live --json | grep -c '"live": "agrees"')" 2
file <<'EOF'
[commands]
strength = "enforce"
[commands.cat]
[commands.env]
[[expect]]
allow = "exec /bin/cat"
[[expect]]
deny = "exec /bin/ls"
[[expect]]
deny = "read /bin/ls"
[[expect]]
allow = "-- cat made | cat"
[[expect]]
deny = "-- ls"
[[expect]]
allow = "-- cat; env"
[[expect]]
deny = "syscall memfd_create"
[[expect]]
deny = "syscall mount"
[[expect]]
allow = "syscall read"
[[expect]]
allow = "bind 127.0.0.1:8000"
EOF
if can_live; then
    json=$(check --live --json)
    is "with enforce the box agrees too" "$(grep -o '"live": "[a-z ]*"' <<<"$json" | sort | uniq -c | tr -s ' \n' ' ')" ' 9 "live": "agrees" 1 "live": "not tried" '
    is "and its programs are asked about, not run" "$(grep -c 'its programs could be executed in a box; nothing was run' <<<"$json")" 2
    like "nobody tries what may be called" "$json" '"tried": "the effect of an allowed call is not known"'
    ok "nothing was made" test ! -e ws/made
    # A program that is there and cannot run.
    mkdir -p bin
    printf '[sandbox]\nextra_ro_paths = ["%s"]\n[commands]\nstrength = "enforce"\n[commands."%s"]\n[[expect]]\nallow = "-- %s"\n' "$T/bin" "$T/bin/tool" "$T/bin/tool" | file
    printf '#!/bin/sh\n' >bin/tool
    chmod 644 bin/tool
    like "a program that the kernel would not execute" "$(check --live)" "in a real box it fails: Permission denied, but by the policy it is allowed"
    chmod 755 bin/tool
    like "and one that it would" "$(check --live --json)" '"live": "agrees"'
fi
says "an owner may do anything" "error: expected 'deny read ~/.ssh/id_rsa', but it is allowed by trust 'owner'" <<'EOF'
[sandbox]
enabled = true
[[users]]
name = "olga"
trust = "owner"
match = ["x:olga"]
[[expect]]
deny = "read ~/.ssh/id_rsa"
as = "x:olga"
EOF
says "a malformed one" 'f.toml:2:8: error: expect.*says none of' <<<$'[[expect]]\ndeny = "look x"'
says "an identity that is none" "cannot be decided" <<<$'[[expect]]\ndeny = "read x"\nas = "nonsense"'

# ---- JSON

file <<<$'[sandbox]\nextra_ro_paths = ["/no/such/place"]\n[[expect]]\ndeny = "read .env"'
json=$(check --json)
if command -v python3 >/dev/null; then
    is "--json is JSON" "$(python3 -c 'import json,sys; d=json.load(sys.stdin); f=[f for f in d["findings"] if "source" in f["message"]][0]; e=d["expectations"][0]; print(f["severity"], f["line"], f["column"], e["holds"], e["allowed"], e["rule"], e["live"])' <<<"$json")" \
        "error 2 19 True False protect.deny '.env' None"
else
    skip_never "--json is JSON" "no python3"
fi
status "with the same exit status" 1 check --json

# ---- --narrower

narrower() { "$COOP" check --narrower "$@" 2>&1; }
cat >parent.toml <<EOF
[sandbox]
enabled = true
memory = "2g"
timeout = "10m"
extra_rw_paths = ["$T/data"]
env_passthrough = ["EDITOR"]
[protect]
deny = ["fixtures"]
[commands]
strength = "check"
[[users]]
name = "b"
trust = "inner"
match = ["x:*"]
sandbox = { memory = "1g" }
EOF
cat >child.toml <<EOF
[sandbox]
enabled = true
memory = "1g"
timeout = "5m"
network = "off"
extra_ro_paths = ["$T/data"]
blocked_paths = ["private"]
[protect]
deny = ["fixtures", "more"]
[commands]
strength = "enforce"
[commands.git]
blocked = ["push", "reset --hard", "clean -fd"]
[[users]]
name = "b"
trust = "inner"
match = ["x:1*"]
sandbox = { memory = "512m" }
EOF
is "a narrower file" "$(narrower parent.toml child.toml)" "child.toml allows nothing more than parent.toml"
status "exit status 0" 0 narrower parent.toml child.toml
ok "a file is within itself" narrower parent.toml parent.toml
like "the other way round: the first counter-example" "$(narrower child.toml parent.toml)" \
    "^parent.toml allows more than child.toml: network: the child has 'none', the parent 'off'$"
status "exit status 1" 1 narrower child.toml parent.toml
wider() { # what pattern sed-expression
    sed "$3" child.toml >wider.toml
    like "more $1" "$(narrower parent.toml wider.toml)" "allows more than parent.toml: .*$2"
}
wider memory 'limits: memory' 's/^memory = "1g"/memory = "3g"/'
wider time 'limits: sandbox.timeout' '/^timeout/d'
wider network 'network: ' 's/network = "off"/network = "host"/'
wider mounts "mounts: '$T/more' is a mount that the parent does not have" "s|^extra_ro_paths.*|extra_ro_paths = [\"$T/data\", \"$T/more\"]|"
wider mode 'mode: ' '2s/^/mode = "preferred"\n/'
wider names 'protect: the hidden' '/^deny/d'
wider variables "environment: 'PAGER' is passed by the child only" '2s/^/env_passthrough = ["PAGER"]\n/'
wider commands "commands: " 's/^blocked = .*/blocked = []/'
wider strength "commands: the child has 'off'" 's/"enforce"/"off"/'
wider trust "for 'x:1.*': trust: " 's/"inner"/"full"/'
wider "for one user" "for 'x:1.*': limits: memory" 's/512m/1536m/'
wider "for everybody: no sandbox" "trust: their commands run on the host" 's/enabled = true/enabled = false/'
like "as JSON" "$(narrower --json child.toml parent.toml)" '"narrower": false'
like "mistakes in either file are named" "$(echo 'x = 1' >bad.toml; narrower parent.toml bad.toml)" "bad.toml:1:1: error: unknown key 'x'"
status "and are a failure" 1 narrower parent.toml bad.toml
status "a file that is not there" 1 narrower parent.toml none.toml
status "one file is not enough" 2 narrower parent.toml
done_testing
