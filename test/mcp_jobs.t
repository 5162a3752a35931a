#!/bin/bash
# mcp_jobs.t - jobs and shells over the Model Context Protocol, and what is left of them
. "$(dirname "$0")/box.sh"

run true 2>/dev/null || {
    skip "jobs and shells" "this host has no namespaces"
    done_testing
}

# A server that talks through fd 7 (to it) and 8 (from it); sets server.
serve() { # [OPTIONS]
    mkfifo to from
    rm -f err
    "$COOP" mcp -q -w "$T/ws" "$@" <to >from 2>err &
    server=$!
    exec 7>to 8<from
    rm to from
    printf '%s\n' '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' >&7
    IFS= read -rt "$(scaled 30)" -u 8 answer
}
end_server() { exec 7>&- 8<&-; wait "$server"; }
tool() { # NAME ARGUMENTS: the answer's text is said, what is for programs is facts
    printf '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s","arguments":%s}}\n' "$1" "$2" >&7
    answer=
    while IFS= read -rt "$(scaled 60)" -u 8 answer; do case $answer in '{"jsonrpc":"2.0","id":'*) break ;; esac; done
    said=$(jq -r '.result.content[0].text // .error.message' <<<"$answer")
    failed=$(jq -r '.result.isError // false' <<<"$answer")
    facts=$(jq -c '.result.structuredContent' <<<"$answer")
}
fact() { jq -r "$1" <<<"$facts"; }
sleepers() { pgrep -fx "sleep $1" | wc -l; } # of all users, so that nobody's is missed
gone() { [ "$(sleepers "$1")" = 0 ]; }
nap=91$$$RANDOM

serve
# ---- a plain call
tool bash "{\"command\":\"sleep $nap & sleep $nap & echo hi\"}"
like "a plain call says what ended with it" "$said" '^\[ended 2 background processes; '
is "and for programs" "$(fact .ended_processes)" 2
ok "nothing of it is left" gone "$nap"
tool bash '{"command":"echo hi; (sleep 0.01)"}'
is "a call that left nothing says nothing" "$said" hi
tool bash '{"command":"true","background":true,"shell":"a"}'
is "background and shell do not go together" "$failed" true
tool bash '{"command":"true","pty":true}'
is "a plain call has no terminal" "$failed" true
tool jobs '{}'
is "there are no jobs at first" "$said" 'there are no jobs'
tool job_output '{"job":1}'
like "a job that is not there" "$said" '^there is no job 1'

# ---- jobs
tool bash '{"command":"echo up; read -r a; echo got $a; read -r b || echo end; exit 7","background":true}'
is "a job is started" "$(fact '[.job, .running] | @json')" '[1,true]'
tool job_output '{"job":1,"wait_for":"up"}'
is "what it printed is read" "$(fact '[.output, .offset, .next_offset, .running] | @json')" '["up\n",0,3,true]'
tool job_input '{"job":1,"input":"food\n"}'
tool job_output '{"job":1,"wait_for":"got"}'
is "it is fed, and read from where the last call ended" "$(fact '[.output, .offset] | @json')" '["got food\n",3]'
tool job_input '{"job":1,"end":true}'
tool job_output '{"job":1,"wait_exit":true}'
is "its end is waited for" "$(fact '[.output, .running, .exit_code] | @json')" '["end\n",false,7]'
tool job_output '{"job":1,"offset":0}'
is "what it printed stays" "$(fact '.output | @json')" '"up\ngot food\nend\n"'
tool job_input '{"job":1,"input":"x"}'
is "a job that has ended takes nothing" "$failed" true
tool bash '{"command":"seq 400000","background":true}'
tool job_output '{"job":2,"wait_exit":true,"timeout_seconds":60}'
tool job_output '{"job":2,"offset":0}'
is "of much output the last MiB is kept" "$(fact '[.bytes, .offset] | @json')" "[2688895,$((2688895 - 1048576))]"
like "what is not kept is said" "$said" "^\[$((2688895 - 1048576)) bytes before this are not kept any more\]"
tool bash '{"command":"true","background":true,"directory":"/no/such"}'
like "a directory that is not there" "$said" "^start in the directory '/no/such'"
tool bash "{\"command\":\"sleep $nap; true\",\"background\":true,\"timeout_seconds\":1}"
job=$(fact .job)
tool job_output "{\"job\":$job,\"wait_exit\":true}"
is "a job ends when its time is over" "$(fact '[.running, .timed_out] | @json')" '[false,true]'
ok "with what it started" await gone "$nap"

# ---- a shell
tool bash '{"command":"cd /usr; x=5; f() { echo f $x $PWD; }; false","shell":"a"}'
is "a shell tells how a command ended" "$(fact '[.exit_code, .running] | @json')" '[1,true]'
tool bash '{"command":"f","shell":"a"}'
is "directory, variables and functions stay" "$said" 'f 5 /usr'
tool bash '{"command":"echo [$x]","shell":"b"}'
is "in this shell, not in another one" "$said" '[]'
tool bash '{"command":"ls /proc/self/fd; test -t 1","shell":"a"}'
is "its commands have no descriptors but their own, and no terminal" "$(fact '[.output, .exit_code] | @json')" '["0\n1\n2\n3\n",1]'
tool bash '{"command":"tty && test -t 0 && test -w $(tty)","shell":"t","pty":true}'
is "a shell has a terminal where asked for" "$(fact '[.output, .exit_code] | @json')" '["/dev/pts/0\r\n",0]'
tool bash '{"command":"fi","shell":"a"}'
like "what is no shell is an error" "$said" 'syntax error'
tool bash '{"command":"f","shell":"a"}'
is "and the shell goes on" "$said" 'f 5 /usr'
tool bash '{"command":"exit 3","shell":"a"}'
like "a shell that exits says so" "$said" "^the shell 'a' has ended: exit code 3"
tool bash '{"command":"echo [$x] $PWD","shell":"a"}'
is "and the next one is new" "$said" '[] /work'
tool bash "{\"command\":\"sleep $nap\",\"shell\":\"a\",\"timeout_seconds\":1}"
like "a command over its time ends with its shell" "$said" "^timed out after 1 s: the shell 'a' was ended"
ok "whose command is gone" await gone "$nap"
tool bash '{"command":"cat /etc/shadow; mount -t tmpfs x /tmp","shell":"b"}'
for ((i = 0; i < 50; i++)); do # pid 1 reports it, and the runner that the command ended: who is first, nobody can say
    [[ $said != *'[denied by'* ]] || break
    tool bash '{"command":"sleep 0.1","shell":"b"}'
done
like "what the sandbox refused a shell is said with its call, or the next" "$said" '^\[denied by the sandbox( \(this or another [^)]*\))?: '
tool bash '{"command":"true","shell":"b"}'
is "once" "$said" '(no output)'
tool bash '{"command":"true","shell":"a b"}'
is "a name is letters and digits" "$failed" true

# ---- one box
tool bash '{"command":"python3 -c \"import socket; s = socket.create_server((\\\"127.0.0.1\\\", 4242)); print(\\\"listens\\\", flush=True); c, a = s.accept(); c.sendall(b\\\"served\\\")\"","background":true}'
job=$(fact .job)
tool job_output "{\"job\":$job,\"wait_for\":\"listens\"}"
tool bash '{"command":"exec 9<>/dev/tcp/127.0.0.1/4242; cat <&9","shell":"net"}'
is "a server in a job is reached from a shell" "$said" served
tool bash '{"command":"exec 9<>/dev/tcp/127.0.0.1/4242","shell":"net"}'
is "until it has ended" "$(fact .exit_code)" 1
tool bash '{"command":"kill -9 2; kill -9 1; kill -TERM 2; ls /proc/2/fd; cat /proc/2/mem; head -c 1 /proc/2/environ","shell":"b"}'
tool bash '{"command":"echo alive; ls /proc/2/fd 2>&1 | head -1","shell":"c"}'
is "what starts commands can be read by none of them" "$(grep -c 'Permission denied\|Operation not permitted\|alive' <<<"$said")" "$(wc -l <<<"$said")"
n=0
for i in {1..20}; do
    tool bash "{\"command\":\"sleep $nap\",\"background\":true}"
    [ "$failed" = true ] && break
    n=$i
done
like "there are only so many at once" "$said" '^16 jobs and shells run already'
tool jobs '{}'
is "as many run as may" "$(fact '[.jobs[] | select(.running)] | length')" 16
job=$(fact '[.jobs[] | select(.running and .command == "sleep '"$nap"'")][0].job')
tool job_stop "{\"job\":$job}"
is "a job is stopped" "$(fact '[.running, .signal] | @json')" '[false,15]'

# ---- the end
is "the jobs run still" "$(sleepers "$nap")" $((n - 1))
end_server
ok "with the client all are gone" await gone "$nap"
serve
tool bash "{\"command\":\"sleep $nap & setsid sleep $nap & wait\",\"background\":true}"
await test "$(sleepers "$nap")" = 2
tool bash "{\"command\":\"setsid sleep $nap >/dev/null 2>&1 & disown\",\"shell\":\"a\"}"
is "what a shell left runs on" "$failed" false
kill -9 "$server"
exec 7>&- 8<&-
wait "$server" 2>/dev/null
ok "a killed server leaves nothing" await gone "$nap"

# ---- two clients, and those who may not
serve
tool bash '{"command":"echo of the first > /dev/shm/f; sleep '"$nap"'","background":true}'
mkfifo to from
"$COOP" mcp -q -w "$T/ws" <to >from 2>/dev/null &
other=$!
exec 5>to 6<from
rm to from
printf '%s\n' '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' \
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"bash","arguments":{"command":"cat /dev/shm/f; pgrep -c sleep","shell":"a"}}}' >&5
IFS= read -rt "$(scaled 30)" -u 6 answer
IFS= read -rt "$(scaled 60)" -u 6 answer
unlike "another client has another box" "$answer" 'of the first'
printf '%s\n' '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"job_output","arguments":{"job":2}}}' >&5
IFS= read -rt "$(scaled 30)" -u 6 answer
like "and no job of the first" "$answer" 'there is no job 2'
exec 5>&- 6<&-
wait "$other"
end_server
ok "nothing is left" await gone "$nap"
# ---- a workspace that is deleted and made anew
serve
tool write_file '{"path":"old","content":"x"}'
mv ws gone
mkdir ws
echo new >ws/file
tool read_file '{"path":"file"}'
is "a workspace that was made anew is found by file tools" "$said" new
tool write_file '{"path":"second","content":"x"}'
ok "and written" test -e ws/second
not_ok "not the old one" test -e gone/second
tool bash '{"command":"ls","shell":"a"}'
is "and by shells" "$said" "$(printf 'file\nsecond')"
rm -r gone
rm -r ws
tool read_file '{"path":"file"}'
is "while there is none, nothing is found" "$failed" true
mkdir ws
tool list_dir '{}'
is "and the next one is found again" "$failed" false
end_server

serve --read-only
tool bash '{"command":"touch x 2>/dev/null; echo $?; true","shell":"a"}'
is "with --read-only a shell only reads" "$(head -n 1 <<<"$said")" 1
end_server
done_testing
