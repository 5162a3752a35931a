/*
 * grep.c - the tool that searches in files
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/json/write.h"
#include "base/media.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "tools/search/grep_file.h"
#include "tools/search/name_filter.h"
#include "tools/search/search.h"

#define LIMIT_DEFAULT 200
#define TEXT_MAX      60000 /* bytes of the reply */
#define LINE_SHOWN    400   /* bytes of a line that is longer */
#define LINE_BEFORE   200   /* of these, before the end of the match */

enum output { OUTPUT_CONTENT, OUTPUT_FILES, OUTPUT_COUNT };
static const char *const output_names[] = { "content", "files", "count" };

struct grepping {
    struct search_call search;
    struct name_filter *filter; /* NULL: every file */
    struct regex *regex;
    struct grep_reader reader;
    enum output output;
    uint64_t limit;
    uint64_t n_told; /* lines or files */
    uint64_t n_matches, n_files_matched, n_files, n_binary, n_unreadable;
    bool is_full;     /* the limit was reached */
    const char *path; /* of the file being searched */
    bool is_new_file; /* nothing of it has been told yet */
    struct json_writer results;
    struct buffer results_text;
};

/* ---- lines */

/* A long line is cut around its match, between characters. */
static void cut_line(const struct grep_line *line, size_t *from, size_t *to)
{
    const char *text = line->text;

    *from = 0;
    *to = line->n;
    if (line->n <= LINE_SHOWN + 50)
        return;
    if (line->hit > LINE_BEFORE)
        *from = line->hit - LINE_BEFORE;
    if (*from > line->n - LINE_SHOWN)
        *from = line->n - LINE_SHOWN;
    *to = *from + LINE_SHOWN;
    for (unsigned i = 0; i < 3 && *from > 0 && utf8_is_continuation((unsigned char)text[*from]);
         i++)
        --*from;
    for (unsigned i = 0; i < 3 && *to < line->n && utf8_is_continuation((unsigned char)text[*to]);
         i++)
        ++*to;
}

static void append_line(struct buffer *out, const struct grep_line *line)
{
    size_t from, to;

    cut_line(line, &from, &to);
    if (from > 0)
        buffer_append_string(out, "...");
    buffer_append(out, line->text + from, to - from);
    if (to < line->n)
        buffer_append_string(out, "...");
    if (to - from < line->n)
        buffer_printf(out, " [line of %zu bytes]", line->n);
}

static void append_json_line(struct grepping *grepping, const struct grep_line *line)
{
    struct json_writer *json = &grepping->results;
    auto_buffer struct buffer path = { 0 };
    size_t from, to;

    cut_line(line, &from, &to);
    search_join_path(&path, &grepping->search, grepping->path);
    json_write_object_begin(json);
    json_write_key(json, "path");
    json_write_string(json, path.data ? path.data : "", path.length);
    json_write_key(json, "line");
    json_write_uint(json, line->number);
    json_write_key(json, "text");
    json_write_string(json, line->text + from, to - from);
    json_write_object_end(json);
}

static bool tell_line(void *context, const struct grep_line *line)
{
    struct grepping *grepping = context;
    struct buffer *text = &grepping->search.call->reply->text;
    char mark = line->is_match ? ':' : '-';

    /* the first line of a file is far from the last one of the file before */
    bool is_apart = line->begins_a_group || grepping->is_new_file;
    if (is_apart && grepping->reader.n_context > 0 && text->length > 0)
        buffer_append_string(text, "--\n");
    grepping->is_new_file = false;
    search_append_path(text, &grepping->search, grepping->path);
    buffer_printf(text, "%c%" PRIu64 "%c", mark, line->number, mark);
    append_line(text, line);
    buffer_append_char(text, '\n');
    if (line->is_match) {
        grepping->n_told++;
        append_json_line(grepping, line);
    }
    grepping->is_full = text->length > TEXT_MAX;
    return !grepping->is_full;
}

/* ---- files */

static void tell_file(struct grepping *grepping, const struct grep_counts *counts)
{
    struct buffer *text = &grepping->search.call->reply->text;
    struct json_writer *json = &grepping->results;
    auto_buffer struct buffer path = { 0 };

    search_append_path(text, &grepping->search, grepping->path);
    if (grepping->output == OUTPUT_COUNT)
        buffer_printf(text, ":%" PRIu64, counts->n_matches);
    buffer_append_char(text, '\n');
    search_join_path(&path, &grepping->search, grepping->path);
    json_write_object_begin(json);
    json_write_key(json, "path");
    json_write_string(json, path.data ? path.data : "", path.length);
    if (grepping->output == OUTPUT_COUNT) {
        json_write_key(json, "count");
        json_write_uint(json, counts->n_matches);
    }
    json_write_object_end(json);
    grepping->n_told++;
}

static int grep_one(struct grepping *grepping, int fd, off_t size, coop_error **err)
{
    const struct buffer *text = &grepping->search.call->reply->text;
    struct grep_counts counts;

    grepping->is_new_file = true;
    int r = grep_file(&grepping->reader, fd, size, &counts);
    if (r == -ENOMEM)
        return fail_no_memory(err);
    if (r < 0) {
        grepping->n_unreadable++;
        return WALK_ON;
    }
    grepping->n_files++;
    grepping->n_binary += counts.is_binary;
    grepping->is_full |= grepping->reader.has_more;
    if (grepping->reader.has_more && counts.n_matches == 0)
        return WALK_STOP;
    if (counts.n_matches == 0 || (counts.is_binary && grepping->output != OUTPUT_CONTENT))
        return WALK_ON;
    if (grepping->output != OUTPUT_CONTENT &&
        (grepping->n_told == grepping->limit || text->length > TEXT_MAX)) {
        grepping->is_full = true;
        return WALK_STOP;
    }
    grepping->n_matches += counts.n_matches;
    grepping->n_files_matched++;
    if (grepping->output != OUTPUT_CONTENT)
        tell_file(grepping, &counts);
    return grepping->is_full ? WALK_STOP : WALK_ON;
}

/* Another name of a file that is hidden is hidden too, which only the file itself tells. */
static bool may_read(const struct grepping *grepping, const char *path)
{
    const struct search_call *search = &grepping->search;
    auto_buffer struct buffer whole = { 0 };
    struct place place;

    buffer_append_string(&whole, search->place.path);
    if (whole.length > 0 && whole.data[whole.length - 1] != '/')
        buffer_append_char(&whole, '/');
    buffer_append_string(&whole, path);
    if (whole.failed || place_find(search->call->places, whole.data, PLACE_READ, &place, NULL) < 0)
        return false;
    place_done(&place);
    return true;
}

static int each(void *context, const struct walk_entry *entry, coop_error **err)
{
    struct grepping *grepping = context;
    struct stat st;

    if (entry->kind == WALK_DIRECTORY)
        return grepping->filter && !name_filter_may_take_below(grepping->filter, entry->path)
                   ? WALK_PASS_OVER
                   : WALK_ON;
    if (entry->kind != WALK_FILE ||
        (grepping->filter && !name_filter_takes(grepping->filter, entry->path, WALK_FILE)))
        return WALK_ON;
    auto_close int fd = walk_open_file(entry->directory_fd, entry->name, &st);
    if (fd < 0) {
        grepping->n_unreadable += fd != -ENOENT && fd != -EINVAL && fd != -ELOOP;
        return WALK_ON;
    }
    if (st.st_nlink > 1 && !may_read(grepping, entry->path))
        return WALK_ON;
    grepping->path = entry->path;
    return grep_one(grepping, fd, st.st_size, err);
}

static int grep_place(struct grepping *grepping, coop_error **err)
{
    struct search_call *search = &grepping->search;
    struct stat st;

    if (search->is_directory)
        return walk_place(&search->place, &search->options, &search->watch, each, grepping,
                          &search->result, err);
    auto_close int fd = place_open(&search->place, O_RDONLY, 0, err);
    if (fd < 0)
        return fd;
    if (fstat(fd, &st) < 0)
        return fail(err, errno, "look at '%s'", search->place.path);
    grepping->path = "";
    int r = grep_one(grepping, fd, st.st_size, err);
    if (r >= 0 && grepping->n_unreadable > 0)
        return place_fail(err, EIO, search->place.path, "cannot be read");
    if (r >= 0 && search->watch.is_cancelled)
        return fail_kind(err, COOP_ERROR_CANCELLED, ECANCELED, "the search was cancelled");
    return r < 0 ? r : 0;
}

/* ---- the reply */

static void append_nothing_found(struct buffer *text, const struct grepping *grepping,
                                 const char *pattern)
{
    buffer_append_string(text, "No line matches '");
    printable_append(text, pattern, strlen(pattern));
    buffer_printf(text, "' in %" PRIu64 " file%s", grepping->n_files,
                  grepping->n_files == 1 ? "" : "s");
    if (grepping->n_binary > 0)
        buffer_printf(text, ", of which %" PRIu64 " %s binary and not searched", grepping->n_binary,
                      grepping->n_binary == 1 ? "is" : "are");
    buffer_append_string(text, ".");
    if (grepping->search.is_directory && !grepping->search.options.includes_ignored)
        buffer_append_string(
            text,
            " Files ignored by .gitignore were not searched: set include_ignored to search them.");
    if (strstr(pattern, "\\|") && !tool_flag(grepping->search.call, "literal", false))
        buffer_append_string(text,
                             " '\\|' matches a literal bar here: write alternatives as 'a|b'.");
    buffer_append_char(text, '\n');
}

static void write_text(const struct grepping *grepping, const char *pattern)
{
    struct buffer *text = &grepping->search.call->reply->text;

    if (grepping->n_told == 0)
        append_nothing_found(text, grepping, pattern);
    if (grepping->is_full)
        buffer_printf(
            text,
            "[cut after %" PRIu64 " %s, there may be more: narrow path, glob or pattern, or %s]\n",
            grepping->n_told, grepping->output == OUTPUT_CONTENT ? "matching lines" : "files",
            grepping->n_told == grepping->limit ? "raise limit"
                                                : "ask for output 'files' or 'count'");
    if (grepping->n_unreadable > 0)
        buffer_printf(text, "[%" PRIu64 " file%s could not be read]\n", grepping->n_unreadable,
                      grepping->n_unreadable == 1 ? "" : "s");
    search_append_notes(text, &grepping->search);
}

static void write_number(struct json_writer *json, const char *key, uint64_t value)
{
    json_write_key(json, key);
    json_write_uint(json, value);
}

/* The results are written as they are found; what stands before them is known in the end only. */
static void write_structured(struct grepping *grepping, const char *pattern)
{
    struct buffer *out = &grepping->search.call->reply->structured;
    const struct walk_result *result = &grepping->search.result;
    uint64_t n_errors = grepping->n_unreadable + result->n_unreadable;
    struct json_writer json;

    json_write_array_end(&grepping->results);
    json_write_finish(&grepping->results);
    json_write_init(&json, out, false);
    json_write_object_begin(&json);
    json_write_key(&json, "pattern");
    json_write_text(&json, pattern);
    json_write_key(&json, "path");
    json_write_text(&json, grepping->search.place.path);
    json_write_key(&json, "output");
    json_write_text(&json, output_names[grepping->output]);
    write_number(&json, "matches", grepping->n_matches);
    write_number(&json, "files_matched", grepping->n_files_matched);
    write_number(&json, "files_searched", grepping->n_files);
    write_number(&json, "binary_files", grepping->n_binary);
    json_write_key(&json, "truncated");
    json_write_bool(&json, grepping->is_full || result->is_cut || grepping->search.watch.is_late);
    if (n_errors > 0)
        write_number(&json, "errors", n_errors);
    json_write_object_end(&json);
    json_write_finish(&json);
    if (out->failed || grepping->results_text.failed) {
        out->failed = true;
        return;
    }
    out->length--; /* the '}' */
    buffer_append_string(out, ",\"results\":");
    buffer_append(out, grepping->results_text.data, grepping->results_text.length);
    buffer_append_char(out, '}');
}

/* ---- */

static void grepping_done(struct grepping *grepping)
{
    grep_reader_done(&grepping->reader);
    regex_free(grepping->regex);
    name_filter_free(grepping->filter);
    buffer_done(&grepping->results_text);
    search_done(&grepping->search);
}

static enum output output_of(const char *name)
{
    for (size_t i = 0; name && i < COUNT(output_names); i++) {
        if (strcmp(name, output_names[i]) == 0)
            return (enum output)i;
    }
    return OUTPUT_CONTENT;
}

static int prepare(struct grepping *grepping, struct tool_call *call, const char *pattern,
                   coop_error **err)
{
    const char *glob = tool_text(call, "glob");
    unsigned flags = (tool_flag(call, "ignore_case", false) ? REGEX_IGNORE_CASE : 0) |
                     (tool_flag(call, "literal", false) ? REGEX_LITERAL : 0);
    int r = search_init(&grepping->search, call, tool_text(call, "path"), err);

    if (r == 0)
        r = regex_new(pattern, strlen(pattern), flags, &grepping->regex, err);
    if (r == 0 && glob)
        r = name_filter_new(glob, &grepping->filter, err);
    if (r < 0)
        return r;
    grepping->output = output_of(tool_text(call, "output"));
    grepping->limit = (uint64_t)tool_number(call, "limit", LIMIT_DEFAULT);
    grepping->reader = (struct grep_reader){
        .regex = grepping->regex,
        .watch = &grepping->search.watch,
        .n_context =
            grepping->output == OUTPUT_CONTENT ? (unsigned)tool_number(call, "context", 0) : 0,
        .n_left = grepping->limit,
        .only_counts = grepping->output != OUTPUT_CONTENT,
        .only_first = grepping->output == OUTPUT_FILES,
        .each = tell_line,
        .context = grepping,
    };
    json_write_init(&grepping->results, &grepping->results_text, false);
    json_write_array_begin(&grepping->results);
    return 0;
}

int tool_grep(struct tool_call *call, coop_error **err)
{
    const char *pattern = tool_text(call, "pattern");
    struct grepping grepping = { 0 };
    int r = prepare(&grepping, call, pattern, err);

    if (r == 0)
        r = grep_place(&grepping, err);
    if (r == 0) {
        write_text(&grepping, pattern);
        write_structured(&grepping, pattern);
        if (call->reply->text.failed || call->reply->structured.failed)
            r = fail_no_memory(err);
    }
    grepping_done(&grepping);
    return r;
}
