#!/bin/bash
# What is protected or blocked is watched with --explain where there is FUSE: who wants it is told, and it is refused
# and looks as without.
# fuse: both
# speed: slow
. "$(dirname "$0")/box.sh"
chmod 755 "$T"

seen() { jq -r '.records.watched[] | select(.name == "protected") | "\(.watched) \(.note)"' document; }
if ! [ -r /dev/fuse ] || ! [ -w /dev/fuse ]; then
    echo secret >ws/.env
    run --json --explain cat .env >document 2>/dev/null
    like "without a usable /dev/fuse it is not watched, and why" "$(seen)" \
        "^true writing, creating and moving; reading only with --explain=all: /dev/fuse"
    is "and refused all the same" "$(jq -r '.exit_code, .stdout.text' document)" 1
    done_testing
fi
told() { # HOW [OPTIONS]: its records, a line each
    local how=$1
    shift
    within 60 "$COOP" run -w "$T/ws" --json --explain "$@" -- sh -c "$how" </dev/null 2>/dev/null >document
    jq -r '.denials[] | [.op, .target, .errno, (.allow // "-"), .count] | map(tostring) | join("|")' document
}

mkdir -p ws/keys ws/priv other/d && echo secret >ws/.env && echo s >ws/keys/a && echo s >ws/priv/p && echo o >other/f && echo o >other/d/x
cp /bin/true ws/prog
masks=(--protect keys --protect prog --block priv --ro "$T/other:/opt/other" --block /opt/other/f --block /opt/other/d)
records() { # EXPLAIN HOW: all fields but the time, then what was printed
    within 60 "$COOP" run -w "$T/ws" --json "$1" "${masks[@]}" -- sh -c "$2" </dev/null 2>/dev/null >document
    jq -r '(.denials[] | del(.first_ms) | tojson), .stdout.text, .stderr.text' document
}
while IFS='|' read -r how expected; do
    is "told of a mask: $how" "$(told "$how" "${masks[@]}")" "$(printf '%b' "$expected")"
    is "and fails as where every look is watched: $how" "$(records --explain "$how")" "$(records --explain=all "$how")"
done <<'END'
cat .env|read|/work/.env|13|--unprotect .env|1
cat .env .env; cat <.env|read|/work/.env|13|--unprotect .env|3
ls keys|read|/work/keys|13|--unprotect keys|1
cat keys/a|read|/work/keys/a|13|--unprotect keys|1
stat keys/a|read|/work/keys/a|13|--unprotect keys|1
rm -f link; ln -s keys/a link; cat link|read|/work/keys/a|13|--unprotect keys|1
./prog|exec|/work/prog|13|--unprotect prog|1
cp prog copy|read|/work/prog|13|--unprotect prog|1
cat priv/p|read|/work/priv/p|13|leave the flag out|1
cat /opt/other/f|read|/opt/other/f|13|leave the flag out|1
cat /opt/other/d/x|read|/opt/other/d/x|13|leave the flag out|1
mkdir keys/b|create|/work/keys/b|13|--unprotect keys|1
echo x >keys/new|create|/work/keys/new|13|--unprotect keys|1
echo x >>keys/a|write|/work/keys/a|13|--unprotect keys|1
rmdir keys/a|delete|/work/keys/a|13|--unprotect keys|1
python3 -c 'open("prog", "r+")'|write|/work/prog|13|--unprotect prog|1
chmod 700 keys|chmod|/work/keys|30|--unprotect keys|1
END
is "told of a mask: who changes to it" "$(told 'cd keys' "${masks[@]}")" 'read|/work/keys|13|--unprotect keys|1'
is "told of a mask: who may execute it" "$(told 'test -x prog' "${masks[@]}")" 'exec|/work/prog|13|--unprotect prog|1'
is "told of a mask: in a workspace that is read-only" \
    "$(told "python3 -c 'open(\"prog\", \"r+\")'" --read-only "${masks[@]}")" 'write|/work/prog|13|--unprotect prog|1'
for how in 'ls -la . keys/..' 'stat .env keys prog' 'git status' 'test -e .env' 'find . -maxdepth 1 -newer .env' 'cat keys.txt'; do
    is "not told: $how" "$(told "$how" "${masks[@]}")" ""
done
is "nor where the host refuses as well: a program without the bit" "$(chmod -x ws/prog; told ./prog "${masks[@]}"; chmod +x ws/prog)" ""
looks() { "$COOP" run -w ws "$@" "${masks[@]}" stat -c '%n %f %s %Y %h %u %g %b' .env prog </dev/null 2>&1; }
is "a mask looks as it does without" "$(looks --explain)" "$(looks)"
looks() { "$COOP" run -w ws "$@" "${masks[@]}" stat -c '%n %f %s %h %u %g %b' keys priv /opt/other/f /opt/other/d </dev/null 2>&1; }
is "a directory too" "$(looks --explain)" "$(looks)"
told 'cat .env' "${masks[@]}" >/dev/null
like "the result says what is seen" "$(seen)" "^true reading only for files hidden at the start$"
told "python3 -c 'for i in range(20000):
    try: open(\".env\")
    except OSError: pass'" "${masks[@]}" >/dev/null
is "20,000 tries are one record" "$(jq -c '[.denials[].count]' document)" "[20000]"
is "nothing is left of it" "$(cd ws && ls -A .env keys priv; cat .env)" "$(printf '.env\n\nkeys:\na\n\npriv:\np\nsecret')"

# Each way to open it, while the host exchanges it as an editor does.
cat >ws/readers.py <<'END'
import os, time
seen = 0
os.close(os.open("up", os.O_CREAT | os.O_WRONLY))
while not os.path.exists("done"):
    try:
        seen += b"secret" in open(".env", "rb").read()
    except OSError:
        pass
hidden = 0
for i in range(100):
    try:
        open(".env", "rb").read()
    except PermissionError:
        hidden += 1
print(hidden)
END
"$COOP" run -w ws --explain --json python3 readers.py </dev/null >document 2>/dev/null &
box=$!
await test -e ws/up
sleep_until_guarded() { grep -qs inotify /proc/$box/fdinfo/*; }
await 20 sleep_until_guarded
echo "secret 2" >ws/.env.new && mv ws/.env.new ws/.env
masked() { grep -qs ' /work/.env ' "/proc/$(pgrep -P $box -x coop-init)/mountinfo"; }
ok "what the host exchanges gets a mask again" await 20 masked
touch ws/done
wait $box
is "and stays refused" "$(jq -r .stdout.text document | head -1)" 100
is "what could be read meanwhile is told" "$(jq -r '[.denials[] | select(.errno == 0)] | length' document)" 1
rm -f ws/up ws/done

# As many as there are nodes, and more.
mkdir -p many/d && (cd many/d && for i in $(seq 10000); do echo s >"$i.key"; done)
within 120 "$COOP" run -w many --json --explain --protect '*.key' -- sh -c 'cat d/*.key | wc -c' </dev/null 2>/dev/null >document
is "of 10,000 masks each refuses" "$(jq -r '.stdout.text' document)" 0
is "so many are told" "$(jq '[.denials[].target] | length, (unique | length)' document | xargs)" "200 200"
is "the others are counted" "$(jq .records.more document)" 56
like "and the result says that there are others" \
    "$(seen)" "^true reading only for the first files hidden"
rm -rf many

# ---- hostile: it stays refused whatever becomes of who serves it, and nobody outside waits

if real_root; then
    waiting() { # a box that reads .env when ws/cut is there; sets box, init
        timeout -k 5 "$(scaled 60)" "$COOP" run -w ws --explain sh -c 'touch up; until test -e cut; do sleep 0.1; done; cat .env; stat -c %s .env' \
            </dev/null >waited 2>&1 &
        box=$!
        await test -e ws/up
        init=$(pgrep -P "$(pgrep -P $box)" -x coop-init)
        rm -f ws/up
    }
    waiting
    device=$(awk '$5 == "/work/.env" { sub(".*:", "", $3); print $3 }' "/proc/$init/mountinfo")
    mkdir fusectl && mount -t fusectl none fusectl && echo 1 >"fusectl/$device/abort"
    umount fusectl
    touch ws/cut
    wait $box
    is "cut off from outside, it is refused" "$(grep -c secret waited)" 0
    like "and can be seen" "$(cat waited)" "^9$"
    rm -f ws/cut
    waiting
    kill -STOP "$init"
    is "nobody outside is served, or waits for an init that is stopped" \
        "$(within 10 cat "/proc/$init/root/work/.env" 2>&1 | grep -c 'Permission denied')" 1
    touch ws/cut
    kill -CONT "$init"
    wait $box
    is "one that goes on serves" "$(grep -c 'refused: read /work/.env' waited)" 1
    rm -f ws/cut
fi
is "the device and the root of it are not in the box" \
    "$(run --explain sh -c 'grep -c " fuse " /proc/self/mountinfo; ls -l /proc/self/fd /proc/1/fd 2>/dev/null | grep -c fuse; find / -xdev -name 0 -not -path "/proc/*" -not -path "/usr/*" 2>/dev/null | wc -l' 2>/dev/null | tail -2 | xargs)" "0 0"

# ---- the tools: the second command has a box made from a template

{
    printf '%s\n' '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' \
        '{"jsonrpc":"2.0","method":"notifications/initialized"}'
    for i in 1 2 3; do
        printf '{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"bash","arguments":{"command":"cat .env"}}}\n' $i
    done
} >questions
is "the tools tell as well" \
    "$(converse questions "$COOP" mcp -w ws 2>/dev/null |
        jq -r 'select(.id > 0) | tostring | contains("read /work/.env")' | sort | uniq -c | xargs)" "3 true"
done_testing
