#!/bin/bash
# What a box leaves in a workspace makes git on the host execute nothing, read nothing elsewhere and push nowhere else. Each
# attempt is made in a box, and then the owner's own git looks at the tree.
. "$(dirname "$0")/box.sh"
export HOME="$T/home" XDG_CACHE_HOME="$T/cache" GIT_CONFIG_NOSYSTEM=1
mkdir home
git config --global user.name tester
git config --global user.email tester@example.org
git config --global init.defaultBranch main
git config --global protocol.file.allow always
git config --global advice.addEmbeddedRepo false
ME=(-e HOME=/tmp -e GIT_AUTHOR_NAME=box -e GIT_AUTHOR_EMAIL=box@example.org -e GIT_COMMITTER_NAME=box -e GIT_COMMITTER_EMAIL=box@example.org)
box() { "$COOP" run -q -w ws "${ME[@]}" "$@" </dev/null; }
mark=$T/executed # a file that nothing makes but a program of the box's, run on the host
evil="#!/bin/sh
touch $mark"

fresh() { # a repository with a remote, a commit and a linked worktree beside it
    rm -rf ws up.git linked "$mark"
    git init -q --bare up.git && git init -q ws && (
        cd ws && mkdir dir && echo one >file && echo "$evil" >evil && chmod +x evil && git add -A && git commit -qm one &&
            git branch side && git remote add origin "$T/up.git" && git push -q -u origin main && git worktree add -q ../linked side)
}
owner() { # all that the owner may do without a second thought; where a push would go
    local command
    for command in status "diff HEAD" log "show --stat" "add -n ." "commit --dry-run" fetch "submodule status" "worktree list" "stash list" \
        "gc --auto" "checkout -q side" "checkout -q main" "add -A" "commit -q --allow-empty -m more" "stash"; do
        # shellcheck disable=SC2086 # words
        git -C "$1" $command
    done >/dev/null 2>&1
    git -C "$1" push --dry-run 2>&1 | sed -n 's/^To //p'
}
harmless() { # DESCRIPTION [DIRECTORY]
    is "$1: pushes go where they went" "$(owner "${2:-ws}")" "$T/up.git"
    ok "$1: nothing was executed" test ! -e "$mark"
}

# ---- a repository that a box makes

fresh
box sh -c 'git init -q sub; cd sub; git commit -q --allow-empty -m x; git config core.fsmonitor "$1"; cd ..; git add sub' - "$T/ws/evil" >/dev/null 2>&1
harmless "git init"
box sh -c 'printf "[core]\n\tfsmonitor = %s\n" "$1" >sub/.git/config; printf "[core]\n\tfsmonitor = %s\n" "$1" >>sub/.git/config; git add sub' - "$T/ws/evil" >/dev/null 2>&1
harmless "its configuration, written"
fresh
box sh -c 'git init -q x; git -C x commit -q --allow-empty -m x; mkdir y; cp -r x/.git y/git; printf "[core]\n\tfsmonitor = %s\n" "$1" >y/git/config; mv y/git y/.git; git add y' - "$T/ws/evil" >/dev/null 2>&1
harmless "moved to its place"
fresh
box sh -c 'git init -q z; git -C z commit -q --allow-empty -m x; cp -a z copied; python3 -c "
import os, sys
fd = os.open(\"copied2config\", os.O_CREAT | os.O_RDWR)
os.makedirs(\"c2/.git\")
try: os.link(\"copied2config\", \"c2/.git/config\")
except OSError: pass
fd = os.open(\"c2/.git/config\", os.O_CREAT | os.O_RDWR)
os.write(fd, b\"[core]\\n\\tfsmonitor = \" + sys.argv[1].encode() + b\"\\n\")
os.system(\"cp -r z/.git/* c2/.git/ 2>/dev/null; git add c2\")
os.write(fd, b\"[core]\\n\\tfsmonitor = \" + sys.argv[1].encode() + b\"\\n\")
" "$1"; git add copied c2' - "$T/ws/evil" >/dev/null 2>&1
harmless "copied, and written by a descriptor"
is "a copy is a repository" "$(git -C ws/copied log --format=%s)" x
for hook in pre-commit post-checkout post-index-change; do
    fresh
    box sh -c 'git init -q sub; git -C sub commit -q --allow-empty -m x; mkdir -p sub/.git/hooks; cp evil sub/.git/hooks/'$hook'; cp evil sub/.git/hooks/x.sample
        mv sub/.git/hooks/x.sample sub/.git/hooks/'$hook'; ln -s ../../evil sub/.git/hooks/'$hook'; git add sub' >/dev/null 2>&1
    owner ws/sub >/dev/null
    harmless "a hook $hook"
done
is "of hooks only samples are made" "$(ls ws/sub/.git/hooks)" x.sample
fresh
is "clones inside are complete" "$(box sh -c 'git clone -q /work cl && git -C cl config remote.origin.url && cp -r cl cl2 && cp -al cl cl3 && until [ -s cl2/.git/config ]; do :; done && git clone -q --bare /work b.git && git clone -q --mirror /work m.git')" /work
is "and their copies" "$(for d in cl cl2 cl3 b.git m.git; do git -C ws/$d config remote.origin.url && git -C ws/$d log --format=%s; done | sort | uniq -c | tr -s ' ')" $' 5 /work\n 5 one'
is "and so are copies of clones" "$(cat ws/cl2/.git/config ws/cl3/.git/config)" "$(cat ws/cl/.git/config ws/cl/.git/config)"
fresh
git clone -q up.git ws/inner
box sh -c 'rm inner/.git/config; git -C inner init -q; git -C inner remote add origin https://evil.example/x; git -C inner config branch.main.remote origin' >/dev/null 2>&1
unlike "the repository of the owner's does not become one of the box's" "$(cat ws/inner/.git/config)" evil

is "an inner repository is cloned anew" "$(box sh -c 'rm -rf inner; git clone -q /work inner && git -C inner config remote.origin.url')" /work
is "git finds links in it" "$(git -C ws/inner config core.symlinks; echo $?)" 1

# ---- commondir

for tree in ws linked; do
    fresh
    mkdir -p ws/other && cp -r ws/.git/. ws/other && printf '[core]\n\tfsmonitor = %s\n' "$T/ws/evil" >>ws/other/config
    "$COOP" run -q -w $tree sh -c 'd=$(git rev-parse --git-common-dir); for f in $d/worktrees/linked/commondir $d/commondir; do
        echo "$1" >$f; rm -f $f; echo "$1" >$f; echo "$1" >x; mv x $f; ln -s x $f; ln x $f; done; mkdir t; mv $d/worktrees/linked t; echo "$1" >t/linked/commondir
        mv t/linked $d/worktrees' - "$T/ws/other" >/dev/null 2>&1 </dev/null
    git -C linked status >/dev/null 2>&1
    harmless "commondir, from $tree"
    is "it says what it said, from $tree" "$(cat ws/.git/worktrees/linked/commondir; cat ws/.git/commondir 2>/dev/null)" ../..
done
fresh
is "worktree add and remove" "$(box sh -ec 'git worktree add -q wt && cd wt && echo w >w && git add w && git commit -qm w && cd .. && git worktree list | wc -l && git worktree remove wt && git log -1 --format=%s wt')" $'3\nw'
box sh -c 'mkdir -p objects/info .git/objects/info; for f in objects .git/objects; do echo "$1" >$f/info/alternates; done' - "$T/up.git/objects" >/dev/null 2>&1
is "no alternates" "$(find ws -name alternates)" ""

# ---- a git directory needs no name

bare='mkdir -p $1/objects $1/refs; echo ref: refs/heads/main >$1/HEAD; mkdir -p $1/hooks; cp evil $1/hooks/pre-commit; cp evil $1/hooks/post-checkout
    printf "[core]\n\tbare = false\n\tworktree = /work\n\tfsmonitor = %s\n[remote \"origin\"]\n\turl = https://evil.example/x\n" "$2" >$1/config'
fresh
box sh -c "rm .git/HEAD; $bare" - . "$T/ws/evil" >/dev/null 2>&1
git -C ws status >/dev/null 2>&1
is "beside a .git there is none" "$(cd ws && git rev-parse --git-dir 2>&1 | grep -v ^fatal)" ""
is "so no push goes anywhere" "$(owner ws)" ""
ok "and nothing is executed" test ! -e "$mark"
for order in "config hooks objects refs HEAD" "objects refs config HEAD hooks" "HEAD config refs hooks objects" "refs hooks HEAD objects config"; do
    for way in made moved; do
        fresh
        box sh -c "mkdir t; $bare; "'mkdir d; for n in '"$order"'; do case '$way' in moved) mv t/$n d/ ;; *) cp -r t/$n d/ ;; esac; done
            ln -s /work/evil d/hooks/pre-commit; cp evil d/hooks/x.sample; mv d/hooks/x.sample d/hooks/pre-commit; mkdir sub; echo "gitdir: ../d" >sub/.git; git add -f sub
            mkdir h; cp evil h/pre-commit; mv h d/hooks; exec 3<d/config; cat evil >/proc/self/fd/3; ln d/config l; printf "[core]\n\tfsmonitor = %s\n" "$2" >>l' - t "$T/ws/evil" >/dev/null 2>&1
        git -C ws/d status >/dev/null 2>&1
        git -C ws/d hook run pre-commit >/dev/null 2>&1
        owner ws/sub >/dev/null 2>&1
        harmless "a git directory called d, $way: $order"
    done
done
fresh
box sh -c 'git init -q --bare d; git -C d config core.fsmonitor "$1"; mv d/objects o; printf "[core]\n\tfsmonitor = %s\n" "$1" >d/config; mv o d/objects; mkdir d/objects
    mkdir sub; echo "gitdir: ../d" >sub/.git' - "$T/ws/evil" >/dev/null 2>&1
owner ws/d >/dev/null && owner ws/sub >/dev/null
harmless "a bare repository taken apart"
is "what a bare repository needs is written" "$(box sh -c 'git init -q --bare b && git -C b remote add origin /x && git -C b config remote.origin.url && git -C b config core.bare && cp -r b c && until [ -s c/config ]; do :; done && cat c/config | git config -f - remote.origin.url')" $'/x\ntrue\n/x'

# ---- links lead git out

fresh && echo precious >"$T/precious" && echo precious >"$T/ws/precious"
box sh -c 'for n in index logs/HEAD COMMIT_EDITMSG packed-refs FETCH_HEAD ORIG_HEAD HEAD refs/heads/side; do
        for d in .git d; do mkdir -p $d/logs $d/refs/heads; ln -s "$1" t; mv t $d/$n; rm -f $d/$n; ln -s "$1" $d/$n; ln -s "$1" t; ln t $d/$n; rm -f t; done; done
    mkdir m; ln -s "$1" m/HEAD; rm -r .git/logs; mv m .git/logs; git init -q --bare d; mkdir d/objects; mkdir sub; echo "gitdir: ../d" >sub/.git' - "$T/precious" >/dev/null 2>&1
is "no link is left" "$(find ws/.git -type l; git -C ws/d rev-parse 2>/dev/null && echo d)" ""
owner ws >/dev/null
owner ws/sub >/dev/null
is "and nothing is written through one" "$(cat "$T/precious")" precious
fresh
ok "links in the work tree are made" box sh -c 'ln -s file link && ln -s .. dir/up && mv link dir && git init -q s && ln -s x s/link && git clone -q --bare . w && git -C w worktree add -q in main && ln -s x w/in/link'

# ---- what hooks and the configuration lead to

fsmonitor=$(printf '[core]\n\tfsmonitor = %s\n' "$T/ws/evil")
led() { # DESCRIPTION FILE [TEXT]: the owner has made a way to the file; a box writes it in each way that there is
    local what=$1 file=$2 text=${3:-$evil}
    box bash -c 'f=$1 t=$2; write() { printf "%s\n" "$t" >"$f" && chmod +x "$f"; }; write && exit; printf "%s\n" "$2" >new; chmod +x new; mv new "$f"; rm -f "$f"; write; cp new "$f"; ln new "$f"
        ln -s new "$f"; d=${f%/*}; [ "$d" = "$f" ] || { mv "$d" moved; mkdir "$d"; write; ln -s moved "$d"; rm -r "$d"; mkdir -p "$d"; write; }' - "$file" "$text" >/dev/null 2>&1
    harmless "$what"
}
hook=.git/hooks/pre-commit
fresh && mkdir -p ws/scripts ws/.git/hooks && printf '#!/bin/sh\n' >ws/scripts/hook && chmod +x ws/scripts/hook && ln -s ../../scripts/hook ws/$hook
led "a hook that is a link" scripts/hook
fresh && mkdir -p ws/scripts ws/.git/hooks && printf '#!/bin/sh\n' >ws/scripts/hook && chmod +x ws/scripts/hook && ln ws/scripts/hook ws/$hook
led "a hook that is a hard link" scripts/hook
fresh && mkdir -p ws/scripts ws/.git/hooks && ln -s ../../scripts/hook ws/$hook
led "a hook that leads nowhere yet" scripts/hook
fresh && mkdir -p ws/scripts ws/.git/hooks && printf '#!/bin/sh\n' >ws/scripts/hook && chmod +x ws/scripts/hook && ln -s scripts/hook ws/way && ln -s ../../way ws/$hook
led "a hook that is a link to a link" way
led "the same, its end" scripts/hook
fresh && printf '[user]\n' >ws/shared && git -C ws config include.path ../shared
led "a file that is included" shared "$fsmonitor"
fresh && git -C ws config include.path ../shared
led "one that is not there yet" shared "$fsmonitor"
fresh && mkdir ws/conf && printf '[include]\n\tpath = more\n' >ws/conf/shared && git -C ws config "includeIf.gitdir:$T/.path" ../conf/shared
led "one that another includes" conf/more "$fsmonitor"
fresh && mkdir ws/.githooks && printf '#!/bin/sh\n' >ws/.githooks/pre-commit && chmod +x ws/.githooks/pre-commit && git -C ws config core.hooksPath .githooks
led "the directory of hooks" .githooks/pre-commit
led "another hook in it" .githooks/post-checkout
fresh && git -C ws config core.hooksPath .husky/_ && mkdir -p ws/.husky/_ && printf '#!/bin/sh\n. "$(dirname "$0")/../pre-commit"\n' >ws/.husky/_/pre-commit && chmod +x ws/.husky/_/pre-commit &&
    printf 'true\n' >ws/.husky/pre-commit
led "husky's" .husky/pre-commit
fresh && mkdir ws/tools && printf '#!/bin/sh\ncat\n' >ws/tools/clean && chmod +x ws/tools/clean && git -C ws config filter.x.clean 'tools/clean %f' && echo 'file filter=x' >ws/.gitattributes
led "a program of the configuration's" tools/clean "$evil
cat"
git clone -q up.git ws/inner && mkdir -p ws/scripts && printf '#!/bin/sh\n' >ws/scripts/hook && chmod +x ws/scripts/hook && ln ws/scripts/hook ws/inner/.git/hooks/pre-commit
box sh -c 'cat evil >scripts/hook' >/dev/null 2>&1
git -C ws/inner commit -q --allow-empty -m x
ok "in a repository inside as well" test ! -e "$mark"
ok "an exception can be made" box --unprotect scripts/hook sh -c 'echo >>scripts/hook'

# ---- remotes

fresh
ok "a remote is added" box git remote add evil https://evil.example/x
box sh -c 'git config branch.main.remote evil; git config branch.main.pushRemote evil; git config remote.pushDefault evil; git config branch.main.remote https://evil.example/x' >/dev/null 2>&1
harmless "a new remote is not the owner's"
like "the reason is told" "$("$COOP" run -w ws git config branch.main.remote evil 2>&1)" "a remote that the owner has not made"
ok "the owner's may be followed" box sh -ec 'git checkout -q -b topic origin/main; git branch -u origin/main side; git config branch.topic.pushRemote origin; git config remote.pushDefault origin'
harmless "topic"
fresh
box sh -c 'mkdir -p .git/remotes .git/branches; echo "URL: https://evil.example/x" >.git/remotes/origin; echo https://evil.example/x >.git/branches/origin' >/dev/null 2>&1
git -C ws config --unset remote.origin.url
is "nor in the places of old" "$(owner ws)" ""
fresh && git -C ws remote remove origin
not_ok "nor does a repository get its first one" box git remote add evil https://evil.example/x
is "so no push goes there" "$(owner ws)" ""
done_testing
