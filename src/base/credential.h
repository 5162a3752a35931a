/*
 * credential.h - bounds of what is added to requests on behalf of a box
 *
 * Requests to http://NAME.coop.internal are sent on with a secret: policy/credentials.h says which,
 * credential/credential.c does it.
 */
#pragma once

#define CREDENTIAL_DOMAIN "coop.internal"
#define CREDENTIAL_PORT   80

#define CREDENTIAL_MOST        16   /* of one box */
#define CREDENTIAL_NAME_MOST   63   /* bytes: it is a label of a host name */
#define CREDENTIAL_VALUE_MOST  4096 /* bytes: servers refuse longer fields */
#define CREDENTIAL_HEADER_MOST 64
#define CREDENTIAL_PREFIX_MOST 64
