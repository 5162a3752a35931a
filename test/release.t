#!/bin/bash
# tools/release, in a repository of its own: what it refuses, and what it writes
#
# worlds: user
# builds: none
. "$(dirname "$0")/tap.sh"

export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
repository=$T/repository
mkdir -p "$repository/tools" "$repository/include/coop"
cp "$SRC/tools/release" "$repository/tools/"
cd "$repository" || exit 1
git init -q -b main .
write() { # version in meson.build, in the header, heading of the changelog
    printf "project('coop', 'c',\n  version: '%s',\n" "$1" >meson.build
    IFS=. read -r major minor micro <<<"$2"
    printf '#define COOP_VERSION_MAJOR %s\n#define COOP_VERSION_MINOR %s\n#define COOP_VERSION_MICRO %s\n' \
        "$major" "$minor" "$micro" >include/coop/version.h
    printf '# Changes\n\n%s\n\n- something new\n\n## 0.0.1 (2020-01-01)\n\n- something old\n' "$3" >CHANGELOG.md
    git add -A && git commit -qm "$1" --allow-empty
}
release() { tools/release "$@" >"$T/said" 2>&1; }
refuses() { # description, what is said, arguments
    local what=$1 said=$2
    shift 2
    ! release "$@"
    is "$what is refused" $? 0
    like "$what: the message says why" "$(cat "$T/said")" "$said"
    is "$what: nothing is written" "$(ls "$T/out" 2>/dev/null)" ""
    is "$what: no tag is made" "$(git tag)" ""
}

write 0.2.0 0.2.0 '## 0.2.0 (2026-01-02)'
refuses "a version without three numbers" "'0.2' is no version" --dry-run 0.2 "$T/out"
refuses "another version than in meson.build" "meson.build has version '0.2.0'" --dry-run 0.3.0 "$T/out"
write 0.2.0 0.1.9 '## 0.2.0 (2026-01-02)'
refuses "another version than in the header" "version.h has version '0.1.9'" --dry-run 0.2.0 "$T/out"
write 0.2.0 0.2.0 '## Unreleased'
refuses "a changelog without the release" "first section of CHANGELOG.md is '## Unreleased'" --dry-run 0.2.0 "$T/out"
write 0.2.0 0.2.0 '## 0.2.0 (9999-01-02)'
refuses "a date in the future" 'in the future' --dry-run 0.2.0 "$T/out"
write 0.2.0 0.2.0 '## 0.2.0 (2026-01-02)'
echo more >"$repository/more"
refuses "a tree with changes" 'not committed' --dry-run 0.2.0 "$T/out"
rm "$repository/more"
git checkout -qb topic
refuses "a branch that is not main" 'not the branch main' --no-tests 0.2.0 "$T/out"
git checkout -q main

release --dry-run --sign 0.2.0 "$T/out"
is "a dry run succeeds" $? 0
like "it says what it leaves out" "$(cat "$T/said")" 'would tag v0.2.0 and sign the tag and the tarball'
is "it makes no tag" "$(git tag)" ""
is "it writes tarball, checksum and notes" "$(ls "$T/out")" "$(printf 'coop-0.2.0.notes.md\ncoop-0.2.0.tar.gz\ncoop-0.2.0.tar.gz.sha256')"
(cd "$T/out" && sha256sum --quiet -c coop-0.2.0.tar.gz.sha256)
is "the checksum is right" $? 0
like "the tarball has the tree in a folder of its own" "$(tar tzf "$T/out/coop-0.2.0.tar.gz")" '^coop-0\.2\.0/CHANGELOG\.md$'
is "the notes are those of this release" "$(grep . "$T/out/coop-0.2.0.notes.md")" '- something new'
release --no-tests 0.2.0 "$T/again"
is "a release without tests succeeds" $? 0
is "it makes the tag" "$(git tag)" v0.2.0
is "the same commit makes the same tarball" "$(sha256sum <"$T/again/coop-0.2.0.tar.gz")" "$(sha256sum <"$T/out/coop-0.2.0.tar.gz")"
rm -r "$T/out" "$T/again"
! release --no-tests 0.2.0 "$T/out"
is "a second release of one version is refused" $? 0
like "the message names the tag" "$(cat "$T/said")" 'the tag v0.2.0 exists already'
cd / || exit 1
done_testing
