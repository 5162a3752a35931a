#!/bin/bash
# Whatever a box does to git directories, the owner's git executes nothing of it, opens nothing elsewhere and pushes nowhere
# else. Random sequences of changes, in one box or two at once, and then the real git with all that an owner does daily.
#
#   COOP_GIT_SEQUENCES=20000 COOP_GIT_SEED=7 test/git_random.t       more of them, from another seed
#   COOP_GIT_SEED=1 COOP_GIT_BATCH=12 test/git_random.t              one workspace again
#   COOP_TEST_LONG=1 COOP_GIT_SEQUENCES=100000 COOP_GIT_LOG=FILE ... many sequences in each box, and how far it is
#
# The long mode (`make test-long`) has more repositories in a workspace, so that a box costs little of it, and runs fewer commands
# in each, chosen at random. A sequence that was bad is repeated alone, from a fresh workspace, and shortened.
#
# worlds: root user
# speed: slow
. "$(dirname "$0")/box.sh"
export HOME="$T/home" XDG_CACHE_HOME="$T/cache" GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 GIT_EDITOR=true GIT_TEMPLATE_DIR=
mkdir home up
git config --global user.name tester
git config --global user.email tester@example.org
git config --global init.defaultBranch main
git config --global protocol.file.allow always
git config --global advice.addEmbeddedRepo false
git config --global push.default current # what is not refused for want of an upstream
each=10 # sequences in one workspace: it is a repository, and so are nine directories in it
[ -z "${COOP_TEST_LONG-}" ] || each=50

# ---- in the box

cat >act.py <<'END'
import ctypes, os, random, shutil, stat, subprocess, sys
libc = ctypes.CDLL(None, use_errno=True)
kept = [] # descriptors of files and directories, from before they were what they are now
seed, each, part, host, mark, outside, only, most = sys.argv[1], int(sys.argv[2]), *sys.argv[3:9]
evil = f'touch {mark}'
DIRECTORIES = ['.git', '.git', 'inner/.git', 'depot', 'new/.git', 'd', 'd', '.git/modules/sub', '.git/worktrees/wt', 'd/worktrees/y',
               'inner/.git/worktrees/x', '.', 'dir', 'dir/.git', 'hooks', 'sub/.git', 't', 't2']
HOOKS = ['pre-commit', 'post-checkout', 'post-index-change', 'reference-transaction', 'pre-push', 'prepare-commit-msg', 'pre-auto-gc', 'x.sample']
NAMES = ['config', 'config', 'config', 'config.worktree', 'commondir', 'objects', 'refs', 'HEAD', 'HEAD', 'index', 'logs/HEAD', 'packed-refs',
         'info/attributes', 'objects/info/alternates', 'remotes/origin', 'branches/origin', 'gitdir', 'FETCH_HEAD', 'COMMIT_EDITMSG', 'ORIG_HEAD',
         'hooks', 'logs', 'worktrees', '.git', 'evil', 'shared', 'scripts/hook', '.gitattributes', 'file'] + ['hooks/' + h for h in HOOKS]

def key(r, here):
    run = r.choice([evil, f'{host}/{here}/evil'])
    return r.choice([('core.fsmonitor', run), ('core.hooksPath', r.choice(['evilhooks', f'{host}/{here}/d/hooks'])), ('core.sshCommand', run),
        ('core.editor', run), ('core.pager', run), ('core.askPass', run), ('core.alternateRefsCommand', run), ('core.worktree', outside),
        ('filter.x.clean', run), ('filter.x.smudge', run), ('filter.x.process', run), ('diff.external', run), ('diff.x.textconv', run), ('diff.x.command', run),
        ('merge.x.driver', run), ('gpg.program', run), ('commit.gpgSign', 'true'), ('credential.helper', '!' + run), ('alias.status', '!' + run),
        ('gc.recentObjectsHook', run), ('uploadpack.packObjectsHook', run), ('include.path', r.choice(['../shared', f'{host}/{here}/evilconfig', 'evilconfig'])),
        ('includeIf.gitdir:/.path', '../evilconfig'), ('remote.origin.url', f'{outside}/evil.git'), ('remote.origin.pushurl', f'{outside}/evil.git'),
        ('remote.evil.url', f'{outside}/evil.git'), ('branch.main.remote', 'evil'), ('branch.main.pushRemote', 'evil'), ('remote.pushDefault', 'evil'),
        ('branch.main.remote', f'{outside}/evil.git'), (f'url.{outside}/evil.git.insteadOf', f'{host}'), ('remote.origin.uploadpack', run),
        ('remote.origin.receivepack', run), ('remote.origin.vcs', 'x'), ('remote.origin.mirror', 'true'), ('submodule.sub.update', '!' + run), ('core.bare', 'false'),
        ('core.bare', 'true'), ('extensions.worktreeConfig', 'true'), ('core.attributesFile', 'x'), ('user.name', 'x'), ('core.gitProxy', run), ('trailer.x.command', run),
        ('remote.evil.url', 'https://evil.example/x'), ('submodule.recurse', 'true'), ('protocol.ext.allow', 'always'), ('remote.evil.url', f'ext::{run}')])

def config(r, here):
    text = ''
    for _ in range(r.randint(1, 4)):
        name, value = key(r, here)
        section, _, rest = name.partition('.')
        sub, _, last = rest.rpartition('.')
        text += f'[{section}' + (f' "{sub}"' if sub else '') + f']\n\t{last} = "{value}"\n'
    return text

def text(r, here, name):
    script = f'#!/bin/sh\n{evil}\ncat\n'
    if name.startswith('hooks/') or name in ('evil', 'scripts/hook'):
        return script
    return {'config': config(r, here), 'config.worktree': config(r, here), 'shared': config(r, here), 'HEAD': 'ref: refs/heads/main\n',
            'commondir': r.choice(['../../d', f'{host}/{here}/d', '../../../d', '.', outside + '/repo/.git']) + '\n',
            'objects/info/alternates': outside + '/repo/.git/objects\n', 'remotes/origin': f'URL: {outside}/evil.git\n',
            'branches/origin': f'{outside}/evil.git\n', 'gitdir': f'{host}/{here}/d/.git\n', 'packed-refs': '# pack-refs with: peeled\n',
            '.git': 'gitdir: ' + r.choice(['../d', '../depot', '../.git', '../inner/.git', '../new/.git', '../t', '../dir', '.']) + '\n',
            '.gitattributes': '* filter=x diff=x merge=x\n', 'info/attributes': '* filter=x diff=x merge=x\n'}.get(name, config(r, here))

def git(*words):
    subprocess.run(('git',) + words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)

def act(r, here):
    d, name = r.choice(DIRECTORIES), r.choice(NAMES)
    path, other = f'{d}/{name}', f'{r.choice(DIRECTORIES)}/{r.choice(NAMES)}'
    what = r.randint(0, 22)
    if what <= 3 or what == 13:
        if r.random() < .7:
            os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, r.choice(['w', 'a', 'r+', 'x', 'w'])) as f:
            f.write(text(r, here, name))
            os.fchmod(f.fileno(), 0o755)
    elif what == 4:
        with open('tmp', 'w') as f:
            f.write(text(r, here, name))
            os.fchmod(f.fileno(), 0o755)
        os.rename('tmp', path)
    elif what == 5:
        with open(path + '.lock', 'w') as f: f.write(text(r, here, name))
        os.rename(path + '.lock', path)
    elif what == 6: os.symlink(r.choice([outside + '/secret', f'{host}/{here}/evil', 'evil', '../evil', '../../evil', '../d', outside + '/repo/.git', f'{host}/{here}/d']), path)
    elif what == 7: os.link(r.choice(['evil', 'shared', other]), path)
    elif what == 8: os.mkdir(path) if r.random() < .5 else os.makedirs(path, exist_ok=True)
    elif what == 9: os.rename(r.choice([d, other, path]), r.choice([r.choice(DIRECTORIES), other, path]))
    elif what == 10: os.unlink(path)
    elif what == 11: shutil.rmtree(path if d == '.' else r.choice([d, path]))
    elif what == 12: shutil.copytree(r.choice(['.git', 'inner/.git', 'depot', d if d != '.' else 'dir']), r.choice(['d', 'new/.git', 't', 't2', 'sub/.git']), dirs_exist_ok=True, symlinks=True)
    elif what == 14: git('-C', d if os.path.isdir(d) else '.', 'config', *key(r, here))
    elif what == 15: git(*r.choice([('init', '-q', 'new'), ('init', '-q', '--bare', 'd'), ('init', '-q', 'sub'), ('worktree', 'add', '-q', '-f', 'wt2'), ('clone', '-q', 'inner', 'new'),
        ('add', '-f', r.choice(['new', 'inner', 'sub', 'd', 'dir', '.gitattributes'])), ('submodule', '--quiet', 'add', '-f', './inner', 'sub'), ('commit', '-q', '--allow-empty', '-m', 'x'),
        ('-C', 'sub', 'commit', '-q', '--allow-empty', '-m', 'x'), ('-C', 'new', 'commit', '-q', '--allow-empty', '-m', 'x'), ('gc', '-q'), ('stash',), ('rm', '-q', '--cached', 'file')]))
    elif what == 16:
        git('update-index', '--add', '--cacheinfo', f'160000,{"1" * 40},{r.choice(["sub", "new", "dir", "t", "d"])}')
    elif what == 17:
        fd = os.open(path, os.O_RDONLY)
        with open(f'/proc/self/fd/{fd}', 'w') as f: f.write(text(r, here, name))

    elif what == 18: # both names at once
        one, two = r.choice([d, path]), r.choice([r.choice(DIRECTORIES), other])
        if libc.renameat2(-100, one.encode(), -100, two.encode(), 2) < 0: raise OSError
    elif what == 19: # a file that had no name
        fd = os.open(r.choice([d, '.', os.path.dirname(path)]), os.O_TMPFILE | os.O_RDWR, 0o755)
        with open(fd, 'w') as f:
            f.write(text(r, here, name))
            f.flush()
            os.link(f'/proc/self/fd/{fd}', path, follow_symlinks=True)
    elif what == 20:
        kept.append(os.open(r.choice([d, path, os.path.dirname(path)]), r.choice([os.O_RDONLY | os.O_DIRECTORY, os.O_RDONLY | os.O_DIRECTORY, os.O_RDWR | os.O_CREAT]), 0o755))
    elif what == 21:
        fd = r.choice(kept[-3:])
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            fd = os.open(os.path.basename(path), os.O_WRONLY | os.O_CREAT, 0o755, dir_fd=fd)
            kept.append(fd)
        os.pwrite(fd, text(r, here, name).encode(), 0)
    elif what == 22:
        os.chdir(d)
        os.mknod(name, stat.S_IFREG | 0o755) if r.random() < .3 else os.rename(r.choice(['../' + other, '../evil', '../tmp', name]), r.choice([os.path.basename(path), '../' + path]))

done = 0
for i in range(each) if only == 'all' else [int(only)]:
    here = f'p{i}' if i else '.'
    r = random.Random(f'{seed}.{i}.{part}')
    for _ in range(min(r.randint(4, 14), int(most))):
        try:
            os.chdir('/work/' + here)
            act(r, here)
            done += 1
        except (OSError, IndexError, ValueError, shutil.Error, subprocess.TimeoutExpired):
            pass
print(done)
END

# ---- on the host

repository() { # DIRECTORY: with a remote, a submodule, a linked worktree, repositories inside, and ways that the owner has made
    git init -q "$1" && git init -q --bare "$T/up/${1##*/}.git" && (
        cd "$1" && mkdir dir scripts && echo one >file && echo two >dir/file && printf '[user]\n\tname = x\n' >shared && printf '#!/bin/sh\ntrue\n' >scripts/hook &&
            cp scripts/hook evil && chmod +x evil scripts/hook && git add -A && git commit -qm one && git branch side && git remote add origin "$T/up/${1##*/}.git" &&
            git push -q -u origin main && git submodule --quiet add "$T/lib" sub && git commit -qm two && git worktree add -q wt side &&
            git init -q inner && git -C inner commit -q --allow-empty -m inner && git init -q --bare depot &&
            mkdir -p .git/hooks && ln -s ../../scripts/hook .git/hooks/pre-commit && git config include.path ../shared)
}
cat >owner.py <<'END'
import ctypes, os, random, re, signal, struct, subprocess, sys
coop, top, seed, n, each, options = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]), sys.argv[6:]
batches, is_long, log = os.environ.get('COOP_GIT_BATCH'), os.environ.get('COOP_TEST_LONG'), os.environ.get('COOP_GIT_LOG', '/dev/null')
mark, outside, ws = top + '/executed', top + '/outside', top + '/ws'
libc = ctypes.CDLL(None, use_errno=True)
watch = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
names = {}
for directory, _, _ in os.walk(outside): # what is opened, modified, made, removed or moved to there
    names[libc.inotify_add_watch(watch, directory.encode(), 0x20 | 0x2 | 0x100 | 0x200 | 0x80)] = directory
if watch < 0 or any(wd < 0 for wd in names): sys.exit('cannot watch')
COMMANDS = [['status'], ['diff', 'HEAD'], ['log', '-2'], ['show', '--stat'], ['add', '-n', '.'], ['commit', '--dry-run'], ['fetch', '-q'], ['submodule', 'status'],
            ['worktree', 'list'], ['stash', 'list'], ['gc', '--auto'], ['checkout', '-q', 'side'], ['checkout', '-q', 'main'], ['commit', '-q', '--allow-empty', '-m', 'owner'],
            ['push', '--dry-run']]

def opened():
    found = []
    while True:
        try: data = os.read(watch, 65536)
        except BlockingIOError: return found
        at = 0
        while at < len(data):
            wd, mask, _, size = struct.unpack_from('iIII', data, at)
            name = data[at + 16:at + 16 + size].rstrip(b'\0').decode()
            if not mask & 0x40000000: found.append(names.get(wd, '?') + '/' + name) # not a directory
            at += 16 + size

said = os.open(top + '/said', os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
null = os.open('/dev/null', os.O_RDWR)
def give_up(*_): raise TimeoutError
signal.signal(signal.SIGALRM, give_up)
def git(directory, words): # posix_spawn: a process of Python's is no small thing to copy
    os.ftruncate(said, 0)
    os.lseek(said, 0, os.SEEK_SET)
    pid = os.posix_spawnp('git', ['git', '-C', directory] + words, os.environ, setpgroup=0,
                          file_actions=[(os.POSIX_SPAWN_DUP2, fd, at) for at, fd in enumerate((null, null, said))])
    try:
        signal.alarm(60)
        os.waitpid(pid, 0)
    except TimeoutError:
        os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    signal.alarm(0)
    return os.pread(said, 65536, 0).decode(errors='replace')

SLOW = 'submodule', 'fetch', 'gc', 'checkout', 'show', 'worktree', 'stash' # not in every sequence

def choose(commands, r): # None: all of them
    if not r: return commands
    often, seldom = (.3, .06) if is_long else (1, .25)
    return [words for words in commands if words[0] == 'status' or r.random() < (seldom if words[0] in SLOW else often)]

def check(directory, commands, r):
    problems = []
    for words in choose(commands, r):
        said = git(directory, words)
        name = f'git {" ".join(words)} in {os.path.relpath(directory, ws)}'
        if os.path.exists(mark):
            problems.append(name + ': executed')
            os.unlink(mark)
        problems += [f'{name}: opened {path}' for path in opened()]
        if words[0] == 'push': # a repository of the box's own has remotes of the box's
            problems += [f'push goes to {line[3:]}' for line in said.splitlines() if re.match('To \\S+$', line) and not line[3:].startswith(top + '/up/')]
    return problems

def start(part, s, only, most):
    me = [x for k in ('AUTHOR', 'COMMITTER') for x in ('-e', f'GIT_{k}_NAME=b', '-e', f'GIT_{k}_EMAIL=b@b')]
    return subprocess.Popen([coop, 'run', '-q', '-w', ws, '-e', 'HOME=/tmp', *options, *me, '--ro', top + '/act.py:/act.py', '/usr/bin/python3', '/act.py', s, str(each),
                             part, ws, mark, outside, str(only), str(most)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

def fresh():
    subprocess.run(['rm', '-rf', ws], check=True)
    subprocess.run(['cp', '-a', top + '/base', ws], check=True)

def act(s, parts, only='all', most=99):
    bad = changes = 0
    boxes = [start(part, s, only, most) for part in parts]
    for box in boxes:
        out, err = box.communicate()
        changes += int(out or 0)
        if box.returncode:
            bad += 1
            print(f'the box of seed {s} ended with {box.returncode}: {err.decode()[-400:]}')
    opened()
    return bad, changes

def look(i, r):
    directory = f'{ws}/p{i}' if i else ws
    problems = check(directory, COMMANDS, r)
    for inner in 'd', 'sub', 'new', 'inner', 'depot':
        if (not r or r.random() < .2) and os.path.isdir(f'{directory}/{inner}'):
            problems += check(f'{directory}/{inner}', [['status'], ['log', '-1']], r)
    return problems

def again(rounds, i): # the sequence alone, in all rounds so far; then without the first of these, and with fewer changes in the last
    def is_bad(rounds, most):
        fresh()
        for k, (s, parts) in enumerate(rounds): act(s, parts, i, most if k == len(rounds) - 1 else 99)
        return look(i, None)
    for _ in range(3):
        if is_bad(rounds, 99): break
    else: return 'not alone'
    while len(rounds) > 1 and is_bad(rounds[1:], 99): rounds = rounds[1:]
    most = next((most for most in range(1, 14) if is_bad(rounds, most)), 99)
    return f'alone as well: rounds {[(s, parts) for s, parts in rounds]}, the last with {most} changes: {"; ".join(is_bad(rounds, most)[:3])}'

def run(rounds, r):
    bad, changes = act(*rounds[-1])
    found = []
    for i in range(each):
        problems = look(i, r)
        if problems:
            bad += 1
            found.append(i)
            print(f'batch {batch} of seed {seed}, {rounds[-1]}, sequence {i}: ' + '; '.join(problems[:4]))
    for i in found[:3] if not options else []: print(f'sequence {i} {again(rounds, i)}')
    return bad, changes

ROUNDS = 8 if is_long else 4 # with one tree: a box finds what the one before has left
bad = changes = sequences = 0
for batch in [int(batches)] if batches else range((n + each * ROUNDS - 1) // (each * ROUNDS)):
    r = random.Random(f'{seed}.{batch}')
    fresh()
    rounds = []
    for k in range(ROUNDS):
        rounds.append((f'{seed}.{batch}.{k}', 'ab' if r.random() < .3 else 'a'))
        b, c = run(rounds, r)
        bad, changes, sequences = bad + b, changes + c, sequences + each
        if b: break # what follows is of the same kind
    with open(log, 'a') as f: print(f'{sequences} sequences from seed {seed}, {changes} changes, {bad} bad', file=f)
    if bad > 5: break
print(f'{sequences} sequences from seed {seed}, {changes} changes, {bad} bad')
sys.exit(bad > 0 or changes < sequences)
END
git init -q lib && git -C lib commit -q --allow-empty -m lib
git init -q --bare outside/evil.git && git init -q outside/repo && git -C outside/repo commit -q --allow-empty -m x && echo secret >outside/secret
# Made at its place, for git writes absolute paths.
repository "$T/ws" >/dev/null 2>&1
for i in $(seq 1 $((each - 1))); do repository "$T/ws/p$i" >/dev/null 2>&1; done
is "there are so many repositories" "$(find ws -path '*/.git/hooks/pre-commit' | wc -l)" $each
mv ws base
seed=${COOP_GIT_SEED:-1}
# The same without protection, until one of a few seeds has it.
for ((control = seed; control < seed + 8; control++)); do
    said=$(COOP_GIT_LOG=/dev/null python3 owner.py "$COOP" "$T" "$control" $each $each --no-protect 2>&1)
    found=$?
    [[ $said != *": executed"* ]] || break
done
is "without protection the owner's git does something for the box" "$found" 1
like "without protection the owner's git executes something of the box" "$said" ": executed"
said=$(python3 owner.py "$COOP" "$T" "$seed" "${COOP_GIT_SEQUENCES:-$(rounds 500)}" $each 2>&1)
is "the owner's git executes, opens and pushes nothing of the box's" "$?" 0
note "$said"
done_testing
