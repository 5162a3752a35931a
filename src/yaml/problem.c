#include "problem.h"

#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

#define QUOTE "put the text in quotes"

/* libyaml's words that can be said better; it has some fifty more, which stay. */
static const struct {
    const char *problem;
    const char *sentence;
    const char *fix;
} problems[] = {
    { "mapping values are not allowed in this context", "a ':' cannot stand here",
      "put text that contains ': ' in quotes, and indent the keys of one map alike" },
    { "could not find expected ':'", "expected ':' behind a key", NULL },
    { "did not find expected key", "expected a key", "indent the keys of one map alike" },
    { "did not find expected '-' indicator", "expected '- '",
      "indent the items of one list alike" },
    { "block sequence entries are not allowed in this context", "a list cannot begin here",
      "begin it on a line of its own" },
    { "did not find expected ',' or ']'", "expected ',' or ']'", NULL },
    { "did not find expected ',' or '}'", "expected ',' or '}'", NULL },
    { "did not find expected node content", "expected a value", NULL },
    { "did not find expected <document start>", "expected the end of the file", NULL },
    { "found unexpected end of stream", "the file ends within a text in quotes", NULL },
    { "found unexpected document indicator", "the document ends within a text in quotes", NULL },
    { "found unknown escape character", "unknown escape behind a backslash",
      "write \\\\ for a backslash, or the text in single quotes" },
    { "found a tab character that violates indentation", "a tab cannot indent",
      "indent with spaces" },
    { "found a tab character where an indentation space is expected", "a tab cannot indent",
      "indent with spaces" },
};

struct position problem_place(yaml_mark_t mark)
{
    return (struct position){ (unsigned)mark.line + 1, (unsigned)mark.column + 1 };
}

/* Which of the characters that have a meaning in YAML, or will have one. */
static void answer_character(const yaml_parser_t *parser, struct text *text, struct answer *answer)
{
    struct position place = problem_place(parser->problem_mark);
    int c = text_char(text, parser->problem_mark.index);

    if (c == '\t')
        yaml_answer_error(answer, place, "indent with spaces", "a tab cannot indent");
    else if (c > ' ' && c < 0x7F)
        yaml_answer_error(answer, place, QUOTE, "a value cannot begin with %s%c%s",
                          c == '\'' ? "\"" : "'", c, c == '\'' ? "\"" : "'");
    else
        yaml_answer_error(answer, place, QUOTE, "a value cannot begin here");
}

/* Where the thing began in which the problem is; empty if that says nothing new. */
static void describe_context(const yaml_parser_t *parser, char *out, size_t size)
{
    struct position place = problem_place(parser->context_mark);

    out[0] = '\0';
    if (parser->context && parser->context_mark.index < parser->problem_mark.index)
        (void)snprintf(out, size, " (%s that begins at %u:%u)", parser->context, place.line,
                       place.column);
}

static void answer_syntax(const yaml_parser_t *parser, struct text *text, struct answer *answer)
{
    struct position place = problem_place(parser->problem_mark);
    const char *problem = parser->problem ? parser->problem : "the text is not YAML";
    char context[160];

    if (strcmp(problem, "found character that cannot start any token") == 0) {
        answer_character(parser, text, answer);
        return;
    }
    describe_context(parser, context, sizeof context);
    for (size_t i = 0; i < COUNT(problems); i++)
        if (strcmp(problem, problems[i].problem) == 0) {
            yaml_answer_error(answer, place, problems[i].fix, "%s%s", problems[i].sentence,
                              context);
            return;
        }
    yaml_answer_error(answer, place, NULL, "%s%s", problem, context);
}

void problem_answer(const yaml_parser_t *parser, struct text *text, struct answer *answer)
{
    const struct position nowhere = { 0, 0 };

    if (parser->error == YAML_SCANNER_ERROR || parser->error == YAML_PARSER_ERROR)
        answer_syntax(parser, text, answer);
    else if (parser->error == YAML_MEMORY_ERROR)
        yaml_answer_error(answer, nowhere, NULL, "there is not enough memory to read the file");
    else
        yaml_answer_error(answer, nowhere, NULL, "%s",
                          parser->problem ? parser->problem : "the file cannot be read");
}
