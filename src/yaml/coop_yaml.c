/*
 * coop_yaml.c - coop-yaml: YAML on standard input, config/yaml/stream.h on standard output
 *
 * Started by coop for each YAML file (config/yaml/yaml.h). The text may be an agent's, and the parser is
 * not ours: so the program opens nothing itself, and gives up what it does not need before it reads
 * the first byte. What is found wrong is part of the answer, and the exit status then is 0.
 */
#include <string.h>
#include <unistd.h>
#include <yaml.h>

#include "yaml/answer.h"
#include "yaml/lockdown.h"
#include "yaml/problem.h"
#include "yaml/text.h"

#define STRING(number)  #number
#define IN_TEXT(number) STRING(number)
#define DEPTH           IN_TEXT(NODE_DEPTH_MAX)

/* A map or a list that has not ended. */
struct level {
    bool is_map;
    bool is_value; /* of a map: a value comes next, not a key */
};

struct reader {
    yaml_parser_t parser;
    struct text text;
    struct level levels[NODE_DEPTH_MAX + 1];
    unsigned n_levels;
    bool has_document;
    bool is_over;
};

static struct reader reader;
static struct answer answer;

/* ---- what is refused */

/* Says why, and stops: what comes after it would only be more of the same. */
static void refuse(struct position place, const char *fix, const char *sentence)
{
    yaml_answer_error(&answer, place, fix, "%s", sentence);
    reader.is_over = true;
}

/* False if reading cannot go on. A tag is an error too, but one after which the rest can be read. */
static bool check_properties(const yaml_event_t *event, const yaml_char_t *anchor, bool has_tag)
{
    struct position place = problem_place(event->start_mark);

    if (anchor) {
        refuse(place, "write the value in full where it is needed",
               "anchors (&name) are not supported");
        return false;
    }
    if (has_tag)
        yaml_answer_error(&answer, place,
                          "leave the tag away: a key decides what type its value has",
                          "tags (!name) are not supported");
    return true;
}

/* ---- maps, lists and scalars */

static struct level *innermost(void)
{
    return reader.n_levels > 0 ? &reader.levels[reader.n_levels - 1] : NULL;
}

static bool is_key_next(void)
{
    return innermost() && innermost()->is_map && !innermost()->is_value;
}

/* What follows a key is a value, and what follows a value a key. */
static void step(void)
{
    if (innermost())
        innermost()->is_value = !innermost()->is_value;
}

static void begin(const yaml_event_t *event, bool is_map, const yaml_char_t *anchor,
                  const yaml_char_t *tag)
{
    struct position place = problem_place(event->start_mark);

    if (!check_properties(event, anchor, tag != NULL))
        return;
    if (!innermost() && !is_map)
        refuse(place, "write lines of the form 'key: value'",
               "the file is a list, but should be a map");
    else if (is_key_next())
        refuse(place, "put a text that begins with '{' or '[' in quotes",
               "a key must be a text, not a map or a list");
    else if (reader.n_levels > NODE_DEPTH_MAX)
        refuse(place, NULL, "maps and lists lie more than " DEPTH " deep in each other");
    if (reader.is_over)
        return;
    step();
    reader.levels[reader.n_levels++] = (struct level){ .is_map = is_map };
    answer_record(&answer, is_map ? YAML_MAP : YAML_LIST, place, NULL, 0);
}

static void end(const yaml_event_t *event)
{
    reader.n_levels--;
    answer_record(&answer, YAML_END, problem_place(event->start_mark), NULL, 0);
}

static bool is_merge(const yaml_event_t *event)
{
    return event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE && event->data.scalar.length == 2 &&
           memcmp(event->data.scalar.value, "<<", 2) == 0;
}

/* '---' with nothing behind it is an empty document. */
static void root_scalar(const yaml_event_t *event)
{
    if (event->data.scalar.length == 0 && event->start_mark.index == event->end_mark.index)
        return;
    refuse(problem_place(event->start_mark), "write lines of the form 'key: value'",
           "the file is a single text, but should be a map");
}

/* '!' alone is a tag as well, but libyaml forgets it: it is seen where the scalar begins. */
static bool has_tag(const yaml_event_t *event)
{
    return event->data.scalar.tag || text_char(&reader.text, event->start_mark.index) == '!';
}

static void scalar(const yaml_event_t *event)
{
    struct position place = problem_place(event->start_mark);
    bool is_plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
    bool is_key = is_key_next();

    if (!check_properties(event, event->data.scalar.anchor, has_tag(event)))
        return;
    if (!innermost()) {
        root_scalar(event);
        return;
    }
    if (is_key && is_merge(event)) {
        refuse(place, "write the keys in full", "merge keys (<<) are not supported");
        return;
    }
    step();
    answer_record(&answer,
                  is_key     ? YAML_KEY
                  : is_plain ? YAML_PLAIN
                             : YAML_QUOTED,
                  place, event->data.scalar.value, event->data.scalar.length);
}

/* ---- documents */

static void begin_document(const yaml_event_t *event)
{
    struct position place = problem_place(event->start_mark);

    if (reader.has_document)
        refuse(place, "keep one of them", "a second document begins here");
    else if (event->data.document_start.tag_directives.start !=
             event->data.document_start.tag_directives.end)
        refuse(place, "leave the line away", "tags (%TAG) are not supported");
    reader.has_document = true;
}

static void take(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        begin_document(event);
        break;
    case YAML_ALIAS_EVENT:
        refuse(problem_place(event->start_mark), "write the value in full",
               "aliases (*name) are not supported");
        break;
    case YAML_SCALAR_EVENT:
        scalar(event);
        break;
    case YAML_SEQUENCE_START_EVENT:
        begin(event, false, event->data.sequence_start.anchor, event->data.sequence_start.tag);
        break;
    case YAML_MAPPING_START_EVENT:
        begin(event, true, event->data.mapping_start.anchor, event->data.mapping_start.tag);
        break;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        end(event);
        break;
    case YAML_STREAM_END_EVENT:
        reader.is_over = true;
        break;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
        break;
    }
}

static void parse(void)
{
    yaml_event_t event;

    if (!yaml_parser_initialize(&reader.parser)) {
        problem_answer(&reader.parser, &reader.text, &answer);
        return;
    }
    yaml_parser_set_encoding(&reader.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&reader.parser, (const unsigned char *)reader.text.bytes,
                                 reader.text.length);
    while (!reader.is_over && !answer_is_full(&answer)) {
        if (!yaml_parser_parse(&reader.parser, &event)) {
            problem_answer(&reader.parser, &reader.text, &answer);
            return;
        }
        take(&event);
        yaml_event_delete(&event);
    }
    /* The process ends now: nothing is freed. */
}

int main(void)
{
    const char *failed_step = NULL;
    int r = lockdown(&failed_step);

    if (r < 0)
        yaml_answer_error(&answer, (struct position){ 0, 0 }, "write the file in TOML instead",
                          "coop-yaml cannot %s: %s", failed_step, strerror(-r));
    else if (text_read(&reader.text, &answer) && text_check(&reader.text, &answer))
        parse();
    answer_finish(&answer);
    _exit(0); /* nothing is left to be tidied up, nor allowed */
}
