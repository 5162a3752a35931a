#include "watchfs_nodes.h"

#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "plan/plan.h"

#define NUMBERS_MAX 64 /* of one node, with what stands between them */

void plan_watchfs_new(struct plan *plan)
{
    plan->watchfs = plan_memory(plan, sizeof *plan->watchfs);
}

unsigned plan_watchfs_add(struct plan *plan, const struct watchfs_node *node)
{
    struct plan_watchfs *watchfs = plan->watchfs;

    if (!watchfs || !node->path)
        return 0;
    size_t length = strlen(node->path) + (node->link ? strlen(node->link) : 0) + NUMBERS_MAX;
    bool is_mask = node->kind == WATCHFS_MASK;
    if (watchfs->text_length + length >= WATCHFS_TEXT_MAX ||
        (is_mask ? watchfs->n_masks == WATCHFS_MASKS_MAX
                 : watchfs->n - watchfs->n_masks == WATCHFS_OTHERS_MAX)) {
        watchfs->n_left_out += is_mask;
        return 0;
    }
    watchfs->text_length += length;
    watchfs->n_masks += is_mask;
    watchfs->nodes[watchfs->n] = *node;
    return (unsigned)++watchfs->n;
}

void plan_watchfs_finish(struct plan *plan)
{
    struct plan_watchfs *watchfs = plan->watchfs;
    auto_buffer struct buffer text = { 0 };

    if (!watchfs)
        return;
    for (size_t i = 0; i < watchfs->n; i++) {
        const struct watchfs_node *node = &watchfs->nodes[i];

        buffer_printf(&text, "%x %" PRIx32 " %" PRIx32 " %" PRIx64 " %" PRIx64 " %s//",
                      (unsigned)node->kind, node->mode, node->parent, node->size,
                      (uint64_t)node->mtime_ns, node->path);
        if (node->kind == WATCHFS_LINK)
            buffer_printf(&text, "%s//", node->link);
    }
    plan->wants_watchfs = plan->wants_watchfs && watchfs->n > 0;
    plan->failed |= text.failed;
    watchfs->text = text.failed || !text.length ? "" : plan_copy(plan, text.data);
}
