#!/bin/bash
# The environment and the descriptors of a command: built, never inherited.
. "$(dirname "$0")/box.sh"

clean() { env -i ${ASAN_OPTIONS+"ASAN_OPTIONS=$ASAN_OPTIONS"} "$@" </dev/null; }
# What differs from run to run without its value.
in_box() { clean "$@" "$COOP" run -w ws env | sed -E 's/^(COOP_SESSION|COOP_CREATED)=.+/\1=.../' | sort; }
own="COOP_CREATED=...
COOP_SESSION=...
COOP_WORKSPACE=/work
GIT_TEMPLATE_DIR=
HOME=/work
LOGNAME=tess
PATH=/work/tools:/usr/local/bin:/usr/bin:/bin
PWD=/work
SHELL=/bin/sh
USER=tess"
is_root && own=${own//tess/root}

is "with nothing around, it has these" "$(in_box USER=tess)" "$own"
is "nothing else of the caller's comes in" \
    "$(in_box USER=tess SECRET=s AWS_SECRET_ACCESS_KEY=s LD_PRELOAD=/nowhere LD_LIBRARY_PATH=/nowhere PYTHONPATH=/x \
        SSH_AUTH_SOCK=/x http_proxy=x HOME=/home/tess PATH=/sbin SHELL=/bin/zsh PWD=/elsewhere DISPLAY=:0 \
        XDG_RUNTIME_DIR=/run/user/0 DBUS_SESSION_BUS_ADDRESS=x BASH_ENV=/x ENV=/x IFS=x COOP_X=1 2>/dev/null)" "$own"
is "language, clock and terminal do" \
    "$(in_box USER=tess LANG=C LC_ALL=C LC_TIME=x LANGUAGE=de TERM=vt100 TZ=UTC COLORTERM=truecolor NO_COLOR=1)" \
    "$(printf '%s\n' "$own" LANG=C LC_ALL=C LC_TIME=x LANGUAGE=de TERM=vt100 TZ=UTC COLORTERM=truecolor NO_COLOR=1 | sort)"
while read -r tmpdir expected; do
    is "TMPDIR=$tmpdir" "$(in_box USER=tess TMPDIR="$tmpdir" | grep TMPDIR)" "$expected"
done <<END
/tmp TMPDIR=/tmp
/var/tmp TMPDIR=/var/tmp
$T
/no/such/place
END
is "without USER it still has one" "$(in_box A=1 | grep ^USER= | wc -w)" 1
is "--same-path: HOME and PATH follow" "$(clean USER=tess "$COOP" run -w ws --same-path sh -c 'echo $HOME $PATH')" \
    "$T/ws $T/ws/tools:/usr/local/bin:/usr/bin:/bin"

set_by() { clean USER=tess PASSED=yes EMPTY= "$COOP" run -w ws "$@"; }
is "--env sets" "$(set_by --env A=1 -e B=two=2 -e C= sh -c 'echo "$A/$B/${C-unset}"')" 1/two=2/
is "--env replaces what coop sets" "$(set_by --env PATH=/usr/bin --env HOME=/tmp --env USER=x sh -c 'echo $PATH $HOME $USER')" "/usr/bin /tmp x"
is "the last --env wins" "$(set_by -e A=1 -e A=2 sh -c 'echo $A')" 2
is "--env with spaces, quotes and newlines" "$(set_by -e "A=a 'b' \"c\"
d" printenv A)" "a 'b' \"c\"
d"
is "--env-pass passes" "$(set_by --env-pass PASSED sh -c 'echo $PASSED')" yes
is "--env-pass of an empty one" "$(set_by --env-pass EMPTY sh -c 'echo ${EMPTY-unset}')" ""
is "--env-pass of one that is not set" "$(set_by --env-pass ABSENT sh -c 'echo ${ABSENT-unset}')" unset
is "--env is stronger than --env-pass" "$(set_by --env PASSED=no --env-pass PASSED printenv PASSED)" no
is "each name comes once" "$(set_by --env PATH=/bin --env-pass PATH --env PASSED=1 --env-pass PASSED env | cut -d= -f1 | sort | uniq -d)" ""
for bad in =x NOEQUALS ''; do
    status "bad variable: '$bad'" 125 set_by --env "$bad" true
done

# ---- facts about the run

told() { clean USER=tess "$COOP" run -w ws "$@"; }
like "COOP_SESSION is a random id" "$(told printenv COOP_SESSION)" '^[0-9a-f]{32}$'
isnt "of each run another" "$(told printenv COOP_SESSION)" "$(told printenv COOP_SESSION)"
before=$(date -u +%s)
created=$(told printenv COOP_CREATED)
like "COOP_CREATED is in UTC" "$created" '^20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-6][0-9]Z$'
ok "and now" test "$(date -d "$created" +%s)" -ge "$before" -a "$(date -d "$created" +%s)" -le "$(date -u +%s)"
is "COOP_WORKSPACE is what the box sees" "$(told printenv COOP_WORKSPACE)" /work
is "also with --same-path" "$(told --same-path printenv COOP_WORKSPACE)" "$T/ws"
is "and on the host" "$(told --mode disabled printenv COOP_WORKSPACE 2>/dev/null)" "$T/ws"
is "nothing of the caller's is taken for one" \
    "$(clean COOP_CAMPAIGN=x COOP_SESSION=x OBEY_SESSION=x "$COOP" run -w ws sh -c 'echo "${#COOP_SESSION} ${COOP_CAMPAIGN-unset} ${OBEY_SESSION-unset}"')" "32 unset unset"
cat >facts.toml <<END
[environment]
prefix = "ACME_"
campaign = "spring"
provider = "openai"
END
is "campaign and provider come from the configuration, all of it under the second prefix too" \
    "$(told --config facts.toml env | grep -E '^(COOP|ACME)_' | sed -E 's/(SESSION|CREATED)=.+/\1=.../' | sort)" \
    "$(for p in ACME COOP; do printf '%s\n' ${p}_CAMPAIGN=spring ${p}_CREATED=... ${p}_PROVIDER=openai ${p}_SESSION=... ${p}_WORKSPACE=/work; done)"
sed 's/ACME_/OBEY_/' facts.toml >obey.toml
is "OBEY_ can be the second prefix" "$(told --config obey.toml printenv OBEY_CAMPAIGN)" spring
is "both are the same" "$(told --config facts.toml sh -c 'test "$ACME_SESSION" = "$COOP_SESSION" && echo same')" same
like "coop plan names them" "$(clean USER=tess "$COOP" plan -w ws)" '^ *COOP_SESSION$'

# ---- reserved and filtered names

for name in COOP_SESSION COOP_X OBEY_X; do
    status "--env $name is refused" 125 set_by --env $name=1 true
    status "--env-pass $name is refused" 125 set_by --env-pass $name true
done
like "with the reason" "$(set_by --env COOP_X=1 true 2>&1)" "'COOP_X' cannot be set because its beginning is reserved"
status "the configured second prefix is reserved" 125 set_by --config facts.toml --env ACME_X=1 true
is "without it the name is like any other" "$(set_by --env ACME_X=1 printenv ACME_X)" 1
for name in AWS_SECRET_ACCESS_KEY GOOGLE_APPLICATION_CREDENTIALS DATABASE_URL SSH_AUTH_SOCK LD_PRELOAD BASH_ENV; do
    status "--env-pass $name is refused" 125 set_by --env-pass $name true
done
like "pointing to the place for secrets" "$(set_by --env-pass AWS_SECRET_ACCESS_KEY true 2>&1 | tr '\n' ' ')" "rule 'AWS_\*'.*\[secrets\]"
is "a value of one's own can be set" "$(set_by --env DATABASE_URL=sqlite:x printenv DATABASE_URL)" sqlite:x
while IFS='|' read -r line place; do
    printf '[environment]\n%s\n' "$line" >bad.toml
    like "in a file: $line" "$(set_by --config bad.toml true 2>&1)" "^coop run: bad.toml:$place: "
    status "nothing runs" 125 set_by --config bad.toml true
done <<'END'
set.COOP_X = "1"|2:14
set.OBEY_X = "1"|2:14
pass = ["HOSTNAME", "AWS_PROFILE"]|2:21
prefix = "coop"|2:10
prefix = "LC_"|2:10
END

mkdir ws/tools && printf '#!/bin/sh\necho tool\n' >ws/tools/mytool && cp ws/tools/mytool ws/tools/ls && chmod +x ws/tools/*
is "the workspace's tools are found, and first" "$(run mytool; run ls)" $'tool\ntool'
is "also by the command's own search" "$(run sh -c mytool)" tool
is "an agent cannot be tricked by the current directory" "$(cp ws/tools/mytool ws/here; run here 2>/dev/null; echo $?)" 127

# ---- what a file in the workspace sets holds in boxes, and nowhere else

printf '[environment]\nset = { PROJECT = "1", LD_PRELOAD = "/work/evil.so", PATH = "/work/evil:/usr/bin:/bin" }\n' >ws/coop.toml
printf '[environment]\nset = { OWNER = "1" }\n[sandbox]\nenabled = true\n' >owner.toml
show='echo "$OWNER/$PROJECT/$LD_PRELOAD/$PATH"'
is "a project sets variables of the box" "$(set_by --config owner.toml sh -c "$show" 2>/dev/null)" 1/1//work/evil.so//work/evil:/usr/bin:/bin
is "on the host it decides nothing: disabled" "$(set_by --config owner.toml --mode disabled sh -c "$show" 2>&1 | tail -n 1)" \
    "1///$(clean sh -c 'echo $PATH')"
is "on the host it decides nothing: the owner" "$(set_by --config owner.toml --as terminal:default sh -c "$show" 2>&1 | tail -n 1)" \
    "1///$(clean sh -c 'echo $PATH')"
printf '[[users]]\nname = "a"\ntrust = "inner"\nmatch = ["signal:+1"]\n' >inner.toml
is "nor without [sandbox] enabled" "$(set_by --config inner.toml --as signal:+1 sh -c "$show" 2>&1 | tail -n 1)" "///$(clean sh -c 'echo $PATH')"
is "a flag does, of the same value too" "$(set_by --env PROJECT=1 --mode disabled sh -c "$show" 2>&1 | tail -n 1)" "/1//$(clean sh -c 'echo $PATH')"
rm ws/coop.toml owner.toml inner.toml

# ---- descriptors

rm ws/tools/ls
secret=$T/secret && echo content >"$secret"
for fd in {10..40}; do eval "exec $fd<$secret"; done
exec 7<"$secret" 8<"$T" 9>>"$T/out"
is "no descriptor but 0, 1 and 2" "$(run sh -c 'ls /proc/$$/fd; :' | sort -n | xargs)" "0 1 2"
refused "a directory outside is not among them" run sh -c 'cat /proc/self/fd/8/secret'
is "--keep-fd keeps the one" "$(run --keep-fd 7 sh -c 'cat <&7; ls /proc/$$/fd; :' | xargs)" "content 0 1 2 7"
is "and another, for writing" "$(run --keep-fd 9 --keep-fd 12 sh -c 'echo x >&9; ls /proc/$$/fd; :' | sort -n | xargs; cat out)" "0 1 2 9 12
x"
status "a descriptor that is not open is refused" 125 run --keep-fd 99 true
if "$COOP" run -w ws --json true </dev/null | jq -r .enforced.files | grep -q landlock; then
    ok "outside, a directory's descriptor opens what lies below, a file's opens it anew" sh -c 'cat /proc/self/fd/8/secret && : >>/proc/self/fd/7'
    refused "a kept directory opens nothing below it" run --keep-fd 8 cat /proc/self/fd/8/secret
    refused "a kept file cannot be opened anew for writing" run --keep-fd 7 sh -c 'echo x >>/proc/self/fd/7'
else
    skip "what a kept descriptor leads to" "no Landlock here"
fi
for fd in {10..40} 7 8 9; do eval "exec $fd>&-"; done
is "input comes through" "$(echo given | "$COOP" run -w ws cat)" given
is "no input is the end of it" "$("$COOP" run -w ws cat </dev/null | wc -c)" 0
is "umask and limits on signals are plain" "$(umask 027; trap '' TERM; run sh -c 'umask; grep -c "SigIgn:.0*$" /proc/self/status')" $'0027\n1'
done_testing
