#include "records.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/printable.h"

const char *const record_op_names[RECORD_OPS] = {
    [RECORD_READ] = "read",
    [RECORD_WRITE] = "write",
    [RECORD_CREATE] = "create",
    [RECORD_RENAME] = "rename",
    [RECORD_DELETE] = "delete",
    [RECORD_CHMOD] = "chmod",
    [RECORD_EXEC] = "exec",
    [RECORD_SYSCALL] = "syscall",
    [RECORD_SOCKET] = "socket",
    [RECORD_CONNECT] = "connect",
    [RECORD_BIND] = "bind",
    [RECORD_DNS] = "dns",
    [RECORD_MEMORY] = "memory",
    [RECORD_PIDS] = "pids",
    [RECORD_TIME] = "time",
    [RECORD_CPU] = "cpu",
    [RECORD_FILE_SIZE] = "file-size",
    [RECORD_TMP_SIZE] = "tmp-size",
    [RECORD_OPEN_FILES] = "open-files",
    [RECORD_COMMAND] = "command",
};

/* FNV-1a: only saves comparing; what a box can make collide costs it a comparison. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    while (n-- > 0)
        hash = (hash ^ *p++) * 0x100000001b3ull;
    return hash;
}

static const char *text(const char *string)
{
    return string ? string : "";
}

static uint64_t hash_note(const struct record_note *note)
{
    const int numbers[] = { (int)note->op, note->error, note->nr, note->rule, note->value };
    uint64_t hash = hash_bytes(0xcbf29ce484222325ull, numbers, sizeof numbers);

    hash = hash_bytes(hash, text(note->target), strlen(text(note->target)) + 1);
    return hash_bytes(hash, text(note->rule_text), strlen(text(note->rule_text)));
}

static bool is_same(const struct record *record, const struct record_note *note)
{
    return record->op == note->op && record->error == note->error && record->nr == note->nr &&
           record->rule == note->rule && record->value == note->value &&
           strcmp(record->target, text(note->target)) == 0 &&
           strcmp(text(record->rule_text), text(note->rule_text)) == 0;
}

static bool copy_text(char **to, const char *from)
{
    *to = from ? strdup(from) : NULL;
    return !from || *to;
}

static void free_record(struct record *record)
{
    free(record->target);
    free(record->rule_text);
    free(record->origin);
    free(record->why);
    free(record->allow);
}

/* False: out of memory. */
static bool add(struct records *records, const struct record_note *note, uint64_t hash)
{
    struct record record = { .op = note->op,
                             .error = note->error,
                             .nr = note->nr,
                             .rule = note->rule,
                             .value = note->value,
                             .first_ms = note->at_ms,
                             .hash = hash };

    if (!records->items)
        records->items = calloc(RECORDS_MAX, sizeof *records->items);
    if (!records->items)
        return false;
    if (!copy_text(&record.target, text(note->target)) ||
        !copy_text(&record.rule_text, note->rule_text) ||
        !copy_text(&record.origin, note->origin) || !copy_text(&record.why, note->why) ||
        !copy_text(&record.allow, note->allow)) {
        free_record(&record);
        return false;
    }
    records->items[records->n++] = record;
    return true;
}

int records_note(struct records *records, const struct record_note *note)
{
    uint64_t hash = hash_note(note);
    uint64_t count = note->count ? note->count : 1;
    size_t i = 0;

    while (i < records->n && (records->items[i].hash != hash || !is_same(&records->items[i], note)))
        i++;
    if (i == records->n && (i == RECORDS_MAX || !add(records, note, hash))) {
        records->failed = records->failed || i < RECORDS_MAX;
        records->more += count;
        return -1;
    }
    struct record *record = &records->items[i];
    if (note->is_total)
        records_count(records, (int)i, count);
    else
        record->count += count;
    return (int)i;
}

void records_count(struct records *records, int index, uint64_t total)
{
    if (index >= 0 && (size_t)index < records->n && records->items[index].count < total)
        records->items[index].count = total;
}

void records_drop_wordless(struct records *records)
{
    size_t kept = 0;

    for (size_t i = 0; i < records->n; i++)
        if (records->items[i].rule_text)
            records->items[kept++] = records->items[i];
        else
            free_record(&records->items[i]);
    records->n = kept;
}

void records_done(struct records *records)
{
    for (size_t i = 0; i < records->n; i++)
        free_record(&records->items[i]);
    free(records->items);
    *records = (struct records){ 0 };
}

void record_print_asked(struct buffer *out, const char *op, const char *target)
{
    static const enum record_op limits[] = { RECORD_MEMORY, RECORD_PIDS,      RECORD_TIME,
                                             RECORD_CPU,    RECORD_FILE_SIZE, RECORD_OPEN_FILES };
    bool is_limit = false;

    for (size_t i = 0; i < COUNT(limits); i++)
        is_limit = is_limit || strcmp(op, record_op_names[limits[i]]) == 0;
    if (!is_limit)
        buffer_printf(out, "%s ", op);
    printable_append(out, target, strlen(target));
}
