#!/bin/bash
# install.t - what 'make install' puts where, and whether a program can be built with it
# worlds: user
# builds: none
# speed: slow
. "$(dirname "$0")/tap.sh"

# What another compiler or a sanitizer would add here, nothing is installed from.
case ${COOP_TEST_BUILD-} in
*/build-*) skip_never "make install" "tested with the ordinary build" || done_testing ;;
esac

root=$T/root
# A build of its own: 'make install' belongs to whoever runs it, and configures the build anew. How
# fast the program is makes no difference here.
make=(make -s -C "$SRC" BUILD="$T/build" DESTDIR="$root")
if ! meson setup --prefix=/usr --buildtype=debug -Dtests=false "$T/build" "$SRC" >log 2>&1 ||
    ! "${make[@]}" PREFIX=/usr install >log 2>&1; then
    tap_result 1 "make install DESTDIR= PREFIX=/usr"
    note "$(tail -n 20 log)"
    done_testing
fi
tap_result 0 "make install DESTDIR= PREFIX=/usr"

libdir=$(cd "$root" && dirname "$(find usr -name libcoop.a)")
expected=$(sort <<END
usr/bin/coop
usr/include/coop/coop.h
usr/include/coop/error.h
usr/include/coop/log.h
usr/include/coop/policy.h
usr/include/coop/probe.h
usr/include/coop/result.h
usr/include/coop/run.h
usr/include/coop/tools.h
usr/include/coop/trust.h
usr/include/coop/version.h
$libdir/libcoop.a
$libdir/libcoop.so
$libdir/libcoop.so.0
$libdir/libcoop.so.0.1.0
$libdir/pkgconfig/libcoop.pc
usr/libexec/coop/coop-credential
usr/libexec/coop/coop-gate
usr/libexec/coop/coop-mcp
usr/libexec/coop/coop-nat
usr/libexec/coop/coop-yaml
usr/share/bash-completion/completions/coop
usr/share/coop/programs.ini
usr/share/fish/vendor_completions.d/coop.fish
usr/share/man/man1/coop-audit.1
usr/share/man/man1/coop-learn.1
usr/share/man/man1/coop-mcp.1
usr/share/man/man1/coop.1
usr/share/man/man3/libcoop.3
usr/share/man/man5/coop-policy.5
usr/share/man/man5/coop-result.5
usr/share/zsh/site-functions/_coop
END
)
is "installs these files and no others" "$(cd "$root" && find . ! -type d | sed 's,^\./,,' | sort)" \
    "$expected"
is "every public header is installed" "$(ls "$root/usr/include/coop")" "$(ls "$SRC/include/coop")"
is "installs nothing that others may change" "$(find "$root" ! -type l -perm /022)" ""

version=$("$root/usr/bin/coop" --version)
ok "the installed program runs a command" "$root/usr/bin/coop" run --mode preferred -- true
like "it is one static file" "$(ldd "$root/usr/bin/coop" 2>&1)" "not a dynamic executable|statically"

shared=$root/$libdir/libcoop.so.0
archive=$root/$libdir/libcoop.a
is "the shared library names itself" \
    "$(readelf -d "$shared" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')" libcoop.so.0
unlike "nothing in it is unresolved" "$(ldd -r "$shared" 2>&1)" "undefined symbol|not found"

declared=$(cat "$SRC"/include/coop/*.h | tr '\n' ' ' |
    grep -o 'COOP_API [^;(]*(' | grep -o 'coop_[a-z0-9_]*($' | tr -d '(' | sort)
exported=$(nm -D --defined-only "$shared" | awk '$2 != "A" { print $3 }' | sort)
is "exports what the headers declare, all of it versioned" "$exported" \
    "$(sed 's/$/@@COOP_0.1/' <<<"$declared")"
is "the static library shows the same names" \
    "$(nm -g --defined-only "$archive" | awk 'NF == 3 { print $3 }' | sort)" "$declared"
documented=$(awk '/^\.Ft/ { after = 1; next } after && /^\.F[no] / { print $2 } { after = 0 }' \
    "$root/usr/share/man/man3/libcoop.3" | sort)
is "libcoop(3) documents every symbol, and none that does not exist" "$documented" "$declared"

# The names that pkg-config gives, with the place we installed to in front of them.
pc() { # [pkg-config options]
    PKG_CONFIG_LIBDIR="$root/$libdir/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$root" \
        PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1 pkg-config "$@" libcoop
}
is "pkg-config knows the version" "coop $(pc --modversion)" "$version"
example=$SRC/doc/examples/run.c
cc=("${CC:-cc}" -std=c99 -Wall -Wextra -Werror -pedantic)
mkdir box

# shellcheck disable=SC2046 # words are what pkg-config means
ok "the example builds with the shared library" "${cc[@]}" $(pc --cflags) "$example" $(pc --libs) -o shared
like "and needs it" "$(readelf -d shared)" 'NEEDED.*libcoop\.so\.0\]'
# shellcheck disable=SC2046
ok "the example builds with the static library" "${cc[@]}" -static $(pc --cflags) "$example" \
    $(pc --static --libs) -o static
# shellcheck disable=SC2046
ok "the static library goes into a dynamic program too" "${cc[@]}" $(pc --cflags) "$example" "$archive" -o mixed
unlike "which does not need the shared one" "$(readelf -d mixed)" 'libcoop'

if "$COOP" status >/dev/null 2>&1; then
    for program in shared static mixed; do
        out=$(LD_LIBRARY_PATH=$root/$libdir ./$program box sh -c 'echo hello; pwd; touch made; exit 3' 2>&1)
        is "the example runs a command ($program)" "$? $out" "3 hello
/work
status: 3
tier:   full"
        ok "what the command made is in the directory ($program)" rm box/made
        out=$(LD_LIBRARY_PATH=$root/$libdir ./$program box no-such-command 2>&1)
        like "the example explains an error ($program)" "$? $out" "^125 run: .*no-such-command.*exec-failed"
    done
else
    skip "the example runs a command" "this host does not reach the full tier"
fi

for header in "$root"/usr/include/coop/*.h; do
    name=coop/$(basename "$header")
    ok "$name stands alone in C99" "${cc[@]}" -I"$root/usr/include" -fsyntax-only -x c - <<<"#include <$name>"
    if command -v c++ >/dev/null; then
        ok "$name stands alone in C++" c++ -std=c++11 -Wall -Wextra -Werror -pedantic \
            -I"$root/usr/include" -fsyntax-only -x c++ - <<<"#include <$name>"
    else
        skip "$name stands alone in C++" "no C++ compiler"
    fi
done

# After 'make demo', which builds without the tests, everything that the README describes is there.
like "make demo builds the programs" "$(make -n -C "$SRC" demo 2>&1)" '^ninja -C build +programs$'
for name in $(cd "$root/usr" && find bin libexec/coop -type f -printf '%f\n') libcoop.a libcoop.so.0.1.0; do
    like "$name is among the programs" "$(ninja -C "$T/build" -t query programs)" "^[ |]+$name\$"
done

"${make[@]}" PREFIX=/opt/coop install >log 2>&1
ok "another PREFIX is obeyed by the same build" test -x "$root/opt/coop/bin/coop"
like "and is in the pkg-config file" "$(find "$root/opt" -name libcoop.pc -exec cat {} +)" '^prefix=/opt/coop$'

# Its other programs are found at the prefix, wherever that is.
"${make[@]}" DESTDIR= PREFIX="$T/there" install >log 2>&1
echo 'a: no' >a.yaml
is "coop finds its YAML reader" "$("$T/there/bin/coop" config decode a.yaml 2>&1)" \
    '{"a":{"type":"text","value":"no"}}'
rm "$T/there/libexec/coop/coop-yaml"
is "and says when that is missing" "$("$T/there/bin/coop" config decode a.yaml 2>&1)" \
    "a.yaml: error: reading YAML needs 'coop-yaml', which is not installed; write the file in TOML instead"
done_testing
