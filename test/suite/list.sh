# list.sh - which tests there are, and where each of them runs. Sourced by test/run
#
# A test says it itself, in the first lines of its file, in comments of the form "KEY: WORDS":
#
#   worlds   of root, user, userns: in these, with the first build. Default: all; of fuzzers: user
#   builds   of clang, asan, asan-root: with these builds too, as user (the last: as root). Default: clang asan
#   fuse     both: also as a user who may not use /dev/fuse
#   speed    slow: not in the quick part (--short); long: in the long part only (--long)
#   needs    packages besides those that everything needs; tools/setup installs them
# shellcheck shell=bash
TAG_KEYS='worlds|builds|fuse|speed|needs'

# "FILE<tab>KEY<tab>WORDS" for each tag of these files.
read_tags() { # FILE...
    awk -v keys="^[#/ *]+($TAG_KEYS): " 'FNR > 20 { nextfile }
        $0 ~ keys { sub(/^[#\/ *]+/, ""); sub(/ *\*\/$/, ""); key = $1; sub(/^[^ ]+ +/, ""); sub(/:$/, "", key); print FILENAME "\t" key "\t" $0 }' "$@"
}

# Lines of NAME SOURCE COMMAND..., separated by tabs. The command is the one of build/.
all_tests() {
    local file
    if [ -f build/build.ninja ]; then
        meson introspect --tests --targets build | jq -r --arg from "$SOURCE/" '
            (.targets | map({ (.filename[0]): .target_sources[0].sources[0] }) | add) as $sources
            | .tests[] | [.name, ($sources[.cmd[0]] // "" | ltrimstr($from) | ltrimstr("test/../")), (.cmd[] | ltrimstr($from))] | @tsv'
    fi
    for file in test/*.t; do printf '%s\t%s\t%s\n' "${file##*/}" "$file" "$file"; done
}

# Names that are given on the command line: view, view.t, test/view.t, base_quantity, src/base/quantity_test.c;
# each perhaps with ":CASE". Sets wanted, a list of "NAME<tab>CASE"; fails if there is no such test.
find_wanted() { # WORD...
    local word name found bad=0
    wanted=()
    for word in "$@"; do
        name=${word%%:*}
        found=$(awk -F '\t' -v name="${name#./}" 'name == $1 || name == $2 || name ".t" == $1 || name "_test" == $1 { print $1 }' "$RUN_DIR/tests" | head -n 1)
        if [ -n "$found" ]; then
            case $word in *:*) wanted+=("$found"$'\t'"${word#*:}") ;; *) wanted+=("$found"$'\t') ;; esac
        else
            echo "test/run: there is no test '$name'; test/run --list names them" >&2
            bad=1
        fi
    done
    return $bad
}

declare -A tags
load_tags() {
    local file key words
    while IFS=$'\t' read -r file key words; do tags[$file:$key]=$words; done < <(
        # shellcheck disable=SC2046
        read_tags $(cut -f 2 "$RUN_DIR/tests" | sort -u | grep .)
    )
}

is_among() { case " $2 " in *" $1 "*) ;; *) return 1 ;; esac }

# "BUILD WORLD" for each place where the test runs.
places_of() { # SOURCE
    local in_worlds=${tags[$1:worlds]-} in_builds=${tags[$1:builds]-clang asan} world n=0
    [ -n "$in_worlds" ] || case $1 in *_fuzz.c) in_worlds=user ;; *) in_worlds="root user userns" ;; esac
    for world in $worlds; do
        is_among "$world" "here $in_worlds" && echo "build $world" && n=$((n + 1))
    done
    [ $n -gt 0 ] || echo "build ${worlds%% *}" # better there than nowhere
    case ${tags[$1:fuse]-}:$worlds:$has_fuse in both:*user*:1) echo "build user-nofuse" ;; esac
    world=user
    is_among user "$worlds" || world=${worlds%% *}
    is_among clang "$in_builds" && echo "build-clang $world"
    is_among asan "$in_builds" && echo "build-asan $world"
    is_among asan-root "$in_builds" && is_among root "$worlds" && echo "build-asan root"
}

is_in_part() { # SOURCE
    case ${tags[$1:speed]-}:$short:$long in
    slow:1:*) skipped_parts+=("${1##*/}"); return 1 ;;
    long:*:) return 1 ;;
    esac
}

# The list of what is run: lines of BUILD WORLD CASE NAME COMMAND..., separated by tabs.
list_tests() {
    local name source command case build world entry
    skipped_parts=()
    while IFS=$'\t' read -r name source command; do
        case=
        if [ ${#wanted[@]} -gt 0 ]; then
            for entry in "${wanted[@]}" ''; do [ "${entry%%$'\t'*}" != "$name" ] || break; done
            [ -n "$entry" ] || continue
            case=${entry#*$'\t'}
        else
            is_in_part "$source" || continue
        fi
        while read -r build world; do
            is_among "$build" "$builds" || continue
            printf '%s\t%s\t%s\t%s\t%s\n' "$build" "$world" "${case:--}" "$name" "${command//build\/test\//$build/test/}"
        done < <(places_of "$source")
    done <"$RUN_DIR/tests" >"$RUN_DIR/list"
    [ ${#skipped_parts[@]} = 0 ] || cannot_run "slow tests: ${skipped_parts[*]}"
}
