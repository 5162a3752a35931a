#include "find_bytes.h"

#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

static bool is_letter(unsigned char c)
{
    return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* How common a byte is in sources and texts: a guess is enough. */
static unsigned commonness(unsigned char c)
{
    static const char common[] = " etaoinsrlcdpumfhgby";
    const char *at = c ? strchr(common, c) : NULL;

    if (at)
        return 100 - 3 * (unsigned)(at - common);
    if (c >= 'a' && c <= 'z')
        return 30;
    if (c == '_' || c == '(' || c == ')' || c == ',' || c == '.' || c == ';' || c == '\t')
        return 35;
    if ((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
        return 20;
    return c < 0x80 ? 15 : 10;
}

void find_bytes_init(struct find_bytes *find, const void *bytes, size_t n, bool folds)
{
    const unsigned char *from = bytes;

    *find = (struct find_bytes){ .n = n };
    for (size_t i = 0; i < n; i++) {
        bool is_folded = folds && is_letter(from[i]);

        find->masks[i] = is_folded ? 0x20 : 0;
        find->bytes[i] = from[i] | find->masks[i];
    }
    for (size_t i = 1; i < n; i++) {
        if (commonness(find->bytes[i]) < commonness(find->bytes[find->rarer]))
            find->rarer = i;
    }
    find->rare = n > 1 && find->rarer == 0 ? 1 : 0;
    for (size_t i = 0; i < n; i++) {
        if (i != find->rarer && commonness(find->bytes[i]) < commonness(find->bytes[find->rare]))
            find->rare = i;
    }
}

static bool is_at(const struct find_bytes *find, const unsigned char *at)
{
    for (size_t i = 0; i < find->n; i++) {
        if ((at[i] | find->masks[i]) != find->bytes[i])
            return false;
    }
    return true;
}

#ifdef __SSE2__
/* As far as sixteen places at a time go; *from is where the rest begins. */
static size_t find_by_sixteen(const struct find_bytes *find, const unsigned char *text, size_t n,
                              size_t *from)
{
    const __m128i rare = _mm_set1_epi8((char)find->bytes[find->rare]);
    const __m128i rarer = _mm_set1_epi8((char)find->bytes[find->rarer]);
    const __m128i rare_mask = _mm_set1_epi8((char)find->masks[find->rare]);
    const __m128i rarer_mask = _mm_set1_epi8((char)find->masks[find->rarer]);
    size_t i = *from;

    for (; n - i >= find->n + 15; i += 16) {
        __m128i a = _mm_loadu_si128((const __m128i *)(const void *)(text + i + find->rare));
        __m128i b = _mm_loadu_si128((const __m128i *)(const void *)(text + i + find->rarer));
        __m128i both = _mm_and_si128(_mm_cmpeq_epi8(_mm_or_si128(a, rare_mask), rare),
                                     _mm_cmpeq_epi8(_mm_or_si128(b, rarer_mask), rarer));

        for (unsigned bits = (unsigned)_mm_movemask_epi8(both); bits; bits &= bits - 1) {
            size_t at = i + (unsigned)__builtin_ctz(bits);
            if (is_at(find, text + at))
                return at;
        }
    }
    *from = i;
    return FIND_BYTES_NOT;
}
#endif

size_t find_bytes_in(const struct find_bytes *find, const char *text, size_t n, size_t from)
{
    const unsigned char *bytes = (const unsigned char *)text;

    if (from > n || n - from < find->n)
        return FIND_BYTES_NOT;
#ifdef __SSE2__
    size_t found = find_by_sixteen(find, bytes, n, &from);
    if (found != FIND_BYTES_NOT)
        return found;
#endif
    for (; n - from >= find->n; from++) {
        if ((bytes[from + find->rarer] | find->masks[find->rarer]) == find->bytes[find->rarer] &&
            is_at(find, bytes + from))
            return from;
    }
    return FIND_BYTES_NOT;
}

size_t count_bytes(const char *text, size_t n, char c)
{
    size_t count = 0;
    size_t i = 0;

#ifdef __SSE2__
    const __m128i wanted = _mm_set1_epi8(c);
    for (; n - i >= 16; i += 16) {
        __m128i here = _mm_loadu_si128((const __m128i *)(const void *)(text + i));
        count +=
            (unsigned)__builtin_popcount((unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(here, wanted)));
    }
#endif
    for (; i < n; i++)
        count += text[i] == c;
    return count;
}
