/*
 * network.c - three keys choose the network; this is what they say together
 *
 * A layer that names the network decides. One that says only yes or no moves what the layers below
 * it say as little as it must: no network stays what is already none, and a network that goes
 * through a gate is still a network. One that names hosts and nothing else wants the gate.
 */
#include "config/config.h"
#include "config/layers.h"
#include "config/value.h"

static bool says(const struct layer *layer, const char *key, bool *out, struct position *place)
{
    const struct node *node = layer_find(layer, schema_find(key), "");

    if (!node || value_bool(node, out) < 0)
        return false;
    *place = node->place;
    return true;
}

static enum config_network move(enum config_network network, bool is_allowed)
{
    if (is_allowed)
        return network >= CONFIG_NETWORK_GATE ? network : CONFIG_NETWORK_HOST;
    return network <= CONFIG_NETWORK_NONE ? network : CONFIG_NETWORK_NONE;
}

enum config_network layer_network(const struct layer *layer, enum config_network below,
                                  struct position *place)
{
    const struct schema_row *row = schema_find("sandbox.network");
    const struct node *node = layer_find(layer, row, "");
    bool yes = false;

    if (node) {
        *place = node->place;
        return (enum config_network)schema_word(row, value_text(node));
    }
    if (says(layer, "sandbox.allow_network", &yes, place))
        return move(below, yes);
    if (says(layer, "sandbox.isolate_network", &yes, place)) {
        if (!yes)
            return CONFIG_NETWORK_HOST;
        return below == CONFIG_NETWORK_HOST ? CONFIG_NETWORK_NONE : below;
    }
    /* Whoever names hosts wants the gate. */
    const struct node *hosts = layer_find(layer, schema_find("network.allow"), "");
    if (below == CONFIG_NETWORK_NONE && hosts && hosts->kind == NODE_ARRAY && hosts->array->n > 0) {
        *place = hosts->place;
        return CONFIG_NETWORK_GATE;
    }
    return below;
}

enum config_network config_network(const struct config *config, struct origin *out_origin)
{
    enum config_network network = CONFIG_NETWORK_NONE;
    struct origin origin = { 0 };

    for (size_t i = 0; i < config->n_layers; i++) {
        struct position place = { 0 };
        enum config_network next = layer_network(config->layers[i], network, &place);

        if (next != network || place.line > 0)
            origin = layer_origin(config->layers[i], place);
        network = next;
    }
    if (out_origin)
        *out_origin = origin;
    return network;
}
