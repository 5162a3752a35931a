/*
 * sha256.h - SHA-256 (FIPS 180-4)
 *
 *   struct sha256 hash;
 *   sha256_init(&hash) -> sha256_update(), any number of times -> sha256_final()
 *
 * For digests that name things, such as a policy's; not hardened for use with secrets.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES    32
#define SHA256_HEX_SIZE (2 * SHA256_BYTES + 1)

struct sha256 {
    uint32_t state[8];
    uint64_t n_bytes;
    unsigned char block[64];
};

void sha256_init(struct sha256 *hash);
void sha256_update(struct sha256 *hash, const void *bytes, size_t n);
void sha256_final(struct sha256 *hash,
                  unsigned char out[SHA256_BYTES]); /* ends the use of `hash` */

/* Lower-case digits and a NUL. */
void sha256_hex(const unsigned char digest[SHA256_BYTES], char out[SHA256_HEX_SIZE]);
