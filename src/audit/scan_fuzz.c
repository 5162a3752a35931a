/*
 * Any bytes as a line: nothing is read behind it, every piece lies in it, and what is shown of it can
 * be shown.
 */
#include "scan.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "audit/chain.h"
#include "test/fuzz.h"

struct line {
    const char *bytes;
    size_t n;
};

static void look(const struct line *line, struct scan_piece piece)
{
    auto_buffer struct buffer shown = { 0 };

    if (!piece.bytes)
        return;
    REQUIRE(piece.bytes >= line->bytes && piece.bytes + piece.n <= line->bytes + line->n);
    scan_append(&shown, piece);
    for (size_t i = 0; i < shown.length; i++)
        REQUIRE((unsigned char)shown.data[i] >= 0x20 && shown.data[i] != 0x7F);
}

static void look_at_member(void *context, struct scan_piece name, struct scan_piece value)
{
    look(context, name);
    look(context, value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *copy =
        calloc(1, size ? size : 1); /* of exact size: a sanitizer sees what is read behind it */
    struct line line = { copy, size };
    struct scan_record record;
    char hash[SHA256_HEX_SIZE];
    uint64_t seq;

    if (!copy)
        return 0;
    if (size > 0)
        memcpy(copy, data, size);
    (void)chain_read_line(copy, size, &seq, hash);
    (void)scan_record(copy, size, &record);
    if (size > 0)
        (void)scan_rest(copy, size, &record);
    look(&line, record.time);
    look(&line, record.user);
    look(&line, record.session);
    look(&line, record.command);
    look(&line, record.pruned);
    struct scan_piece object;
    for (struct scan_piece list = record.denials; list.bytes && scan_next(&list, &object);)
        scan_members(object, look_at_member, &line);
    free(copy);
    return 0;
}
