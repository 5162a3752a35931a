#include "node_walk.h"

static void after(const struct node *parent, const struct node_visitor *visitor, void *context,
                  bool is_last)
{
    if (visitor->after)
        visitor->after(context, parent, is_last);
}

static void walk_table(const struct node *node, const struct node_visitor *visitor, void *context)
{
    for (const struct node_entry *entry = node->table->first; entry; entry = entry->next) {
        if (visitor->key)
            visitor->key(context, entry);
        node_walk(&entry->value, visitor, context);
        after(node, visitor, context, !entry->next);
    }
}

static void walk_array(const struct node *node, const struct node_visitor *visitor, void *context)
{
    for (const struct node *item = node->array->first; item; item = item->next) {
        node_walk(item, visitor, context);
        after(node, visitor, context, !item->next);
    }
}

void node_walk(const struct node *node, const struct node_visitor *visitor, void *context)
{
    bool is_inner = node->kind == NODE_TABLE || node->kind == NODE_ARRAY;

    if (!is_inner) {
        if (visitor->scalar)
            visitor->scalar(context, node);
        return;
    }
    if (visitor->enter)
        visitor->enter(context, node);
    if (node->kind == NODE_TABLE)
        walk_table(node, visitor, context);
    else
        walk_array(node, visitor, context);
    if (visitor->leave)
        visitor->leave(context, node);
}
