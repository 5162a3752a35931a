/*
 * credential.h - requests that another program sends on, with a secret
 *
 * NAME.coop.internal is a name like others until its head has been read and the host behind it is
 * reached. Then both sockets go to coop-credential, and the gate has nothing more to do with them:
 * it never has the secret, nor what is said over TLS.
 */
#pragma once

#include "gate/connection.h"

/* Waits for what coop-credential has to tell, where the rules name credentials. 0 or -errno. */
int gate_credential_serve(struct gate *gate);

/* From now on the connection is for the host behind its name. */
void gate_credential_aim(struct gate *gate, struct gate_connection *connection);

/* The host is reached. The connection is gone afterwards. */
void gate_credential_hand_over(struct gate *gate, struct gate_connection *connection);

/* The rules have changed: requests to hosts that are denied now end. */
void gate_credential_judge_all(struct gate *gate);
