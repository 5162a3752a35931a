/*
 * redact.c - the automaton of Aho and Corasick over all values at once
 *
 * The state after each byte is the longest end of the input that begins some value; its depth is how
 * long that is. So a match that is still to come begins at most `depth` bytes back: everything
 * before that is decided and goes out. Of the matches that end at one byte the longest contains the
 * others, and of those that begin at one byte likewise, so one match for each held byte is enough.
 *
 * States have their children in a list: a value of 64 KiB would make a table of 256 columns large,
 * and below the first byte there is nearly always one child. No child list is longer than there are
 * values, and failing back is paid for by the bytes that went deeper before.
 */
#include "redact.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/secret_memory.h"

#define STAGE 4096

struct state {
    uint32_t child;   /* the first; 0: none */
    uint32_t sibling; /* the next child of the same parent; 0: none */
    uint32_t fail;    /* the longest proper end of this one that begins a value */
    uint32_t depth;
    uint32_t length; /* of the longest value that ends here; 0: none does */
    uint32_t secret; /* which */
    unsigned char byte;
};

/* The longest match that begins at a held byte. */
struct match {
    uint32_t length; /* 0: none */
    uint32_t secret;
};

struct redact {
    struct state *states; /* secret memory; [0] is the root */
    uint32_t n_states;
    uint32_t first[256]; /* the root's children by byte; 0: none */
    char **names;
    size_t n_names;
    /* Rings over the bytes from `decided` to `at`, indexed by the place in the stream. */
    size_t mask;
    unsigned char *bytes; /* secret memory */
    struct match *matches;
    uint32_t state;
    uint64_t at;      /* bytes that came in */
    uint64_t decided; /* no match that begins before this is still to come */
    uint64_t gone;    /* went out, as themselves or as part of a value */
    size_t n_staged;
    char *stage; /* secret memory: small pieces go out together */
};

/* ---- building */

static uint32_t find_child(const struct redact *redact, uint32_t state, unsigned char byte)
{
    if (state == 0)
        return redact->first[byte];
    uint32_t child = redact->states[state].child;
    while (child && redact->states[child].byte != byte)
        child = redact->states[child].sibling;
    return child;
}

static uint32_t add_child(struct redact *redact, uint32_t parent, unsigned char byte)
{
    uint32_t child = redact->n_states++;

    redact->states[child] = (struct state){ .sibling = redact->states[parent].child,
                                            .depth = redact->states[parent].depth + 1,
                                            .byte = byte };
    redact->states[parent].child = child;
    if (parent == 0)
        redact->first[byte] = child;
    return child;
}

/* With `crlf`, as a terminal shows it. */
static void add_value(struct redact *redact, const struct redact_secret *secret, size_t index,
                      bool crlf)
{
    uint32_t state = 0;

    for (size_t i = 0; i < secret->length; i++)
        for (int step = !(crlf && secret->value[i] == '\n'); step < 2; step++) {
            unsigned char byte = step == 0 ? '\r' : (unsigned char)secret->value[i];
            uint32_t child = find_child(redact, state, byte);

            state = child ? child : add_child(redact, state, byte);
        }
    if (redact->states[state].length == 0) { /* of two equal values, the first names it */
        redact->states[state].length = redact->states[state].depth;
        redact->states[state].secret = (uint32_t)index;
    }
}

static uint32_t next_state(const struct redact *redact, uint32_t state, unsigned char byte)
{
    for (;;) {
        uint32_t child = find_child(redact, state, byte);

        if (child || state == 0)
            return child;
        state = redact->states[state].fail;
    }
}

/* By depth: what a state falls back to is shallower. `queue` has room for all states. */
static void link_states(struct redact *redact, uint32_t *queue)
{
    size_t n = 1;

    queue[0] = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t parent = queue[i];

        for (uint32_t s = redact->states[parent].child; s; s = redact->states[s].sibling) {
            struct state *state = &redact->states[s];

            queue[n++] = s;
            state->fail = parent ? next_state(redact, redact->states[parent].fail, state->byte) : 0;
            if (state->length == 0) {
                state->length = redact->states[state->fail].length;
                state->secret = redact->states[state->fail].secret;
            }
        }
    }
}

static bool copy_names(struct redact *redact, const struct redact_secret *secrets, size_t n)
{
    redact->names = calloc(n, sizeof *redact->names);
    for (; redact->names && redact->n_names < n; redact->n_names++) {
        redact->names[redact->n_names] = strdup(secrets[redact->n_names].name);
        if (!redact->names[redact->n_names])
            return false;
    }
    return redact->names != NULL;
}

static int build(struct redact *redact, const struct redact_secret *secrets, size_t n,
                 bool as_terminal, size_t n_states, size_t longest)
{
    size_t ring = 64;

    while (ring < longest + 1)
        ring *= 2;
    redact->mask = ring - 1;
    redact->states = (struct state *)(void *)secret_new(n_states * sizeof *redact->states);
    redact->bytes = (unsigned char *)secret_new(ring);
    redact->stage = secret_new(STAGE);
    redact->matches = calloc(ring, sizeof *redact->matches);
    uint32_t *queue = calloc(n_states, sizeof *queue);
    bool is_complete = redact->states && redact->bytes && redact->stage && redact->matches &&
                       queue && copy_names(redact, secrets, n);
    if (is_complete) {
        redact->n_states = 1;
        for (size_t i = 0; i < n; i++) {
            if (secrets[i].length < REDACT_MIN)
                continue;
            add_value(redact, &secrets[i], i, false);
            if (as_terminal && memchr(secrets[i].value, '\n', secrets[i].length))
                add_value(redact, &secrets[i], i, true);
        }
        link_states(redact, queue);
    }
    free(queue);
    return is_complete ? 0 : -ENOMEM;
}

static size_t count_newlines(const struct redact_secret *secret)
{
    size_t n = 0;

    for (size_t i = 0; i < secret->length; i++)
        n += secret->value[i] == '\n';
    return n;
}

int redact_new(const struct redact_secret *secrets, size_t n, bool as_terminal, struct redact **out)
{
    size_t n_states = 1;
    size_t longest = 0;

    for (size_t i = 0; i < n; i++) {
        size_t more = as_terminal ? count_newlines(&secrets[i]) : 0;

        if (secrets[i].length < REDACT_MIN)
            continue;
        n_states += secrets[i].length + (more ? secrets[i].length + more : 0);
        if (secrets[i].length + more > longest)
            longest = secrets[i].length + more;
    }
    if (longest == 0) {
        *out = NULL;
        return 0;
    }
    struct redact *redact = calloc(1, sizeof *redact);
    if (!redact || n_states > UINT32_MAX ||
        build(redact, secrets, n, as_terminal, n_states, longest) < 0) {
        redact_free(redact);
        return -ENOMEM;
    }
    *out = redact;
    return 0;
}

void redact_free(struct redact *redact)
{
    if (!redact)
        return;
    for (size_t i = 0; i < redact->n_names; i++)
        free(redact->names[i]);
    free(redact->names);
    free(redact->matches);
    secret_free((char *)redact->states);
    secret_free((char *)redact->bytes);
    secret_free(redact->stage);
    explicit_bzero(redact, sizeof *redact); /* it knows how values begin */
    free(redact);
}

/* ---- running */

struct sink {
    redact_put *put;
    void *context;
};

static void send_stage(struct redact *redact, const struct sink *sink)
{
    if (redact->n_staged > 0)
        sink->put(sink->context, redact->stage, redact->n_staged);
    redact->n_staged = 0;
}

static void put(struct redact *redact, const struct sink *sink, const char *bytes, size_t n)
{
    if (n > STAGE - redact->n_staged)
        send_stage(redact, sink);
    if (n >= STAGE) {
        sink->put(sink->context, bytes, n);
        return;
    }
    memcpy(redact->stage + redact->n_staged, bytes, n);
    redact->n_staged += n;
}

static void put_name(struct redact *redact, const struct sink *sink, uint32_t secret)
{
    const char *name = redact->names[secret];

    put(redact, sink, "[secret ", 8);
    put(redact, sink, name, strlen(name));
    put(redact, sink, "]", 1);
}

/* Everything that begins before `end`. */
static void let_go(struct redact *redact, const struct sink *sink, uint64_t end)
{
    for (uint64_t i = redact->decided; i < end; i++) {
        const struct match *match = &redact->matches[i & redact->mask];

        if (match->length > 0 && i + match->length > redact->gone) {
            put_name(redact, sink, match->secret);
            redact->gone = i + match->length;
        }
        if (i >= redact->gone) {
            put(redact, sink, (const char *)&redact->bytes[i & redact->mask], 1);
            redact->gone = i + 1;
        }
    }
}

static void take_byte(struct redact *redact, const struct sink *sink, unsigned char byte)
{
    redact->bytes[redact->at & redact->mask] = byte;
    redact->matches[redact->at & redact->mask].length = 0;
    redact->at++;
    redact->state = next_state(redact, redact->state, byte);
    const struct state *state = &redact->states[redact->state];
    if (state->length > 0)
        redact->matches[(redact->at - state->length) & redact->mask] =
            (struct match){ state->length, state->secret };
    uint64_t decided = redact->at - state->depth;
    if (decided > redact->decided) {
        let_go(redact, sink, decided);
        redact->decided = decided;
    }
}

/* Bytes that begin nothing, while nothing is held. */
static size_t skip_plain(struct redact *redact, const struct sink *sink, const char *bytes,
                         size_t n)
{
    size_t i = 0;

    while (i < n && !redact->first[(unsigned char)bytes[i]])
        i++;
    if (i > 0)
        put(redact, sink, bytes, i);
    redact->at += i;
    redact->decided = redact->gone = redact->at;
    return i;
}

void redact_run(struct redact *redact, const char *bytes, size_t n, redact_put *put_out,
                void *context)
{
    const struct sink sink = { put_out, context };
    size_t i = 0;

    while (i < n) {
        if (redact->state == 0)
            i += skip_plain(redact, &sink, bytes + i, n - i);
        if (i < n)
            take_byte(redact, &sink, (unsigned char)bytes[i++]);
    }
    send_stage(redact, &sink);
}

bool redact_is_holding(const struct redact *redact)
{
    return redact->gone < redact->at;
}

void redact_flush(struct redact *redact, redact_put *put_out, void *context)
{
    const struct sink sink = { put_out, context };

    let_go(redact, &sink, redact->at);
    send_stage(redact, &sink);
}

void redact_end(struct redact *redact, redact_put *put_out, void *context)
{
    redact_flush(redact, put_out, context);
    redact->state = 0;
    redact->decided = redact->gone = redact->at;
}
