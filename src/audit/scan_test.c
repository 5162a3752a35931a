#include "scan.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "test/check.h"

#define FRONT                                                                                 \
    "{\"seq\":7,\"time\":\"2024-02-29T12:00:00.123Z\",\"event\":\"run\",\"user\":\"a\\\"b\"," \
    "\"identity\":null,\"uid\":1000,\"trust\":\"full\",\"session\":\"s\",\"denied\":2"
#define REST                                                                                       \
    ",\"command\":\"x, \\\"y\\\": {\",\"end\":\"exited\",\"status\":3,\"walls\":{\"end\":\"no\"}," \
    "\"denials\":[{\"op\":\"read\",\"target\":\"a}b\"},{\"op\":\"write\"}]}"

TEST(finds_what_queries_ask_for)
{
    static const char line[] = FRONT REST;
    struct scan_record record;

    CHECK(scan_record(line, sizeof line - 1, &record));
    CHECK(record.seq == 7 && record.denied == 2);
    CHECK(scan_equals(record.time, "2024-02-29T12:00:00.123Z"));
    CHECK(scan_equals(record.event, "run") && scan_equals(record.user, "a\\\"b"));
    CHECK(!record.identity.bytes && scan_number(record.uid) == 1000);
    CHECK(scan_equals(record.session, "s") && !record.command.bytes);
}

TEST(is_not_led_astray_by_texts_and_nested_objects)
{
    static const char line[] = FRONT REST;
    struct scan_record record;
    auto_buffer struct buffer text = { 0 };

    CHECK(scan_record(line, sizeof line - 1, &record) && scan_rest(line, sizeof line - 1, &record));
    CHECK(scan_equals(record.end, "exited") && scan_number(record.status) == 3);
    scan_append(&text, record.command);
    CHECK_STR(text.data, "x, \"y\": {");
}

TEST(walks_the_objects_of_a_list)
{
    static const char line[] = FRONT REST;
    struct scan_record record;
    struct scan_piece object;

    CHECK(scan_record(line, sizeof line - 1, &record) && scan_rest(line, sizeof line - 1, &record));
    CHECK(scan_next(&record.denials, &object));
    CHECK(scan_equals(object, "{\"op\":\"read\",\"target\":\"a}b\"}"));
    CHECK(scan_next(&record.denials, &object));
    CHECK(!scan_next(&record.denials, &object));
}

TEST(refuses_what_is_no_record)
{
    static const char *const lines[] = { "",
                                         "{",
                                         "{}",
                                         "[]",
                                         "x",
                                         "{\"a\":1}",
                                         "{\"seq\":0}",
                                         "{\"seq\":1",
                                         "{\"seq\":1,\"time\":\"short\",\"denied\":0}" };
    struct scan_record record;

    for (size_t i = 0; i < COUNT(lines); i++)
        CHECK(!scan_record(lines[i], strlen(lines[i]), &record));
}

/* ---- files */

struct seen {
    size_t n, bytes, longest;
};

static bool see(void *context, const char *line, size_t n)
{
    struct seen *seen = context;

    (void)line;
    seen->n++;
    seen->bytes += n;
    seen->longest = n > seen->longest ? n : seen->longest;
    return true;
}

static void put(int fd, size_t n, bool has_end)
{
    auto_free char *line = malloc(n + 1);

    CHECK(line != NULL);
    memset(line, 'x', n);
    line[n] = '\n';
    CHECK(write(fd, line, n + has_end) == (ssize_t)(n + has_end));
}

TEST(reads_lines_of_every_length_and_stops_at_one_without_an_end)
{
    struct scan_file file = { .fd = memfd_create("lines", 0) };
    struct seen seen = { 0 };
    size_t n_bytes = 0;

    for (size_t i = 0; i < 2000; i++) {
        put(file.fd, i, true);
        n_bytes += i;
    }
    put(file.fd, 1000000, true); /* longer than a block */
    put(file.fd, 5, false);
    CHECK(scan_lines(&file, -1, see, &seen, NULL) == 0);
    CHECK(seen.n == 2001 && seen.bytes == n_bytes + 1000000 && seen.longest == 1000000);
    CHECK(write(file.fd, "yy\n", 3) == 3); /* now it has one */
    seen = (struct seen){ 0 };
    CHECK(scan_lines(&file, -1, see, &seen, NULL) == 0);
    CHECK(seen.n == 1 && seen.bytes == 7);
    scan_file_done(&file);
}

TEST(reads_no_further_than_it_is_told)
{
    struct scan_file file = { .fd = memfd_create("lines", 0) };
    struct seen seen = { 0 };

    put(file.fd, 9, true);
    put(file.fd, 9, true);
    CHECK(scan_lines(&file, 15, see, &seen, NULL) == 0);
    CHECK(seen.n == 1 && file.at == 10);
    scan_file_done(&file);
}

TEST(a_line_without_bounds_costs_bounded_memory)
{
    struct scan_file file = { .fd = memfd_create("lines", 0) };
    struct seen seen = { 0 };

    CHECK(ftruncate(file.fd, (off_t)64 << 20) == 0);
    CHECK(scan_lines(&file, -1, see, &seen, NULL) == 0);
    CHECK(file.size <= (size_t)4 << 20);
    scan_file_done(&file);
}
