#!/bin/bash
# Whatever is wrong with what coop is given: one sentence on stderr that names it, perhaps a hint,
# the right status, nothing on stdout, nothing left behind.
# builds: none
# speed: slow
. "$(dirname "$0")/tap.sh"
. "$SRC/test/leftovers.sh"
mkdir w
cd w || exit 1
mkdir dir
echo data >file
echo 'echo ran' >no-shebang
printf '#!/no/such/interpreter\n' >bad-interpreter
printf '#!\n' >empty-interpreter
: >empty-file
printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\363\0\1\0\0\0%0100d' 0 >foreign # RISC-V, or another where this is one
[ "$(uname -m)" = riscv64 ] && printf '\267' | dd of=foreign bs=1 seek=18 conv=notrunc 2>/dev/null
printf '\177ELF\1\1\1\0\0\0\0\0\0\0\0\0\2\0\3\0\1\0\0\0%0100d' 0 >foreign32
chmod +x no-shebang bad-interpreter empty-interpreter empty-file foreign foreign32
chmod -x file
ln -s loop loop
ln -s file/x through-file
before=$(snapshot .)
long=$(printf '%05000d' 0)
name300=$(printf '%0300d' 0)

under=() # what coop is started by, such as a shell that lowers a limit
# refuses DESCRIPTION STATUS REGEX [coop's arguments...]
refuses() {
    local what=$1 want=$2 regex=$3 r=0
    shift 3
    timeout -s KILL 30 "$OUTLIVES" ${under[@]+"${under[@]}"} "$COOP" "$@" >"$T/out" 2>"$T/err" </dev/null || r=$?
    was_refused "$what" "$want" "$regex" $r "$@"
}
was_refused() { # DESCRIPTION STATUS REGEX THE-STATUS [arguments...]: what stands in out and err
    local what=$1 want=$2 regex=$3 r=$4 why=''
    shift 4
    [ "$r" = "$want" ] || why="exit status $r, expected $want"
    [ -s "$T/out" ] && why="${why:-something on stdout}"
    [ -n "$(sed 1d "$T/err" | grep -v '^  hint: ')" ] && why=${why:-more than a sentence and a hint}
    [ "$(wc -l <"$T/err")" -gt 2 ] && why=${why:-more than two lines}
    head -n 1 "$T/err" | grep -q '^coop run: ' || why=${why:-the sentence does not say who speaks}
    head -n 1 "$T/err" | grep -Eq -- "$regex" || why="${why:-the sentence does not match $regex}"
    LC_ALL=C grep -q '[^ -~]' "$T/err" && [ -z "${any_bytes-}" ] && why=${why:-strange bytes in the sentence}
    same_snapshot "$before" . || why=${why:-something changed in the workspace}
    [ -z "$(ls -A "$TMPDIR")" ] || why=${why:-something left in TMPDIR}
    if [ -z "$why" ]; then
        tap_result 0 "$what"
    else
        tap_result 1 "$what"
        note "$why"
        note "arguments: $(printf '%s ' "$@" | cut -c 1-300)"
        head -c 1000 "$T/err" | sed 's/^/# stderr: /'
        head -c 500 "$T/out" | sed 's/^/# stdout: /'
    fi
}
hints() { # DESCRIPTION REGEX: of the refusal just made
    like "$1" "$(sed -n 's/^  hint: //p' "$T/err")" "$2"
}
accepts() { # DESCRIPTION EXPECTED-STDOUT [arguments...]: the good neighbour of a bad input
    local what=$1 want=$2 got r=0
    shift 2
    got=$(timeout -s KILL 30 "$OUTLIVES" ${under[@]+"${under[@]}"} "$COOP" "$@" 2>&1 </dev/null) || r=$?
    is "$what" "$r $got" "0 $want"
}

# --- options ---------------------------------------------------------------------------------------
refuses "unknown option" 125 "unknown option '--memroy'" run --memroy 2g -- true
hints "unknown option: suggests the near one" -- '--memory'
refuses "unknown option, nothing near" 125 "unknown option '--zzzzzz'" run --zzzzzz -- true
hints "unknown option, nothing near: says where they are listed" -- '--help'
refuses "unknown letter" 125 "unknown option '-Z'" run -Z -- true
refuses "letters run together" 125 "unknown option '-tq'" run -tq -- true
refuses "an option without its value" 125 "'--memory' needs a value" run --memory
refuses "a letter without its value" 125 "'-w' needs a value" run -w
accepts "a letter with its value behind it" "ok" run -w. -m1g -e=A=ok -c 'echo $A'
refuses "a value for an option that takes none" 125 "'--json' takes no value" run --json=yes -- true
refuses "unknown option with escapes in it" 125 "unknown option" run "$(printf -- '--\033[31mred\377')" -- true
for option in memory file-size tmp-size; do
    for value in '' x -5 1z 1.2.3 99999999999999999999 '1 g' 0x10 1e9 ' 1g' "1g "; do
        refuses "--$option '$value'" 125 "--$option: bad .*: (expected|too large)" run "--$option" "$value" -- true
    done
done
for option in pids cpu-seconds open-files; do
    for value in '' 0 -1 x 1.5 99999999999999999999 '1 ' +1; do
        refuses "--$option '$value'" 125 "--$option: bad .*: (expected|too large)" run "--$option" "$value" -- true
    done
done
for value in '' 0 -1 x 1.5.5 1.0001 nan inf 1e3; do
    refuses "--cpus '$value'" 125 "--cpus: bad .*: expected" run --cpus "$value" -- true
done
for value in '' 0 0s -1s x 5y 1s1h 99999999999999999999s '1 s' s; do
    refuses "--timeout '$value'" 125 "--timeout: bad duration .*: (expected|too long)" run --timeout "$value" -- true
done
refuses "--memory too small to start anything" 125 "--memory: bad memory '1m': expected at least 4m$" run --memory 1m -- true
refuses "--memory too small, in odd bytes" 125 "--memory: bad memory '4097': expected at least 4m$" run --memory 4097 -- true
refuses "--tmp-size too small" 125 "--tmp-size: bad tmp-size '1k': expected at least 64k$" run --tmp-size 1k -- true
refuses "--cpus too large" 125 "--cpus: bad cpus '100000': expected 0.01 to 1000$" run --cpus 100000 -- true
refuses "--cpus too small" 125 "--cpus: bad cpus '0.001': expected 0.01 to 1000$" run --cpus 0.001 -- true
for value in '' -1 x 4294967295 99999999999 1.5; do
    refuses "--uid '$value'" 125 "--uid: bad .*: expected" run --uid "$value" -- true
done
for value in '' 'a b' a/b "$name300" $'a\nb'; do
    refuses "--hostname $(printf %.20q "$value")" 125 "--hostname: .*host name" run --hostname "$value" -- true
done
for value in '' all None hosts; do
    refuses "--network '$value'" 125 "--network: bad network '$value': expected none, off, host, gate or nat" run --network "$value" -- true
    refuses "--mode '$value'" 125 "--mode: bad mode '$value': expected required, preferred or disabled" run --mode "$value" -- true
    refuses "--profile '$value'" 125 "--profile: bad profile '$value': expected default or dev" run --profile "$value" -- true
done
for value in '' NAME =value '='; do
    refuses "--env '$value'" 125 "--env: bad variable '$value'" run --env "$value" -- true
done
refuses "--env-pass with a value" 125 "--env-pass: the variable name 'A=B' has a '=' in it" run --env-pass A=B -- true
refuses "--env-pass ''" 125 "--env-pass: the variable name '' is empty" run --env-pass '' -- true
for value in 'A B=1' '1A=1' 'A+=1'; do
    refuses "--env '$value': no name" 125 "--env: the variable name '.*' (has something else in it|begins with a digit)" run --env "$value" -- true
done
accepts "--env with a name that programs use and shells do not" "single" run --env discovery.type=single -- printenv discovery.type
for value in 0 1 2; do
    refuses "--keep-fd $value is the box's own" 125 "the descriptor $value cannot be kept: .*standard input" run --keep-fd $value -- true
done
for value in '' x -1 1.5 99999999999; do
    refuses "--keep-fd '$value'" 125 "--keep-fd: bad .*: expected" run --keep-fd "$value" -- true
done
refuses "--keep-fd of a closed descriptor" 125 "descriptor 77 .*not open" run --keep-fd 77 -- true
refuses "--block of a link" 125 "hide '/work/through-file': the target is a symbolic link" run --block through-file -- true
refuses "--block ''" 125 "--block: the blocked path is empty" run --block '' -- true
accepts "the good neighbours" ok run --memory 1.5g --pids 100 --cpu-seconds 10 --file-size 1m \
    --open-files 100 --tmp-size 10m --timeout 1m30s --hostname a-b.c --network off --mode required \
    --profile dev --env A= --env-pass NOT_SET -- echo ok

# --- the subcommand ------------------------------------------------------------------------------------------
is "coop sandbox alone explains" "$("$COOP" sandbox 2>&1 >/dev/null | head -n 1; "$COOP" sandbox >/dev/null 2>&1; echo $?)" \
    "$(printf 'usage: coop sandbox status [options]\n2')"
is "coop sandbox run is no way to write coop run" "$("$COOP" sandbox run true 2>&1; echo $?)" \
    "$(printf "coop: there is no 'coop sandbox run'; use 'coop run'\n2")"

# --- the command -----------------------------------------------------------------------------------------
refuses "no command" 125 'the command is missing' run
hints "no command: shows one" 'coop run'
refuses "no command after --" 125 'the command is missing' run --
refuses "no command after options" 125 'the command is missing' run --memory 1g
refuses "empty command" 125 'the command is empty' run ''
refuses "empty command after --" 125 'the command is empty' run -- '' x
refuses "empty shell text" 125 'the shell text is empty' run -c ''
refuses "shell text and a command" 125 "shell text and the command 'operand'" run -c 'echo x' operand
refuses "shell text and a command after --" 125 "shell text and the command 'operand'" run -c 'echo x' -- operand
refuses "command not found" 127 "'no-such-command': no such command in the box" run -- no-such-command
refuses "command not found, by path" 127 "'./no-such': no such" run -- ./no-such
refuses "command not found, on the host only" 127 "no such" run -- "$T/../${T##*/}/w/file"
refuses "command through a file" 127 "'file/x'" run -- file/x
refuses "not executable" 126 "'./file': not executable" run -- ./file
refuses "a directory" 126 "'./dir': .*directory" run -- ./dir
refuses "a directory on PATH" 126 "directory" run -- /usr
refuses "another architecture" 126 "'./foreign': not a program for this machine" run -- ./foreign
refuses "another architecture, 32 bit" 126 "'./foreign32'" run -- ./foreign32
refuses "a script without #!" 126 "'./no-shebang': .*'#!'" run -- ./no-shebang
refuses "an empty file" 126 "'./empty-file'" run -- ./empty-file
refuses "a script whose interpreter does not exist" 127 "'./bad-interpreter': its interpreter" run -- ./bad-interpreter
refuses "a script whose interpreter is empty" 126 "'./empty-interpreter'" run -- ./empty-interpreter
refuses "a link to itself" 126 "'./loop'" run -- ./loop
refuses "a name longer than any" 126 "File name too long|too long" run -- "./$name300"
refuses "escapes in the command's name" 127 "no such command" run -- "$(printf 'x\033]0;y\007')"
any_bytes=1 refuses "bytes that are no UTF-8 in the command's name" 127 "no such command" run -- "$(printf 'x\377\376')"
accepts "-- ends the options" "--json" run -- echo --json
accepts "the first operand ends them too" "--json -x --" run echo --json -x --
accepts "a second -- is the command's" "-- x" run -- echo -- x
accepts "a command that begins with a dash" "" run -- env -i true
refuses "a command that begins with a dash and does not exist" 127 "'-x': no such command" run -- -x

# As many arguments as coop itself can just be given: the box's environment is then too much.
cat >"$T/limit.py" <<'END'
import os, subprocess, sys
coop = sys.argv[1]
def padding(n):
    return ["x" * 100000] * (n // 100000) + ["x" * (n % 100000)]
def fits(n):
    try:
        return subprocess.run([coop, "run", "--help"] + padding(n), env={}, stdout=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False
low, high = 0, 32 << 20
while high - low > 16:
    middle = (low + high) // 2
    low, high = (middle, high) if fits(middle) else (low, middle)
os.execve(coop, [coop, "run", "--", "true"] + padding(low - 32), {})
END
r=0
timeout -s KILL 30 python3 "$T/limit.py" "$COOP" >"$T/out" 2>"$T/err" </dev/null || r=$?
is "arguments over the kernel's limit: status" "$r" 126
like "arguments over the kernel's limit: the sentence" "$(cat "$T/err")" "^coop run: execute '.*true': arguments and environment are larger"
is "arguments over the kernel's limit: one line" "$(wc -l <"$T/err")" 1

# --- the workspace -----------------------------------------------------------------------------------------
refuses "missing workspace" 125 "workspace '/no/such/place' does not exist" run -w /no/such/place -- true
hints "missing workspace: says the option" -- '--workspace'
refuses "workspace is a file" 125 "workspace 'file' is not a directory" run -w file -- true
refuses "workspace through a file" 125 "workspace 'file/x'" run -w file/x -- true
refuses "workspace is a device" 125 "workspace '/dev/null' is not a directory" run -w /dev/null -- true
refuses "workspace is a link to itself" 125 "workspace 'loop'" run -w loop -- true
refuses "workspace is empty" 125 "workspace is empty" run -w '' -- true
refuses "workspace is /" 125 "workspace '/' is '/'" run -w / -- true
refuses "workspace is / in disguise" 125 "is '/'" run -w ///usr/../. -- true
refuses "workspace is /, and so is the current directory" 125 "is '/'" run -w /proc/self/root -- true
refuses "workspace longer than any path" 125 "longer than 4095" run -w "/$long" -- true
refuses "workspace name longer than any" 125 "too long" run -w "./$name300" -- true
refuses "newline in the workspace" 125 "newline" run -w $'a\nb' -- true
refuses "newline in a mount source" 125 "newline" run --ro $'/a\nb:/c' -- true
refuses "newline in a mount target" 125 "newline" run --ro $'/usr:/c\nd' -- true
refuses "newline in --chdir" 125 "newline" run --chdir $'a\nb' -- true
refuses "newline in --block" 125 "newline" run --block $'a\nb' -- true
refuses "--chdir to what is not there" 125 "change directory '/no/such': No such" run --chdir /no/such -- true
refuses "--chdir to a file" 125 "change directory '/work/file': Not a directory" run --chdir file -- true
accepts "--chdir to what is there" /work/dir run --chdir dir -- pwd
ln -s "$PWD" "$T/link"
accepts "workspace through a link" "dir" run -w "$T/link" -c 'ls -d dir'
accepts "same-path through a link is the real path" "$PWD" run --same-path -w "$T/link" -- pwd
mkdir -p "$T/odd/sp ace"$'\t'"q'uote\"s*?\\"
accepts "odd characters in the workspace" made run -w "$T/odd/sp ace"$'\t'"q'uote\"s*?\\" -c 'echo made >x; cat x'
mkdir "$T/odd/$(printf 'not\377utf8')"
accepts "no UTF-8 in the workspace" made run -w "$T/odd/$(printf 'not\377utf8')" -c 'echo made >x; cat x'
mkdir "$T/odd/"$'new\nline'
(cd "$T/odd/"$'new\nline' && within 30 "$COOP" run -- true >"$T/out" 2>"$T/err" </dev/null; echo $? >"$T/r")
is "newline in the current directory" "$(cat "$T/r") $(wc -l <"$T/err")" "125 2"
like "newline in the current directory: said" "$(cat "$T/err")" newline
deep=$T/deep
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do deep=$deep/$(printf '%0250d' $i); done
mkdir -p "$deep"
accepts "a very long workspace path" made run -w "$deep" -c 'echo made >x; cat x'
(cd "$deep" && mkdir -p "$(printf '%0250d' 16)/$(printf '%0250d' 17)" && cd "$(printf '%0250d' 16)/$(printf '%0250d' 17)" && {
    within 30 "$COOP" run -- true >"$T/out" 2>"$T/err" </dev/null
    echo $? >"$T/r"
})
is "a workspace path longer than the kernel names" "$(cat "$T/r")" 125
like "a workspace path longer than the kernel names: said" "$(cat "$T/err")" "^coop run: .*(path|workspace)"
mkdir "$T/deleted"
(cd "$T/deleted" && rmdir "$T/deleted" && {
    within 30 "$COOP" run -- true >"$T/out" 2>"$T/err" </dev/null
    echo $? >"$T/r"
})
is "a deleted current directory" "$(cat "$T/r")" 125
like "a deleted current directory: said" "$(head -n 1 "$T/err")" "^coop run: .*workspace '.*(deleted|does not exist|removed)"
if is_root; then
    skip_never "an unreadable workspace" "root can read all"
else
    mkdir "$T/unreadable" "$T/closed" "$T/closed/in"
    chmod 000 "$T/unreadable" "$T/closed"
    refuses "a workspace in a directory that cannot be entered" 125 "workspace '.*/closed/in': Permission denied" run -w "$T/closed/in" -- true
    refuses "a workspace that cannot be entered" 125 "/unreadable: enter the workspace: Permission denied" run -w "$T/unreadable" -- true
    chmod 700 "$T/unreadable" "$T/closed"
fi

# --- mounts -------------------------------------------------------------------------------------------
refuses "a source that does not exist" 125 "mount source '/no/such'" run --ro /no/such -- true
refuses "a relative source that does not exist" 125 "mount source 'no-such'" run --ro no-such -- true
refuses "a source that is a link to itself" 125 "mount source 'loop'" run --rw loop:/x -- true
refuses "an empty source" 125 "mount source is empty" run --ro : -- true
refuses "an empty target" 125 "mount target is empty" run --ro /usr/share: -- true
refuses "a relative target" 125 "target 'x' is relative" run --ro /usr/share:x -- true
refuses "a target with .." 125 "target '/x/../y' has '..'" run --ro /usr/share:/x/../y -- true
refuses "a target that is /" 125 "target '/'" run --ro /usr/share:/ -- true
refuses "the same target twice" 125 "target '/x' is given twice" run --ro /usr/share:/x --rw dir:/x -- true
refuses "a pattern, once with its place" 125 "^coop run: --protect: the pattern '\[abc' has" run --protect '[abc' -- true
refuses "the same target twice, otherwise spelt" 125 "target '/x' is given twice" run --ro /usr/share:/x --rw dir://x/. -- true
refuses "the workspace's own place" 125 "'/work'" run --ro /usr/share:/work -- true
refuses "a target inside another mount that is not there" 125 "'/x/no-such-dir'" run --ro /usr/share:/x --ro /usr/bin:/x/no-such-dir -- true
hints "says that coop makes no mount points on the host" 'mount point'
refuses "a target inside the workspace that is not there" 125 "'/work/no-such-dir'" run --ro /usr/share:/work/no-such-dir -- true
refuses "a file over a directory" 125 "'/work/dir'" run --ro file:/work/dir -- true
refuses "a directory over a file" 125 "'/work/file'" run --ro dir:/work/file -- true
ln -s dir link-to-dir
before=$(snapshot .)
refuses "a target that goes through a link" 125 "link-to-dir" run --ro /usr/share:/work/link-to-dir -- true
hints "says that a link is in the way" 'link'
# The kernel's own, which is not a directory of files: by what it is, not by its name.
ln -s /proc "$T/kernel"
for place in /proc /proc/self /proc/sys "$T/kernel" /sys /sys/kernel /dev /sys/fs/cgroup /dev/pts; do
    [ -d "$place" ] || continue
    refuses "the workspace is $place" 125 "the workspace '$place' belongs to the host's kernel" run -w "$place" -- true
    for option in --ro --rw; do
        refuses "$option $place" 125 "the mount source '$place' belongs to the host's kernel" run $option "$place:/x" -- true
    done
done
rm "$T/kernel"
refuses "a file of the kernel's" 125 "'/proc/self/oom_score_adj' belongs to the host's kernel" run --rw /proc/self/oom_score_adj:/x/y -- true
refuses "-v of the kernel's" 125 "the mount source '/sys' belongs to the host's kernel" run -v /sys:/x:ro -- true
refuses "--mount of the kernel's" 125 "the mount source '/dev' belongs to the host's kernel" run --mount type=bind,source=/dev,target=/x -- true
refuses "--root of the kernel's" 125 "'/proc' belongs to the host's kernel" run --root /proc -- true
refuses "the whole host" 125 "the mount source '/' belongs to the host's kernel" run --ro /:/x -- true
refuses "a target inside a tmpfs, where nothing is yet" 125 "'/x/dir2/f' lies in '/x'" run --ro file:/x/dir2/f --mount type=tmpfs,target=/x -- true
accepts "nested targets, the inner one given first" data run --ro file:/x/dir2/f --ro dir:/x/dir -- cat /x/dir2/f
accepts "a target inside the workspace that is there" data run --ro file:/work/empty-file -- cat /work/empty-file
# shellcheck disable=SC2016
for value in 'type=bind,source=/usr' 'source=/usr,readonly' ''; do
    refuses "--mount '$value': no target" 125 "--mount: bad mount '$value': expected a target" run --mount "$value" -- true
done
refuses "--mount without source" 125 "expected a source" run --mount type=bind,target=/x -- true
refuses "--mount of another type" 125 "bad mount type 'volume'" run --mount type=volume,source=a,target=/x -- true
refuses "--mount tmpfs with a source" 125 "no source" run --mount type=tmpfs,source=/usr,target=/x -- true
refuses "--mount with an unknown key" 125 "unknown mount key 'sorce'" run --mount type=bind,sorce=/usr,target=/x -- true
hints "and suggests the near one" 'source'
refuses "--mount with a key twice" 125 "the mount key 'type' is given twice" run --mount type=bind,type=tmpfs,target=/x -- true
refuses "--mount with a key twice, otherwise spelt" 125 "the mount key 'dst' is given twice" run --mount type=tmpfs,target=/x,dst=/y -- true
refuses "--mount with a bare word" 125 "bad mount word 'rw'" run --mount type=bind,rw,source=/usr,target=/x -- true
refuses "--mount with a bad size" 125 "bad size 'big'" run --mount type=tmpfs,target=/x,size=big -- true
refuses "--mount with a relative target" 125 "target 'x' is relative" run --mount type=tmpfs,target=x -- true
accepts "--mount as Docker has it" "data ro" run -q --mount "type=bind,src=$PWD/file,dst=/x/f,readonly" \
    -c 'exec 2>/dev/null; printf "%s " "$(cat /x/f)"; (echo y >/x/f) || echo ro'
refuses "-v without a target" 125 "bad volume 'foo'" run -v foo -- true
refuses "-v with an empty source" 125 "bad volume ':/x'" run -v :/x -- true
refuses "-v with an empty target" 125 "bad volume '/usr:'" run -v /usr: -- true
refuses "-v with an unknown mode" 125 "bad volume '/usr:/x:rx'" run -v /usr:/x:rx -- true
refuses "-v with a named volume" 125 "volume source 'data'" run -v data:/x -- true
refuses "-v with a relative target" 125 "target 'x' is relative" run -v /usr:x -- true
refuses "-v of a source that does not exist" 125 "mount source '/no/such'" run -v /no/such:/x -- true
accepts "-v as Docker has it" data run -v "$PWD/file:/x/f:ro" -- cat /x/f
accepts "-v :ro is read-only" ro run -q -v "$PWD/dir:/x:ro" -c 'touch /x/new 2>/dev/null || echo ro'
accepts "-v :rw is writable" "" run -v "$PWD/dir:/x:rw" -c 'touch /x/new'
rm -f dir/new
before=$(snapshot .)

# --- with --json, a document says the same ---------------------------------------------------------------
json() { # DESCRIPTION STATUS KIND REGEX arguments...
    local what=$1 want=$2 kind=$3 regex=$4 r=0
    shift 4
    timeout -s KILL 30 "$COOP" run --json "$@" >"$T/out" 2>"$T/err" </dev/null || r=$?
    is "$what" "$r $(jq -r '[.status, .error.kind] | join(" ")' "$T/out") $(jq -r .error.message "$T/out" | grep -Ec -- "$regex")" \
        "$want $want $kind 1"
}
json "--json: unknown option" 125 bad-policy "unknown option" --memroy 2g -- true
json "--json: bad size" 125 bad-policy "bad size" --memory x -- true
json "--json: no command" 125 bad-policy "command is missing"
json "--json: missing workspace" 125 bad-policy "does not exist" -w /no/such -- true
json "--json: missing source" 125 bad-policy "/no/such" --ro /no/such -- true
json "--json: no such command" 127 exec-failed "no such command" -- no-such-command
json "--json: a directory" 126 exec-failed "directory" -- ./dir
json "--json: set-up fails" 125 set-up-failed "step [0-9]+ of" --chdir /no/such -- true

# --- scarcity ------------------------------------------------------------------------------------------
accepts "a full /tmp is the command's error, and told" "1 No space left on device, then fine
coop run: refused: tmp-size /tmp: all its 1048576 bytes were in use (sandbox.tmp_size, --tmp-size); allow it with --tmp-size SIZE" run --explain --tmp-size 1m -c '
    e=$(head -c 3000000 /dev/zero 2>&1 >/tmp/x); r=$?
    rm /tmp/x && echo fine >/tmp/y
    echo "$r ${e##*: }, then $(cat /tmp/y)"'
for n in 0 1 2 3 4 5 6 8 10 12 16 20 24 28 32 40 48 64; do
    under=(bash -c "ulimit -n $n; exec \"\$@\"" -)
    r=0
    timeout -s KILL 30 "$OUTLIVES" "${under[@]}" "$COOP" run -- true >"$T/out" 2>"$T/err" </dev/null || r=$?
    if [ $r = 0 ]; then
        is "with $n descriptors it works, silently" "$(cat "$T/err")" ''
        worked=$n
        break
    fi
    [ "$n" -lt 3 ] && grep -q 'bash:' "$T/err" && continue # the shell itself could not
    was_refused "with $n descriptors it says so" 125 "Too many open files|No file descriptors" $r run -- true
    unlike "with $n descriptors the hint does not mislead" "$(sed -n 's/^  hint: //p' "$T/err")" 'memfd'
done
isnt "with some number of descriptors it works" "${worked-none}" none
under=(bash -c 'ulimit -v 3000; exec "$@"' -)
timeout -s KILL 30 "${under[@]}" "$COOP" run -- true >"$T/out" 2>"$T/err" </dev/null
r=$?
if [ $r -gt 128 ]; then skip_never "with little memory" "the program cannot even be loaded"; elif [ $r = 0 ]; then
    is "with little memory it works, silently" "$(cat "$T/err")" ''
else
    is "with little memory it says so" "$r $(grep -c 'memory' "$T/err")" "125 1"
fi
# Its sentence goes through a pipe: into a file nothing could be written.
like "with a file size limit of 0" "$( (ulimit -f 0; "$COOP" run -- true 2>&1 </dev/null; echo " $?") | tr '\n' ' ')" \
    "^coop run: .*File too large +125"
if is_root; then
    skip_never "with no process left" "root has no such limit"
else
    under=(bash -c 'ulimit -u 1; exec "$@"' -)
    refuses "with no process left" 125 "make a process.*(too many processes|Resource temporarily)" run -- true
    under=()
fi

# --- where the workspace lies ------------------------------------------------------------------------------
on_mount() { # MOUNT-COMMAND SHELL-TEXT: in a mount namespace of its own, with the mount at $T/m
    mkdir -p "$T/m" "$T/lower" "$T/upper" "$T/worker"
    unshare -m bash -c "$1"' && cd "$2" && exec timeout -s KILL 30 "$3" run -c "$4"' - "$T" "$T/m" "$COOP" "$2" 2>&1
}
if is_root && unshare -m mount -t tmpfs x "$T" 2>/dev/null; then
    is "a read-only workspace" "$(on_mount 'mount -t tmpfs -o ro x $1/m' 'echo runs; touch x 2>&1 | grep -o Read-only')" "$(printf 'runs\nRead-only')"
    is "a noexec workspace" "$(on_mount 'mount -t tmpfs -o noexec x $1/m && printf "#!/bin/sh\necho no" >$1/m/x && chmod 755 $1/m/x' './x 2>&1 | grep -o denied; echo runs')" "$(printf 'denied\nruns')"
    is "a noexec workspace: the command itself" \
        "$(unshare -m bash -c 'mount -t tmpfs -o noexec x $1/m && cp /bin/true $1/m && cd $1/m && "$2" run -- ./true' - "$T" "$COOP" 2>&1; echo $?)" \
        "$(printf "coop run: execute './true': not executable (a directory, no execute permission, or a noexec mount)\n126")"
    is "a workspace on tmpfs" "$(on_mount 'mount -t tmpfs x $1/m' 'echo made >x && cat x')" made
    over=$(on_mount 'mount -t tmpfs x $1/upper && mkdir $1/upper/u $1/upper/w && echo low >$1/lower/l && mount -t overlay -o lowerdir=$1/lower,upperdir=$1/upper/u,workdir=$1/upper/w x $1/m' 'cat l; echo made >x && cat x')
    case $over in # not every kernel can map owners there
    "coop run: start the sandbox: map the owner of '$T/m': "*"hint: "*) tap_result 0 "a workspace on overlayfs: refused, and said why" ;;
    *) is "a workspace on overlayfs" "$over" "$(printf 'low\nmade')" ;;
    esac
    is "a workspace that is a mount point with another below" \
        "$(on_mount 'mount -t tmpfs x $1/m && mkdir $1/m/in && mount -t tmpfs y $1/m/in && echo deep >$1/m/in/f' 'cat in/f')" deep
else
    for what in "a read-only workspace" "a noexec workspace" "a workspace on tmpfs" "a workspace on overlayfs"; do
        skip_never "$what" "needs a root that may mount"
    done
fi
nothing_left "after all of it nothing is left" "$before" .
done_testing
