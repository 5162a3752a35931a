#!/bin/bash
# The build turns src/command/programs.ini into C. A packager's further file is taken, and a mistake in it stops the
# build with its place.
#
# worlds: user
# builds: none
. "$(dirname "$0")/tap.sh"

tables=$SRC/src/command
made() { # the tables of the shipped file and of standard input; the generator's status
    cat >"$T/more.ini"
    "$tables/programs.py" "$T/tables.c" "$tables/programs.ini" "$T/more.ini" 2>"$T/said"
}

made <<'END'
[mytool]
valued = --config
flags = -v
is = whole-options
runs = exec
spelling = rm -f --force
alias = remove: rm
END
is "a further program is taken" $? 0
like "its options are in the tables" "$(cat "$T/tables.c")" '\.name = "mytool", \.valued = "--config", \.flags = "-v"'
like "its spelling is in the tables" "$(cat "$T/tables.c")" '"mytool", "rm", .f., "force"'

made <<'END'
[docker]
alias = remove: rm
END
is "a known program gets further rows" $? 0

refused() { # description, what is said, the file as printf has it
    rm -f "$T/tables.c"
    # shellcheck disable=SC2059
    ! made < <(printf "$3")
    is "$1 is refused" $? 0
    like "$1: the message says where" "$(cat "$T/said")" "$2"
    is "$1: nothing is written" "$(ls "$T/tables.c" 2>/dev/null)" ""
}
refused "an unknown key" "more.ini:2: unknown key 'flag'" '[x]\nflag = -v\n'
refused "an unknown kind" "more.ini:2: unknown kind 'quick'" '[x]\nis = quick\n'
refused "a second list of flags" "more.ini:2: 'flags' of git is given twice" '[git]\nflags = -v\n'
refused "a row of another form" "more.ini:2: 'spelling = rm f force'" '[x]\nspelling = rm f force\n'
refused "a quote in a word" "more.ini:2: 'b\"' cannot be a word" '[x]\nalias = a: b"\n'
refused "a row of no program" 'more.ini:1: expected' 'alias = a: b\n'
refused "a continued line without a line" 'more.ini:1: nothing to continue' '    -v\n'
refused "a program without its options" 'x has runs, but no valued' '[x]\nruns = exec\n'
done_testing
