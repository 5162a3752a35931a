#include "trap_nodes.h"

#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "plan/plan.h"

#define NUMBERS_MAX 64 /* of one node, with what stands between them */

void plan_traps_new(struct plan *plan)
{
    plan->traps = plan_memory(plan, sizeof *plan->traps);
}

unsigned plan_trap_add(struct plan *plan, const struct trap_node *node)
{
    struct plan_traps *traps = plan->traps;

    if (!traps || !node->path)
        return 0;
    size_t length = strlen(node->path) + (node->link ? strlen(node->link) : 0) + NUMBERS_MAX;
    bool is_mask = node->kind == TRAP_MASK;
    if (traps->text_length + length >= TRAP_TEXT_MAX ||
        (is_mask ? traps->n_masks == TRAP_MASKS_MAX
                 : traps->n - traps->n_masks == TRAP_OTHERS_MAX)) {
        traps->n_left_out += is_mask;
        return 0;
    }
    traps->text_length += length;
    traps->n_masks += is_mask;
    traps->nodes[traps->n] = *node;
    return (unsigned)++traps->n;
}

void plan_traps_finish(struct plan *plan)
{
    struct plan_traps *traps = plan->traps;
    auto_buffer struct buffer text = { 0 };

    if (!traps)
        return;
    for (size_t i = 0; i < traps->n; i++) {
        const struct trap_node *node = &traps->nodes[i];

        buffer_printf(&text, "%x %" PRIx32 " %" PRIx32 " %" PRIx64 " %" PRIx64 " %s//",
                      (unsigned)node->kind, node->mode, node->parent, node->size,
                      (uint64_t)node->mtime_ns, node->path);
        if (node->kind == TRAP_LINK)
            buffer_printf(&text, "%s//", node->link);
    }
    plan->wants_traps = plan->wants_traps && traps->n > 0;
    plan->failed |= text.failed;
    traps->text = text.failed || !text.length ? "" : plan_copy(plan, text.data);
}
