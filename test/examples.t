#!/bin/bash
# The configurations in doc/examples: each is clean where it is meant to stand, and does what it says.
. "$(dirname "$0")/box.sh"
export HOME=$T/home XDG_CONFIG_HOME=$T/home/.config XDG_STATE_HOME=$T/state XDG_CACHE_HOME=$T/cache
examples=$SRC/doc/examples
mkdir -p "$XDG_CONFIG_HOME/coop" "$HOME"/{.cargo,tools,.npm-cache,artifacts,.ssh,.gnupg,project/src} ws/.git
echo key >"$HOME/.ssh/id_rsa" && echo tool >"$HOME/tools/tool" && echo cached >"$HOME/.npm-cache/x" && echo app >"$HOME/project/src/app.ts"
real_root && chown -R 4321:4321 ws "$HOME/project" "$HOME/artifacts" "$HOME/.cargo"
cd ws || exit 1
use() { cp "$examples/$1.toml" "$XDG_CONFIG_HOME/coop/coop.toml" && chmod 600 "$XDG_CONFIG_HOME/coop/coop.toml"; }
# What only this host lacks is no mistake of an example: a user without a cgroup cannot be held to cpus.
clean() {
    local said n
    said=$("$COOP" check --strict 2>&1 | grep -v ': info: ' | sed 's/, [0-9]* of [0-9]* expectations* holds*//')
    n=$(grep -c 'nothing on this host can enforce' <<<"$said")
    is "$1 is clean" "$(grep -v 'nothing on this host can enforce' <<<"$said")" "0 errors, $n warning$([ "$n" = 1 ] || echo s)"
}
run() { "$COOP" run "$@" </dev/null; }

use host-tools && clean host-tools
is "host-tools: the project is at its own path" "$(run pwd)" "$PWD"
is "host-tools: tools can be read" "$(run cat "$HOME/tools/tool")" tool
refused "host-tools: and not written" run sh -c "echo x >'$HOME/tools/tool'"
ok "host-tools: .cargo can be written" run sh -c "echo x >'$HOME/.cargo/x'"
refused "host-tools: no keys" run cat "$HOME/.ssh/id_rsa"
refused "host-tools: no hooks" run sh -c 'mkdir -p .git/hooks && echo x >.git/hooks/pre-commit'

use mounts && cd "$HOME/project" && clean mounts
cd "$T/ws" || exit 1
is "mounts: a path is the same for all" "$(cd "$HOME/project" && run cat /src/app.ts)" app
is "mounts: what lies over the root" "$(cd "$HOME/project" && run cat /cache/x)" cached
refused "mounts: read-only" run sh -c 'echo x >/cache/x'
ok "mounts: and not" run sh -c 'echo x >/out/x'
is "mounts: seen outside" "$(cat "$HOME/artifacts/x")" x
is "mounts: the reviewer sees its part" "$(run --as worker:code-reviewer sh -c 'cat /src/app.ts; echo x >/src/app.ts || ls -d /src /README.md' 2>/dev/null)" $'app\n/src'

use session && clean session
is "session: limits" "$(run --json true | jq -r .enforced.limits.memory.value)" "$((8 << 30))"
refused "session: no network" run python3 -c 'import socket; socket.create_connection(("192.0.2.1", 80), 1)'

use gateway && clean gateway
is "gateway: the owner's run on the host" "$(run -q --as signal:+15555550100 sh -c 'echo $HOME' 2>/dev/null)" "$HOME"
is "gateway: others' in a box" "$(run --as signal:+15555550102 sh -c 'echo $HOME')" /work
is "gateway: nobody's in a group" "$(run --as signal:+15555550101 --group true 2>/dev/null; echo $?)" 125
is "gateway: but in one that is trusted" "$(run --as signal:+15555550102 --group-name family sh -c 'echo $HOME')" /work
is "gateway: bob has more memory" "$("$COOP" whoami --as signal:+15555550101 --json | jq -r .limits.memory.value)" 4g
who() { "$COOP" whoami "$@" | sed -nE 's/^(user|trust|ceiling|level|tools|commands|stores|network|memory) +//p' | sed "s|$HOME|~|g" | paste -sd'|'; }
file="~"/.config/coop/coop.toml
is "gateway: who carol is, and who said so" "$(who --as webhook:carol-7)" \
    "carol  ($file:27:33)|inner  ($file:26:9)|none|inner|bash and file tools|in a sandbox|shared, social, in /memory|none  ($file:11:17)|2g  ($file:8:10)"
is "gateway: bob's own keys" "$(who --as signal:+15555550101 | cut -d'|' -f 7-)" "private, shared, social, in /memory|host  ($file:22:29)|4g  ($file:22:44)"
is "gateway: alice in a group that is named" "$(who --as terminal:default --group-name family | cut -d'|' -f 2-7)" \
    "owner  ($file:15:9)|inner  ($file:31:12)|inner|bash and file tools|in a sandbox|shared, social, in /memory"
is "gateway: a stranger" "$(who --as signal:+1 --group | cut -d'|' -f 1-7)" \
    "not in the configuration|public  (built-in default)|familiar  ($file:30:7)|public|none|not at all|none"
is "gateway: bob has all stores" "$(run --as signal:+15555550101 sh -c 'ls /memory; echo private >/memory/private/note; echo shared >/memory/shared/note' | xargs)" "private shared social"
is "gateway: carol has what she may see, and what bob left there" "$(run --as signal:+15555550102 sh -c 'ls /memory; cat /memory/shared/note' | xargs)" "shared social shared"
refused "gateway: and not what is private" run --as signal:+15555550102 cat /memory/private/note
is "gateway: a box for nobody has none" "$(run ls /memory 2>/dev/null)" ""
is "gateway: they are coop's own state" "$(cat "$XDG_STATE_HOME/coop/memory/private/note")" private
printf 'report:\n\t@cat /proc/self/cgroup >/dev/null; echo done\n' >Makefile
is "gateway: the nightly command is carol's" "$(run --cron nightly)" "done"
is "gateway: with less memory" "$(run --cron nightly --json | jq -r .enforced.limits.memory.value)" "$((512 << 20))"
is "gateway: a cron entry that there is not" "$(run --cron weekly 2>&1; echo $?)" "coop run: there is no [[cron]] entry 'weekly'
125"

export ANTHROPIC_API_KEY=sk-ant-0123456789
use campaign && clean campaign
mkdir -p .campaign && cp "$examples/campaign.yaml" .campaign/sandbox.yaml
if "$COOP" config decode .campaign/sandbox.yaml >/dev/null 2>&1; then
    is "campaign: more commands need the owner" "$(run git --version 2>/dev/null; echo $?)" 125
    ok "campaign: who approves them" "$COOP" allow .campaign/sandbox.yaml
    clean "campaign, with what the project adds,"
    is "campaign: then they run" "$(run make -n report | wc -l)" 1
else
    skip "campaign: a project's file" "coop-yaml was not built"
fi
is "campaign: its commands" "$(run git --version | cut -d ' ' -f 1-2)" "git version"
is "campaign: and no other" "$(run ls >/dev/null 2>&1; echo $?)" 126
is "campaign: force is refused" "$(run git push --force >/dev/null 2>&1; echo $?)" 126
is "campaign: the second prefix, and the key" "$(run git -c core.pager=cat var -l 2>/dev/null | head -c 0; "$COOP" plan git status | grep -cE '^ +(OBEY_CAMPAIGN|ANTHROPIC_API_KEY)$')" 2
done_testing
