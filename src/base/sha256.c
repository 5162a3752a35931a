#include "sha256.h"

#include <string.h>

/* Names and letters are those of FIPS 180-4, section 6.2. */
static const uint32_t k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate_right(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static uint32_t load_big_endian(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void expand(const unsigned char block[64], uint32_t w[64])
{
    for (size_t t = 0; t < 16; t++)
        w[t] = load_big_endian(block + 4 * t);
    for (size_t t = 16; t < 64; t++) {
        uint32_t a = w[t - 15];
        uint32_t b = w[t - 2];

        w[t] = w[t - 16] + (rotate_right(a, 7) ^ rotate_right(a, 18) ^ a >> 3) + w[t - 7] +
               (rotate_right(b, 17) ^ rotate_right(b, 19) ^ b >> 10);
    }
}

/* One step. The letters change their places from step to step, instead of their values. */
#define STEP(a, b, c, d, e, f, g, h, t)                                          \
    do {                                                                         \
        (h) += (((e) & (f)) ^ (~(e) & (g))) + k[t] + w[t] +                      \
               (rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25)); \
        (d) += (h);                                                              \
        (h) += (((a) & (b)) ^ ((a) & (c)) ^ ((b) & (c))) +                       \
               (rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22)); \
    } while (0)

static void compress(uint32_t state[8], const unsigned char block[64])
{
    uint32_t w[64];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];

    expand(block, w);
    for (size_t t = 0; t < 64; t += 8) {
        STEP(a, b, c, d, e, f, g, h, t);
        STEP(h, a, b, c, d, e, f, g, t + 1);
        STEP(g, h, a, b, c, d, e, f, t + 2);
        STEP(f, g, h, a, b, c, d, e, t + 3);
        STEP(e, f, g, h, a, b, c, d, t + 4);
        STEP(d, e, f, g, h, a, b, c, t + 5);
        STEP(c, d, e, f, g, h, a, b, t + 6);
        STEP(b, c, d, e, f, g, h, a, t + 7);
    }
    const uint32_t sums[8] = { a, b, c, d, e, f, g, h };
    for (size_t i = 0; i < 8; i++)
        state[i] += sums[i];
}

void sha256_init(struct sha256 *hash)
{
    *hash = (struct sha256){ .state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                        0x9b05688c, 0x1f83d9ab, 0x5be0cd19 } };
}

void sha256_update(struct sha256 *hash, const void *bytes, size_t n)
{
    const unsigned char *from = bytes;
    size_t n_held = hash->n_bytes % sizeof hash->block;

    if (n == 0)
        return;
    hash->n_bytes += n;
    if (n_held > 0) {
        size_t room = sizeof hash->block - n_held;
        size_t n_taken = n < room ? n : room;

        memcpy(hash->block + n_held, from, n_taken);
        from += n_taken;
        n -= n_taken;
        if (n_taken < room)
            return;
        compress(hash->state, hash->block);
    }
    for (; n >= sizeof hash->block; n -= sizeof hash->block, from += sizeof hash->block)
        compress(hash->state, from);
    memcpy(hash->block, from, n);
}

void sha256_final(struct sha256 *hash, unsigned char out[SHA256_BYTES])
{
    static const unsigned char padding[64] = { 0x80 };
    uint64_t n_bits = hash->n_bytes * 8;
    size_t n_held = hash->n_bytes % 64;
    unsigned char length[8];

    for (size_t i = 0; i < 8; i++)
        length[i] = (unsigned char)(n_bits >> (56 - 8 * i));
    sha256_update(hash, padding, n_held < 56 ? 56 - n_held : 120 - n_held);
    sha256_update(hash, length, sizeof length);
    for (size_t i = 0; i < SHA256_BYTES; i++)
        out[i] = (unsigned char)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_hex(const unsigned char digest[SHA256_BYTES], char out[SHA256_HEX_SIZE])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < SHA256_BYTES; i++) {
        out[2 * i] = digits[digest[i] >> 4];
        out[2 * i + 1] = digits[digest[i] & 0xF];
    }
    out[2 * SHA256_BYTES] = '\0';
}
