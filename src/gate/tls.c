#include "tls.h"

#include <stdint.h>
#include <string.h>

#include "net/wire/tls_answer.h"
#include "net/wire/tls_hello.h"

#define RECORD_HEADER 5
#define TYPE_HELLO    1

enum { RECORD_CHANGE_CIPHER = 20, RECORD_ALERT, RECORD_HANDSHAKE, RECORD_DATA };

static bool is_up(const struct gate_connection *connection, const struct gate_flow *flow)
{
    return flow == &connection->up;
}

static bool refuse(struct gate *gate, struct gate_connection *connection, const char *detail,
                   const char *why)
{
    gate_connection_record(gate, connection, GATE_EVENT_HEAD, -1, 0, detail);
    gate_refuse(gate, connection, why);
    return false;
}

/* ---- hellos */

/* Without a name, or with a second one that nobody can read, only the rule is left to say. */
static bool may_hide(const struct gate *gate, const struct gate_connection *connection)
{
    switch (gate->rules.unnamed) {
    case GATE_UNNAMED_ALWAYS:
        return true;
    case GATE_UNNAMED_NEVER:
        return false;
    case GATE_UNNAMED_EXACT:
        break;
    }
    return connection->is_exact;
}

bool gate_tls_judge(struct gate *gate, struct gate_connection *connection,
                    const struct tls_hello *hello)
{
    if (hello->has_name && strcmp(hello->name, connection->name->text) != 0)
        return refuse(gate, connection, hello->name, "the TLS hello names another host");
    if (!hello->has_name && !may_hide(gate, connection))
        return refuse(gate, connection, "(no name)", "the TLS hello names no host");
    if (hello->has_ech && !may_hide(gate, connection))
        return refuse(gate, connection, "(encrypted)", "the TLS hello hides which host it is for");
    return true;
}

void gate_tls_begin(struct gate_connection *connection)
{
    connection->tls.stage = GATE_TLS_ASKED;
}

/* ---- what comes from the client after it */

/* Bytes that go on as they are here, and then that stage. */
static ssize_t judged(struct gate_connection *connection, size_t n, enum gate_tls_stage next)
{
    connection->tls.n_judged = (uint16_t)n;
    connection->tls.stage = (uint8_t)next;
    return (ssize_t)n;
}

static ssize_t allow_hello(struct gate *gate, struct gate_connection *connection,
                           const uint8_t *bytes, size_t n)
{
    struct tls_hello hello;

    switch (tls_hello_parse(bytes, n, &hello)) {
    case TLS_HELLO_MORE:
        return 0;
    case TLS_HELLO_COMPLETE:
        return gate_tls_judge(gate, connection, &hello)
                   ? judged(connection, hello.length, GATE_TLS_OPEN)
                   : -1;
    case TLS_HELLO_NOT_TLS:
    case TLS_HELLO_BAD:
        break;
    }
    (void)refuse(gate, connection, hello.why ? hello.why : "", "the TLS hello cannot be read");
    return -1;
}

/* The next record: of another kind, a hello, or the key that TLS 1.2 sends where no other is wanted. */
static ssize_t allow_record(struct gate *gate, struct gate_connection *connection,
                            const uint8_t *bytes, size_t n)
{
    if (bytes[0] == RECORD_HANDSHAKE && n > RECORD_HEADER && bytes[RECORD_HEADER] != TYPE_HELLO)
        return judged(connection, RECORD_HEADER + 1, GATE_TLS_OPEN);
    if (bytes[0] == RECORD_HANDSHAKE)
        return allow_hello(gate, connection, bytes, n);
    if (bytes[0] < RECORD_CHANGE_CIPHER || bytes[0] > RECORD_DATA) {
        (void)refuse(gate, connection, "(not TLS)", "on port 443 only TLS is allowed");
        return -1;
    }
    if (n < RECORD_HEADER)
        return 0;
    connection->tls.n_body = (uint16_t)(bytes[3] << 8 | bytes[4]);
    return judged(connection, RECORD_HEADER, GATE_TLS_REPEAT);
}

static ssize_t allow_up(struct gate *gate, struct gate_connection *connection, const char *bytes,
                        size_t n)
{
    struct gate_tls *tls = &connection->tls;

    switch ((enum gate_tls_stage)tls->stage) {
    case GATE_TLS_OPEN:
        break;
    case GATE_TLS_ASKED:
        return 0;
    case GATE_TLS_REPEAT:
        if (tls->n_body == 0)
            return allow_record(gate, connection, (const uint8_t *)bytes, n);
        return (ssize_t)(n < tls->n_body ? n : tls->n_body);
    }
    return (ssize_t)n;
}

/* ---- what the server answers */

static void turn(struct gate_connection *connection, enum gate_tls_stage stage)
{
    connection->tls.stage = (uint8_t)stage;
    connection->up.is_readable = true; /* it has waited for this */
}

static ssize_t allow_down(struct gate_connection *connection, const struct gate_flow *flow,
                          const char *bytes, size_t n)
{
    if (connection->tls.stage != GATE_TLS_ASKED)
        return (ssize_t)n;
    switch (tls_answer_read((const uint8_t *)bytes, n)) {
    case TLS_ANSWER_MORE:
        if (!flow->is_ending)
            return 0;
        turn(connection, GATE_TLS_REPEAT);
        break;
    case TLS_ANSWER_FINAL:
        turn(connection, GATE_TLS_OPEN);
        break;
    case TLS_ANSWER_MAY_REPEAT:
        turn(connection, GATE_TLS_REPEAT);
        break;
    }
    return (ssize_t)n;
}

/* ---- */

ssize_t gate_tls_allow(struct gate *gate, struct gate_connection *connection,
                       struct gate_flow *flow, const char *bytes, size_t n)
{
    return is_up(connection, flow) ? allow_up(gate, connection, bytes, n)
                                   : allow_down(connection, flow, bytes, n);
}

size_t gate_tls_blind(const struct gate_connection *connection, const struct gate_flow *flow)
{
    const struct gate_tls *tls = &connection->tls;

    if (tls->stage == GATE_TLS_OPEN)
        return SIZE_MAX;
    if (tls->stage == GATE_TLS_ASKED)
        return 0;
    return is_up(connection, flow) ? tls->n_body : SIZE_MAX;
}

bool gate_tls_has_judged(const struct gate_connection *connection, const struct gate_flow *flow)
{
    return is_up(connection, flow) && connection->tls.n_judged > 0;
}

void gate_tls_passed(struct gate_connection *connection, const struct gate_flow *flow, size_t n)
{
    struct gate_tls *tls = &connection->tls;

    if (!is_up(connection, flow))
        return;
    if (tls->n_judged)
        tls->n_judged = 0;
    else if (tls->stage == GATE_TLS_REPEAT)
        tls->n_body -= (uint16_t)n;
}

void gate_tls_ended(struct gate_connection *connection, const struct gate_flow *flow)
{
    if (!is_up(connection, flow) && connection->tls.stage == GATE_TLS_ASKED)
        turn(connection, GATE_TLS_REPEAT); /* it was no answer */
}
