/*
 * connection.h - one connection, from the program that asked for it to the host that it meant
 *
 *   gate_connection_new() -> a stage -> another ... -> relay -> the end
 *
 * The near side asked (a program in the box; a program of the host where a port of the box is
 * published), the far side is asked. Both sockets are registered once, for every change; what the
 * kernel said of them is remembered in the flows. The functions that begin a stage, and those that
 * end a connection, may free it: nobody touches it afterwards.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "gate/gate.h"
#include "net/wire/http_stream.h"

enum gate_stage {
    GATE_STAGE_NEW,
    GATE_STAGE_PROXY, /* reads where a client of the proxy wants to go */
    GATE_STAGE_HEAD,  /* reads whom the client means */
    GATE_STAGE_DIAL,  /* finds and reaches the host */
    GATE_STAGE_RELAY,
    GATE_STAGE_REFUSE, /* has said why, and waits for the client to hang up */
    GATE_STAGE_DNS,    /* questions over TCP */
    GATE_N_STAGES
};

/* What the near side waits for before it says anything: an answer of the proxy. */
enum gate_reply { GATE_REPLY_NONE, GATE_REPLY_HTTP, GATE_REPLY_SOCKS };

/* One direction. */
struct gate_flow {
    struct gate_pipe *pipe;
    uint32_t in_pipe; /* bytes */
    uint32_t copied;  /* so far, until a pipe is worth it */
    bool is_readable;
    bool is_writable;
    bool is_ending;  /* something other than bytes has come: to be read until it says so */
    bool is_broken;  /* the side it comes from has failed */
    bool needs_copy; /* a pipe does not get past an urgent byte, and takes it for the end */
    bool has_ended;  /* all has been read */
    bool is_shut;    /* and the other side was told */
};

/* What was judged and has not gone on yet. It is kept here, because what lies in a socket of the box
 * can be memory of the box: sendfile() sends pages of a file, and the file may change. */
struct gate_held {
    uint32_t n, at;
    char bytes[];
};

/* A client that speaks TLS: a second hello must be for the same host as the first. */
enum gate_tls_stage {
    GATE_TLS_OPEN,  /* nothing is looked at, or no TLS is spoken */
    GATE_TLS_ASKED, /* a hello has gone on, and the server has not answered */
    GATE_TLS_REPEAT /* its answer may want another hello */
};

struct gate_tls {
    uint8_t stage;
    uint16_t n_judged; /* bytes that were judged, and go on in the same step */
    uint16_t n_body;   /* of a record whose header has gone on */
};

/* A client that speaks HTTP: every request must be for the same host. */
struct gate_http {
    struct http_stream stream;
    uint32_t n_passed; /* bytes that were judged, and go on in the same step */
    bool has_request;  /* one at least has gone on */
    bool is_asking;    /* for another protocol; the answer is awaited */
};

struct gate_connection {
    struct loop_dead dead;
    struct loop_source near, far;
    struct loop_timer timer;
    struct loop_task turn;
    struct gate_connection *previous, *next;
    struct gate_flow up, down; /* near to far, far to near */
    struct gate_name *name;    /* whom it is for; NULL: an address, or a port of this host */
    const struct gate_credential_rule *credential; /* NULL: the gate itself serves it */
    struct gate_http *http;                        /* NULL: it speaks none */
    struct gate_held *held;                        /* goes to the far side first; NULL: nothing */
    struct gate_dial *dial;
    uint8_t address[ADDRESS_BYTES];
    uint16_t port;
    struct gate_tls tls;
    uint8_t stage;
    uint8_t reply;
    bool is_ruled;     /* it is here because the rules allow it */
    bool is_exact;     /* a rule names it itself */
    bool is_tls;       /* the client has said so */
    bool is_near_gone; /* the client has given up */
    uint8_t proxy_step;
    uint32_t n_drained;
};

/* Takes the descriptor. NULL: it was turned away. */
struct gate_connection *gate_connection_new(struct gate *gate, int fd);

/* A program in the box has connected; decides and goes on. */
void gate_connection_accepted(struct gate *gate, struct gate_listener *listener, int fd);

/* To the name or address and the port that are set, if a rule allows it. */
void gate_connection_go(struct gate *gate, struct gate_connection *connection);

/* The rules have changed: those that they do not allow any more end. */
void gate_connection_judge_all(struct gate *gate);

/* Gives this up and turns to that: nothing of the old stage is left. */
void gate_connection_enter(struct gate *gate, struct gate_connection *connection,
                           enum gate_stage stage);

/* Ends it as if both hosts had hung up; or with a reset for both. */
void gate_connection_close(struct gate *gate, struct gate_connection *connection);
void gate_connection_reset(struct gate *gate, struct gate_connection *connection);

/* An event of this connection: its name or address and its port. `detail` may be NULL. */
void gate_connection_record(struct gate *gate, const struct gate_connection *connection,
                            enum gate_event_kind kind, int32_t rule, int error, const char *detail);

/* Without waiting. */
void gate_connection_reset_fd(int fd);

/* Bytes that were peeked at are read and forgotten. */
void gate_connection_consume(int fd, size_t n);

/* Bytes that were judged, to be sent to the far side before all others. False: no memory. */
bool gate_connection_hold(struct gate_connection *connection, const char *bytes, size_t n);

/* ---- the stages */

void gate_proxy_begin(struct gate *gate, struct gate_connection *connection);
void gate_head_begin(struct gate *gate, struct gate_connection *connection);
void gate_dial_begin(struct gate *gate, struct gate_connection *connection);
void gate_relay_begin(struct gate *gate, struct gate_connection *connection);
void gate_dns_begin(struct gate *gate, struct gate_connection *connection);

/* Something has happened to a connection in that stage. */
void gate_proxy_step(struct gate *gate, struct gate_connection *connection);
void gate_head_step(struct gate *gate, struct gate_connection *connection);
void gate_dial_step(struct gate *gate, struct gate_connection *connection);
void gate_relay_step(struct gate *gate, struct gate_connection *connection);
void gate_refuse_step(struct gate *gate, struct gate_connection *connection);
void gate_dns_step(struct gate *gate, struct gate_connection *connection);

/* ---- refusals that say why: gate/refuse.c */

/* As a TLS alert, an HTTP answer, an answer of the proxy, or where the client would understand
 * none of these, a reset. `why` is a sentence. */
void gate_refuse(struct gate *gate, struct gate_connection *connection, const char *why);

/* Why the rules do not let it pass. */
const char *gate_refuse_sentence(enum host_verdict verdict);

/* The host cannot be reached: told where the client asked the proxy, else a reset. */
void gate_refuse_failed(struct gate *gate, struct gate_connection *connection, int errnum);

/* The answer of the proxy, where one is due: what was asked for is done, or an errno says why not. */
void gate_reply(struct gate_connection *connection, int errnum);
