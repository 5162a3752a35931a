/* worlds: user */
#include "node.h"

#include <errno.h>
#include <stdio.h>

#include "base/siphash.h"
#include "test/check.h"

static struct node integer(int64_t value)
{
    return (struct node){ .kind = NODE_INTEGER, .place = { 2, 5 }, .integer = value };
}

static struct node_string copy(struct document *document, const char *key, size_t n)
{
    return (struct node_string){ arena_copy(&document->arena, key, n), n };
}

static void add_number(struct document *document, struct node_table *table, unsigned i)
{
    char key[32];
    int n = snprintf(key, sizeof key, "key%u", i);
    struct node value = integer(i);

    CHECK(node_table_add(document, table, copy(document, key, (size_t)n),
                         (struct position){ i + 1, 1 }, &value) == 0);
}

TEST(a_new_document_is_an_empty_table)
{
    struct document *document = document_new("name");

    CHECK(document);
    CHECK_STR(document->name, "name");
    CHECK(document->root.kind == NODE_TABLE && document->root.table->n == 0);
    CHECK(!node_get(&document->root, "key"));
    CHECK(!node_get(&document->root, ""));
    document_free(document);
    document_free(NULL);
}

/* Few keys are compared one by one, many are hashed: the same answers on both sides of the border. */
TEST(finds_what_was_added_and_nothing_else_at_every_size)
{
    for (unsigned n = 0; n < 70; n++) {
        struct document *document = document_new("name");
        struct node_table *table = document->root.table;

        for (unsigned i = 0; i < n; i++)
            add_number(document, table, i);
        CHECK(table->n == n && document->n_nodes == n);
        for (unsigned i = 0; i < n + 5; i++) {
            char key[32];
            (void)snprintf(key, sizeof key, "key%u", i);
            const struct node *node = node_get(&document->root, key);

            CHECK(i < n ? node && node->integer == i : !node);
        }
        document_free(document);
    }
}

TEST(keeps_the_order_and_the_places)
{
    struct document *document = document_new("name");
    unsigned n = 0;

    for (unsigned i = 0; i < 1000; i++)
        add_number(document, document->root.table, i);
    for (const struct node_entry *entry = document->root.table->first; entry; entry = entry->next) {
        CHECK(entry->value.integer == n);
        CHECK(entry->key_place.line == n + 1 && entry->key_place.column == 1);
        CHECK(entry->value.place.line == 2 && entry->value.place.column == 5);
        n++;
    }
    CHECK(n == 1000);
    document_free(document);
}

TEST(a_hundred_thousand_keys_are_spread_over_the_slots)
{
    struct document *document = document_new("name");
    struct node_table *table = document->root.table;
    size_t longest = 0;

    for (unsigned i = 0; i < 100000; i++)
        add_number(document, table, i);
    CHECK(table->n == 100000 && table->n_slots >= table->n);
    for (size_t i = 0; i < table->n_slots; i++) {
        size_t length = 0;
        for (const struct node_entry *entry = table->slots[i]; entry; entry = entry->chain)
            length++;
        longest = length > longest ? length : longest;
    }
    CHECK(longest < 20); /* of 100,000 balls in as many holes, some hole holds about 8 */
    CHECK(node_get(&document->root, "key99999")->integer == 99999);
    CHECK(!node_get(&document->root, "key100000"));
    document_free(document);
}

TEST(keys_are_bytes)
{
    struct document *document = document_new("name");
    struct node_table *table = document->root.table;
    static const struct node_string keys[] = {
        { "", 0 },    { "\0", 1 },   { "\0\0", 2 }, { "a", 1 },
        { "a\0", 2 }, { "a\0b", 3 }, { "\xFF", 1 },
    };
    size_t n = sizeof keys / sizeof *keys;

    for (size_t i = 0; i < n; i++) {
        struct node value = integer((int64_t)i);

        CHECK(!node_table_find(table, keys[i].bytes, keys[i].length));
        CHECK(node_table_add(document, table, keys[i], (struct position){ 1, 1 }, &value) == 0);
    }
    for (size_t i = 0; i < n; i++)
        CHECK(node_table_find(table, keys[i].bytes, keys[i].length)->value.integer == (int64_t)i);
    document_free(document);
}

TEST(arrays_keep_their_order)
{
    struct document *document = document_new("name");
    struct node array = { .kind = NODE_ARRAY, .array = document_array(document, 1) };
    int64_t sum = 0;
    int64_t i = 0;

    for (; i < 10; i++) {
        struct node value = integer(i);

        value.next = &value; /* of no meaning to the array */
        CHECK(node_array_add(document, array.array, &value) == 0);
    }
    i = 0;
    for (const struct node *item = array.array->first; item; item = item->next) {
        CHECK(item->integer == i++);
        sum += item->integer;
    }
    CHECK(sum == 45 && array.array->n == 10 && document->n_nodes == 10);
    CHECK(!node_get(&array, "key"));
    document_free(document);
}

TEST(a_document_holds_so_many_values_and_no_more)
{
    struct document *document = document_new("name");
    struct node value = integer(1);
    struct node_array *array = document_array(document, 1);

    document->n_nodes = NODE_COUNT_MAX - 1;
    CHECK(node_array_add(document, array, &value) == 0);
    CHECK(node_array_add(document, array, &value) == -E2BIG);
    CHECK(node_table_add(document, document->root.table, (struct node_string){ "k", 1 },
                         (struct position){ 1, 1 }, &value) == -E2BIG);
    CHECK(array->n == 1 && document->root.table->n == 0);
    document_free(document);
}

TEST(an_origin_names_the_file)
{
    struct document *document = document_new("coop.toml");
    struct origin origin = node_origin(document, (struct position){ 3, 9 });

    CHECK_STR(origin.name, "coop.toml");
    CHECK(origin.line == 3 && origin.column == 9);
    document_free(document);
}

TEST(every_kind_has_a_name)
{
    for (int kind = NODE_TABLE; kind <= NODE_TEXT; kind++)
        CHECK(strncmp(node_kind_name((enum node_kind)kind), "a", 1) == 0);
    CHECK_STR(node_kind_name(NODE_INTEGER), "an integer");
}

TEST(memory_of_an_arena_is_zeroed_aligned_and_apart)
{
    static const size_t sizes[] = { 1, 7, 8, 100, 3000, 5000, 70000, 2000000, 1, 4096, 0, 3 };
    size_t n = sizeof sizes / sizeof *sizes;
    unsigned char *all[sizeof sizes / sizeof *sizes];
    struct arena arena = { 0 };

    for (size_t i = 0; i < n; i++) {
        all[i] = arena_alloc(&arena, sizes[i]);
        CHECK(all[i] && (uintptr_t)all[i] % 8 == 0);
        for (size_t j = 0; j < sizes[i]; j++)
            CHECK(all[i][j] == 0);
        memset(all[i], (int)i + 1, sizes[i]);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < sizes[i]; j++)
            CHECK(all[i][j] == i + 1);
    CHECK(!arena_alloc(&arena, SIZE_MAX));
    CHECK_STR(arena_copy(&arena, "text", 3), "tex");
    arena_done(&arena);
    CHECK(!arena.blocks);
}

/* The vectors are Python's hashes of bytes with PYTHONHASHSEED=0, which is SipHash-1-3 too. */
TEST(the_hash_is_siphash_1_3)
{
    static const uint64_t zero[2] = { 0, 0 };
    static const struct {
        const char *text;
        uint64_t hash;
    } vectors[] = {
        { "a", UINT64_C(0x407448d2b89b1813) },
        { "1234567", UINT64_C(0xa33d651594fdae81) },
        { "12345678", UINT64_C(0x3489982430560a87) },
        { "123456789", UINT64_C(0x0fbc0f0007965fcf) },
    };
    unsigned char bytes[100];

    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        CHECK(siphash(zero, vectors[i].text, strlen(vectors[i].text)) == vectors[i].hash);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    CHECK(siphash(zero, bytes, sizeof bytes) == UINT64_C(0x1c6a66e1506e7908));
}

TEST(the_hash_depends_on_its_key)
{
    static const uint64_t key[2] = { 1, 2 };
    static const uint64_t first[2] = { 3, 2 };
    static const uint64_t second[2] = { 1, 3 };

    CHECK(siphash(key, "text", 4) != siphash(first, "text", 4));
    CHECK(siphash(key, "text", 4) != siphash(second, "text", 4));
}
