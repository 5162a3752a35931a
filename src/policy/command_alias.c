#include "command_alias.h"

#include <string.h>

#include "base/cleanup.h"

/* Taken from the programs' own tables: aliases of cobra, npm's lib/utils/cmd-list.js. */

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

static const char *const engines[] = { "docker", "podman", "nerdctl", NULL };
static const char *const git[] = { "git", NULL };
static const char *const npm[] = { "npm", NULL };
static const char *const cargo[] = { "cargo", NULL };
static const char *const podman[] = { "podman", NULL };
static const char *const nerdctl[] = { "nerdctl", NULL };
static const char *const kubectl[] = { "kubectl", NULL };
static const char *const systemctl[] = { "systemctl", NULL };

/* What groups of docker call their list, and how they remove. */
static const char *const engine_objects[] = { "container", "image",  "volume", "network", "context",
                                              "config",    "secret", "node",   "service", "stack",
                                              "plugin",    "pod",    "farm",   "machine", "quadlet",
                                              "artifact",  NULL };

/* The name of a word, by itself (`behind` is NULL) or behind one of some others. */
static const struct {
    const char *const *programs;
    const char *const *behind;
    const char *name;
    const char *const *aliases;
} aliases[] = {
    { git, NULL, "push", LIST("send-pack", "http-push") },
    { git, NULL, "add", LIST("stage") },
    { git, NULL, "init", LIST("init-db") },
    { git, NULL, "blame", LIST("annotate") },
    { git, LIST("remote"), "remove", LIST("rm") },
    { git, LIST("stash"), "push", LIST("save") },
    { npm, NULL, "install",
      LIST("i", "in", "ins", "inst", "insta", "instal", "isnt", "isnta", "isntal", "isntall",
           "add") },
    { npm, NULL, "test", LIST("t", "tst") },
    { npm, NULL, "run", LIST("run-script", "rum", "urn") },
    { npm, NULL, "exec", LIST("x") },
    { npm, NULL, "uninstall", LIST("un", "unlink", "remove", "rm", "r") },
    { npm, NULL, "update", LIST("up", "upgrade", "udpate") },
    { npm, NULL, "config", LIST("c") },
    { npm, NULL, "link", LIST("ln") },
    { npm, NULL, "ci", LIST("clean-install", "ic", "install-clean", "isntall-clean") },
    { npm, NULL, "install-test", LIST("it") },
    { npm, NULL, "install-ci-test", LIST("cit", "sit", "clean-install-test") },
    { npm, NULL, "init", LIST("innit", "create") },
    { npm, NULL, "login", LIST("adduser", "add-user") },
    { npm, NULL, "owner", LIST("author") },
    { npm, NULL, "docs", LIST("home") },
    { npm, NULL, "bugs", LIST("issues") },
    { npm, NULL, "view", LIST("info", "show", "v") },
    { npm, NULL, "search", LIST("find", "s", "se") },
    { npm, NULL, "rebuild", LIST("rb") },
    { npm, NULL, "ls", LIST("list", "ll", "la") },
    { npm, NULL, "dedupe", LIST("ddp") },
    { npm, NULL, "explain", LIST("why") },
    { npm, NULL, "version", LIST("verison") },
    { npm, NULL, "help", LIST("hlep") },
    { npm, NULL, "dist-tag", LIST("dist-tags") },
    { npm, NULL, "org", LIST("ogr") },
    { cargo, NULL, "build", LIST("b") },
    { cargo, NULL, "check", LIST("c") },
    { cargo, NULL, "doc", LIST("d") },
    { cargo, NULL, "test", LIST("t") },
    { cargo, NULL, "run", LIST("r") },
    { cargo, NULL, "remove", LIST("rm") },
    { engines, NULL, "buildx", LIST("builder") },
    { engines, LIST("container", "pod"), "ls", LIST("ps") },
    { engines, LIST("image"), "ls", LIST("images") },
    { engines, LIST("image"), "rm", LIST("rmi") },
    { engines, engine_objects, "ls", LIST("list") },
    { engines, engine_objects, "rm", LIST("remove") },
    { engines, LIST("stack"), "rm", LIST("down") },
    { engines, LIST("stack"), "deploy", LIST("up") },
    { engines, LIST("buildx"), "build", LIST("b") },
    { engines, LIST("buildx"), "bake", LIST("f") },
    { podman, LIST("container", "image", "volume"), "unmount", LIST("umount") },
    { podman, LIST("quadlet"), "print", LIST("cat") },
    { nerdctl, NULL, "namespace", LIST("ns") },
    { nerdctl, LIST("namespace"), "ls", LIST("list") },
    { nerdctl, LIST("namespace"), "remove", LIST("rm") },
    { kubectl, LIST("config"), "use-context", LIST("use") },
    { kubectl, LIST("create"), "configmap", LIST("cm") },
    { kubectl, LIST("create"), "cronjob", LIST("cj") },
    { kubectl, LIST("create"), "deployment", LIST("deploy") },
    { kubectl, LIST("create"), "ingress", LIST("ing") },
    { kubectl, LIST("create"), "namespace", LIST("ns") },
    { kubectl, LIST("create"), "poddisruptionbudget", LIST("pdb") },
    { kubectl, LIST("create"), "priorityclass", LIST("pc") },
    { kubectl, LIST("create"), "quota", LIST("resourcequota") },
    { kubectl, LIST("create"), "service", LIST("svc") },
    { kubectl, LIST("create", "set"), "serviceaccount", LIST("sa") },
    { kubectl, LIST("top"), "node", LIST("nodes", "no") },
    { kubectl, LIST("top"), "pod", LIST("pods", "po") },
    { systemctl, NULL, "stop", LIST("condstop") },
    { systemctl, NULL, "try-restart", LIST("condrestart") },
    { systemctl, NULL, "try-reload-or-restart",
      LIST("reload-or-try-restart", "condreload", "force-reload") },
};

/* Words that are short for themselves behind another one: `docker run` is `docker container run`. */
static const struct {
    const char *const *programs;
    const char *group;
    const char *const *words;
} groups[] = {
    { engines, "container",
      LIST("attach", "commit", "cp", "create", "diff", "exec", "export", "kill", "logs", "pause",
           "port", "ps", "rename", "restart", "rm", "run", "start", "stats", "stop", "top",
           "unpause", "update", "wait") },
    { podman, "container", LIST("init", "mount", "unmount", "umount") },
    { engines, "image",
      LIST("history", "images", "import", "load", "pull", "push", "rmi", "save", "tag") },
    { podman, "image", LIST("search", "untag") },
    { engines, "buildx", LIST("build", "bake") },
    { engines, "system", LIST("events", "info") },
    { npm, "run", LIST("test", "start", "stop", "restart") },
    { npm, "config", LIST("get", "set") },
};

/* `docker image build` is `docker buildx build`, and so is `docker build`. */
static const struct {
    const char *const *programs;
    const char *group, *word;
    const char *kept_group, *kept_word;
} moves[] = {
    { engines, "image", "build", "buildx", "build" },
    { podman, "buildx", "prune", "image", "prune" },
    { podman, "play", "kube", "kube", "play" },
    { podman, "generate", "kube", "kube", "generate" },
};

/* ---- asking them */

static bool lists(const char *const *list, const char *word)
{
    for (; *list; list++)
        if (strcmp(*list, word) == 0)
            return true;
    return false;
}

/* Whether there is a table of what stands behind the word. */
static bool has_behind(const char *program, const char *first)
{
    for (size_t i = 0; i < COUNT(aliases); i++)
        if (aliases[i].behind && lists(aliases[i].programs, program) &&
            lists(aliases[i].behind, first))
            return true;
    return command_alias_elsewhere(program, first, 0).n > 0;
}

/* `first` is NULL for the first word. */
static const char *find_name(const char *program, const char *first, const char *word)
{
    for (size_t i = 0; i < COUNT(aliases); i++)
        if (!aliases[i].behind == !first && lists(aliases[i].programs, program) &&
            (!first || lists(aliases[i].behind, first)) && lists(aliases[i].aliases, word))
            return aliases[i].name;
    return word;
}

const char *command_alias_behind(const char *program, const char *first, const char *word)
{
    return find_name(program, first, word);
}

static const char *find_group(const char *program, const char *word)
{
    for (size_t i = 0; i < COUNT(groups); i++)
        if (lists(groups[i].programs, program) && lists(groups[i].words, word))
            return groups[i].group;
    return NULL;
}

bool command_alias_is_group(const char *program, const char *first)
{
    for (size_t i = 0; i < COUNT(groups); i++)
        if (lists(groups[i].programs, program) && strcmp(groups[i].group, first) == 0)
            return true;
    return false;
}

struct command_names command_alias_elsewhere(const char *program, const char *group, size_t i)
{
    for (size_t k = 0; k < COUNT(moves); k++)
        if (lists(moves[k].programs, program) && strcmp(moves[k].group, group) == 0 && i-- == 0)
            return (struct command_names){ { moves[k].kept_group, moves[k].kept_word }, 2, 0 };
    return (struct command_names){ { NULL }, 0, 0 };
}

struct command_names command_alias_names(const char *program, const char *word, const char *next)
{
    const char *first = find_name(program, NULL, word);
    const char *group = find_group(program, first);

    if (group)
        return (struct command_names){ { group, find_name(program, group, first) }, 2, 1 };
    if (!next || !(command_alias_is_group(program, first) || has_behind(program, first)))
        return (struct command_names){ { first }, 1, 1 };
    next = find_name(program, first, next);
    for (size_t i = 0; i < COUNT(moves); i++)
        if (lists(moves[i].programs, program) && strcmp(moves[i].group, first) == 0 &&
            strcmp(moves[i].word, next) == 0)
            return (struct command_names){ { moves[i].kept_group, moves[i].kept_word }, 2, 2 };
    return (struct command_names){ { first, next }, 2, 2 };
}

/* ---- beginnings */

bool command_alias_is_spelling(const char *program, const char *word)
{
    for (size_t i = 0; i < COUNT(aliases); i++)
        if (!aliases[i].behind && lists(aliases[i].programs, program) &&
            (strcmp(aliases[i].name, word) == 0 || lists(aliases[i].aliases, word)))
            return true;
    return find_group(program, word) || command_alias_is_group(program, word);
}

/* The i-th of the list that begins with the word; *i counts down over several lists. */
static const char *find_begun(const char *const *list, const char *word, size_t *i)
{
    for (; *list; list++)
        if (strncmp(*list, word, strlen(word)) == 0 && (*i)-- == 0)
            return *list;
    return NULL;
}

struct command_names command_alias_begun(const char *program, const char *word, size_t i)
{
    const char *found = NULL;

    for (size_t k = 0; k < COUNT(aliases) && !found; k++)
        if (!aliases[k].behind && lists(aliases[k].programs, program))
            found = find_begun(aliases[k].aliases, word, &i);
    for (size_t k = 0; k < COUNT(groups) && !found; k++)
        if (lists(groups[k].programs, program))
            found = find_begun(groups[k].words, word, &i);
    return found ? command_alias_names(program, found, NULL)
                 : (struct command_names){ { NULL }, 0, 0 };
}
