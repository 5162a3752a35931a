/*
 * node_walk.h - every value of a document, in order
 *
 * Recursion is bounded: a document is NODE_DEPTH_MAX deep at the most.
 */
#pragma once

#include "config/node.h"

/* Any may be NULL. */
struct node_visitor {
    void (*enter)(void *context, const struct node *node);                 /* a table or an array */
    void (*key)(void *context, const struct node_entry *entry);            /* before its value */
    void (*scalar)(void *context, const struct node *node);                /* anything else */
    void (*after)(void *context, const struct node *parent, bool is_last); /* each value of one */
    void (*leave)(void *context, const struct node *node);
};

void node_walk(const struct node *node, const struct node_visitor *visitor, void *context);
