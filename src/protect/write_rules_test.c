/* worlds: user */
#include "write_rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "glob/pack.h"
#include "test/check.h"

#define RULES_MAX 8

/* Rules and exceptions; "!x" is an exception, which lifts every rule before it. */
struct world {
    struct write_rules rules;
    struct write_rule_exceptions exceptions[RULES_MAX];
    struct buffer bytes;
    struct write_rule_move *move;
};

static void pack(struct world *world, const char *const *texts, bool are_exceptions, size_t n,
                 struct glob_packing *packing)
{
    for (size_t i = 0; i < n; i++) {
        auto_findings struct findings findings = { 0 };
        const char *text = texts[i];

        if ((*text == '!') != are_exceptions)
            continue;
        text += are_exceptions;
        struct glob *glob = glob_new(text, strlen(text), false, (struct origin){ 0 }, &findings);
        CHECK(glob);
        glob_pack_add(packing, glob);
        glob_free(glob);
        if (!are_exceptions)
            world->rules.n++;
    }
}

static void world_init(struct world *world, const char *const *texts, size_t n)
{
    struct glob_packing packing;

    *world = (struct world){ 0 };
    glob_pack_begin(&packing, &world->bytes, n);
    pack(world, texts, false, n, &packing);
    pack(world, texts, true, n, &packing);
    CHECK(!world->bytes.failed);
    glob_unpack(world->bytes.data);
    world->rules.patterns = world->bytes.data;
    for (size_t i = 0; i < world->rules.n; i++)
        world->exceptions[i] =
            (struct write_rule_exceptions){ (uint32_t)world->rules.n, (uint32_t)n };
    if (world->rules.n < n)
        world->rules.exceptions = world->exceptions;
    world->move = malloc(sizeof *world->move);
    CHECK(world->move);
}

static void world_done(struct world *world)
{
    buffer_done(&world->bytes);
    free(world->move);
}

#define WORLD(name, ...)                                   \
    static const char *const name##_texts[] = __VA_ARGS__; \
    struct world name;                                     \
    world_init(&name, name##_texts, sizeof name##_texts / sizeof *name##_texts)

static int ask(const struct world *world, const char *path, enum write_rule_act act)
{
    static struct write_rule_path subject;

    write_rule_path_init(&subject, &world->rules, path);
    return write_rule_find(&world->rules, &subject, act);
}

/* A directory with just this in it, moved. */
static int moves(struct world *world, const char *from, const char *to, const char *inside)
{
    struct write_rule_place top;
    struct write_rule_place below;
    int r = write_rule_move_begin(world->move, &world->rules, to, from, &top);

    return r == WRITE_RULE_LOOK_BELOW
               ? write_rule_move_look(world->move, &top, inside, WRITE_RULE_FILE, &below)
               : r;
}

TEST(a_rule_is_about_what_is_below)
{
    WORLD(w, { "docs", "**/new" });

    CHECK(ask(&w, "docs", WRITE_RULE_THIS) == 0);
    CHECK(ask(&w, "docs/a/b", WRITE_RULE_THIS) == 0);
    CHECK(ask(&w, "x/new/y", WRITE_RULE_THIS) == 1);
    CHECK(ask(&w, "doc", WRITE_RULE_THIS) == WRITE_RULE_NONE);
    world_done(&w);
}

TEST(what_is_on_the_way_stays_a_directory)
{
    WORLD(w, { ".git/hooks", "**/x/y" });

    CHECK(ask(&w, ".git", WRITE_RULE_THIS) == WRITE_RULE_NONE);
    CHECK(ask(&w, ".git", WRITE_RULE_ON_THE_WAY) == 0);
    CHECK(ask(&w, "a/x", WRITE_RULE_ON_THE_WAY) == WRITE_RULE_NONE);
    CHECK(ask(&w, "a/x", WRITE_RULE_LINK) == 1);
    world_done(&w);
}

TEST(an_exception_is_for_the_path_it_names)
{
    WORLD(w, { "docs/*", "!docs/ok.txt", "!docs/sub" });

    CHECK(ask(&w, "docs/a", WRITE_RULE_THIS) == 0);
    CHECK(ask(&w, "docs/ok.txt", WRITE_RULE_THIS) == WRITE_RULE_NONE);
    CHECK(ask(&w, "docs/sub", WRITE_RULE_THIS) == WRITE_RULE_NONE);
    CHECK(ask(&w, "docs/sub/a", WRITE_RULE_THIS) == WRITE_RULE_NONE);
    CHECK(ask(&w, "docs", WRITE_RULE_ON_THE_WAY) == 0);
    CHECK(write_rule_of(&w.rules, "docs/a") == 0);
    CHECK(write_rule_of(&w.rules, "docs/ok.txt") == WRITE_RULE_NONE);
    world_done(&w);
}

TEST(a_rule_matches_again_below_an_exception)
{
    WORLD(w, { "docs/**", "!docs/sub" });

    CHECK(ask(&w, "docs/sub", WRITE_RULE_THIS) == 0); /* the rule is about docs itself */
    world_done(&w);
    WORLD(deep, { "**/gen", "!a/gen" });
    CHECK(ask(&deep, "a/gen", WRITE_RULE_THIS) == WRITE_RULE_NONE);
    CHECK(ask(&deep, "a/gen/x", WRITE_RULE_THIS) == WRITE_RULE_NONE);
    CHECK(ask(&deep, "a/gen/gen", WRITE_RULE_THIS) == 0);
    world_done(&deep);
}

TEST(an_exception_for_directories_is_none_for_a_name_that_may_be_a_file)
{
    WORLD(w, { "docs/*", "!docs/sub/" });

    CHECK(ask(&w, "docs/sub", WRITE_RULE_THIS) == 0);
    CHECK(ask(&w, "docs/sub/a", WRITE_RULE_THIS) == WRITE_RULE_NONE);
    world_done(&w);
}

TEST(a_rule_for_directories_is_none_for_a_file_that_is_there)
{
    static struct write_rule_path subject;
    WORLD(w, { "build/", "docs/*", "!docs/sub/" });

    write_rule_path_init(&subject, &w.rules, "build");
    CHECK(write_rule_find(&w.rules, &subject, WRITE_RULE_THIS) == 0);
    subject.kind = WRITE_RULE_KIND_FILE;
    CHECK(write_rule_find(&w.rules, &subject, WRITE_RULE_THIS) == WRITE_RULE_NONE);
    write_rule_path_init(&subject, &w.rules, "docs/sub");
    subject.kind = WRITE_RULE_KIND_DIRECTORY;
    CHECK(write_rule_find(&w.rules, &subject, WRITE_RULE_THIS) == WRITE_RULE_NONE);
    subject.kind = WRITE_RULE_KIND_FILE;
    CHECK(write_rule_find(&w.rules, &subject, WRITE_RULE_THIS) == 1);
    CHECK(write_rule_minds_kind(&w.rules));
    world_done(&w);
}

TEST(what_an_exception_let_be_made_does_not_move_to_where_it_is_none)
{
    WORLD(w, { "**/gen/*", "!a/gen/ok" });

    CHECK(moves(&w, "a/gen", "b/gen", "ok") == 0);
    CHECK(moves(&w, "a/gen", "b/gen", "other") == WRITE_RULE_NONE); /* forbidden here and there */
    CHECK(moves(&w, "b/gen", "a/gen", "ok") == WRITE_RULE_NONE);
    CHECK(moves(&w, "plain", "a/gen", "ok") == WRITE_RULE_NONE);
    CHECK(moves(&w, "plain", "a/gen", "other") == 0);
    CHECK(moves(&w, "a/gen", "plain", "ok") == WRITE_RULE_NONE);
    world_done(&w);
}

TEST(a_path_that_is_too_long_is_every_rules_business)
{
    static char path[GLOB_PATH_MAX + 2];
    WORLD(w, { "x" });

    memset(path, 'a', sizeof path - 1);
    CHECK(ask(&w, path, WRITE_RULE_THIS) == 0);
    CHECK(write_rule_is_stricter(w.move, &w.rules, path, "b"));
    world_done(&w);
}
