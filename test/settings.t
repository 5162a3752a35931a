#!/bin/bash
# settings.t - the table of settings: what is made from a row, and that a row which lacks something ends the build
# worlds: user
# builds: none
# needs: python3 jq
. "$(dirname "$0")/tap.sh"

table=()
for part in sandbox audit people protect commands environment network expect options; do
    table+=("$part.ini")
done
cp "$SRC"/src/settings/*.ini .
is "every part of the table is in meson.build" "$(printf '%s\n' "${table[@]}")" \
    "$(sed -nE "s/^  '([a-z]+\.ini)',/\1/p" "$SRC/src/settings/meson.build")"
make_it() { # WHAT: prints what is made
    python3 "$SRC/src/settings/generate.py" "$1" made "${table[@]}" 2>&1 && cat made
}
for what in keys options ids values; do
    ok "$what are made" make_it $what
done

# ---- a row that lacks something

lacks() { # DESCRIPTION EXPECTED ROW...
    cp "$SRC/src/settings/expect.ini" .
    printf '\n%s\n' "$3" >>expect.ini
    said=$(make_it keys)
    is "$1: fails" "$?" 1
    like "$1: says why" "$said" "$2"
    cp "$SRC/src/settings/expect.ini" .
}
lacks "a key without a rule for a project's file" '^expect\.ini: \[sandbox\.new\]: project must be one of' \
    $'[sandbox.new]\ntype = bool\nhelp = something new'
lacks "a value without a rule for narrowing" '^expect\.ini: \[sandbox\.new\]: narrow must be one of' \
    $'[sandbox.new]\ntype = bool\nproject = stricter true\nhelp = something new\nvalue = stored'
lacks "a bool that does not say what is stricter" 'towards what' \
    $'[sandbox.new]\ntype = bool\nproject = stricter\nhelp = something new'
lacks "a key without help" 'help must be a sentence' $'[sandbox.new]\ntype = bool\nproject = free'
lacks "an attribute that does not exist" 'unknown attribute defualt' \
    $'[sandbox.new]\ntype = bool\nproject = free\nhelp = x\ndefualt = false'
lacks "a flag that is in no list" 'is in no list of \[order\]' \
    $'[--new]\nflag = --new\nflag-help = something new\napply = option_set_new'
lacks "a flag that nothing applies" 'a flag needs flag-help, and a value or a function' \
    $'[--new]\nflag = --new\nflag-help = something new'

# ---- one row is everything

printf '\n[sandbox.new]\ntype = size\ndefault = 1m\nrange = 4k to 2g\nproject = smaller\nvalue = stored\nnarrow = less\nnone = yes\nhelp = something new\nflag = --new -n SIZE\nflag-help = something new (default: 1m)\n' >>expect.ini
sed -i 's/^    mode profile$/    mode profile new/' options.ini
like "a new row is a key" "$(make_it keys)" '"sandbox.new", sizeof "sandbox.new", SCHEMA_SIZE, PROJECT_SMALLER, SCHEMA_NONE, "1m", "something new"'
like "an option" "$(make_it options)" $'"new", \'n\', "SIZE", "something new \(default: 1m\)", apply_new, false'
like "an id" "$(make_it ids)" ' SETTING_SANDBOX_NEW,'
like "a value with its range" "$(make_it values)" 'SETTING_SANDBOX_NEW\] = .*values\[SETTING_SANDBOX_NEW\].*\.min = 4096u, \.max = 2147483648u.*\.fallback = 1048576u'
page=$(python3 "$SRC/src/settings/generate.py" manual "$SRC/man/coop.1.in" made "${table[@]}" && cat made)
like "an item of coop(1)" "$page" $'\.It Fl n , Fl -new Ar size\nSomething new \(default: 1m\)\.'
page=$(python3 "$SRC/src/settings/generate.py" manual "$SRC/man/coop-policy.5.in" made "${table[@]}" && cat made)
like "and of coop-policy(5)" "$page" $'\.It Ic sandbox\.new\nSomething new\.\n\.Cm none\nlifts the limit\.\nDefault:\n\.Ql 1m \.'

# ---- what editors get

"$COOP" config schema >schema.json
is "the schema says which JSON Schema it is" "$(jq -r '."$schema" | test("^https?://json-schema.org/")' schema.json)" true
is "a word is one of its words" "$(jq -c '.properties.sandbox.properties.mode.enum' schema.json)" \
    '["required","preferred","disabled"]'
done_testing
