# lint.sh - what can be said of the tree without running it. Sourced by test/run
# shellcheck shell=bash

tracked() { git ls-files -co --exclude-standard -- "$@" 2>/dev/null || find . -path './build*' -prune -o -name "${1##*/}" -print; }

lint_format() { tracked '*.c' '*.h' | xargs -n 100 -P "$JOBS" clang-format --dry-run -Werror; }
lint_headers_c() {
    local header r=0
    for header in include/coop/*.h; do
        echo "#include \"coop/${header##*/}\"" |
            gcc -std=c99 -Wall -Wextra -pedantic -Werror -Iinclude -fsyntax-only -x c - || r=1
    done
    return $r
}
lint_headers_cxx() {
    local header r=0
    for header in include/coop/*.h; do
        echo "#include \"coop/${header##*/}\"" |
            g++ -std=c++11 -Wall -Wextra -pedantic -Werror -Iinclude -fsyntax-only -x c++ - || r=1
    done
    return $r
}
lint_tidy() {
    # Not the tests: they do odd things on purpose. The analyzer follows a function for a
    # fifteenth of its usual number of states, which most never reach: a minute instead of eight.
    local depth=(-Xclang -analyzer-config -Xclang max-nodes=15000)
    tracked 'src/**/*.c' | grep -Ev '_(test|fuzz)\.c$' |
        xargs -n 2 -P "$JOBS" clang-tidy --quiet --warnings-as-errors='*' -p build-clang "${depth[@]/#/--extra-arg=}"
}
lint_shell() {
    tracked | while read -r file; do
        case $file in *.sh | *.t) echo "$file" ;; *) head -c 30 "$file" | grep -qaE '^#!.*(ba)?sh$' && echo "$file" ;; esac
    done | xargs -n 10 -P "$JOBS" shellcheck -s bash -x -S warning -e SC2034,SC2154 # variables of sourced files
}

lint() {
    say "lint"
    check "format" lint_format
    check "include directions" tools/check-includes
    check "one name, one thing" tools/check-names
    check "public headers alone, C99" lint_headers_c
    check "public headers alone, C++" lint_headers_cxx
    [ -f build-clang/compile_commands.json ] && check "clang-tidy" lint_tidy
    if clang --print-targets 2>/dev/null | grep -q aarch64; then
        check "compiles for aarch64" tools/check-aarch64
    else
        leave_out "aarch64: clang, which compiles for it, is not installed"
    fi
    if command -v shellcheck >/dev/null; then check "shellcheck" lint_shell; else leave_out "shellcheck: not installed"; fi
}
