#include "pack.h"

#include <stdint.h>
#include <string.h>

#include "base/buffer.h"
#include "glob/private.h"

static size_t aligned(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

static void *offset(size_t n)
{
    return (void *)(uintptr_t)n;
}

static size_t append_aligned(struct buffer *out, size_t base, const void *bytes, size_t n)
{
    static const char zeros[8];

    buffer_append(out, zeros, aligned(out->length) - out->length);
    size_t at = out->length - base;
    if (n > 0)
        buffer_append(out, bytes, n);
    return at;
}

static size_t n_of_ranges(const struct glob_component *component)
{
    size_t n = 0;

    for (size_t i = 0; i < component->n_tokens; i++) {
        const struct glob_token *token = &component->tokens[i];

        if (token->kind == GLOB_TOKEN_CLASS && token->value + token->n_ranges > n)
            n = token->value + token->n_ranges;
    }
    return n;
}

static void pack_components(struct buffer *out, size_t base, struct glob *packed,
                            const struct glob *glob)
{
    size_t at =
        append_aligned(out, base, glob->components, glob->n_components * sizeof *glob->components);
    size_t n_ranges = 0;

    packed->components = offset(at);
    for (size_t i = 0; i < glob->n_components; i++) {
        const struct glob_component *from = &glob->components[i];
        struct glob_component component = *from;
        size_t more = 0;

        if (from->shape == GLOB_GENERAL) /* the others need no tokens */
            more = n_of_ranges(from);
        else
            component.n_tokens = 0;

        component.text = offset(append_aligned(out, base, from->text, from->length));
        component.tokens = offset(
            append_aligned(out, base, from->tokens, component.n_tokens * sizeof *from->tokens));
        n_ranges = more > n_ranges ? more : n_ranges;
        if (!out->failed)
            memcpy(out->data + base + at + i * sizeof component, &component, sizeof component);
    }
    packed->ranges =
        offset(append_aligned(out, base, glob->ranges, n_ranges * sizeof *glob->ranges));
}

void glob_pack_record(struct buffer *out, const struct glob *glob)
{
    size_t base = out->length;
    struct glob packed = *glob;

    packed.written = packed.text = NULL;
    packed.tokens = NULL;
    buffer_append(out, &packed, sizeof packed);
    pack_components(out, base, &packed, glob);
    (void)append_aligned(out, base, NULL, 0);
    if (!out->failed)
        memcpy(out->data + base, &packed, sizeof packed);
}

void glob_pack_begin(struct glob_packing *packing, struct buffer *out, size_t n)
{
    const uint64_t count = n;

    *packing = (struct glob_packing){ out, out->length, 0 };
    buffer_append(out, &count, sizeof count);
    for (size_t i = 0; i < n; i++)
        buffer_append(out, &count, sizeof count);
}

/* The next record begins here. */
static void note_place(struct glob_packing *packing)
{
    const uint64_t at = packing->out->length - packing->base;

    packing->n_added++;
    if (!packing->out->failed)
        memcpy(packing->out->data + packing->base + packing->n_added * sizeof at, &at, sizeof at);
}

void glob_pack_add(struct glob_packing *packing, const struct glob *glob)
{
    note_place(packing);
    glob_pack_record(packing->out, glob);
}

void glob_pack_add_record(struct glob_packing *packing, const void *record, size_t size)
{
    note_place(packing);
    buffer_append(packing->out, record, size);
}
