/* The order of spellings: by their keys, sorted by radix (least significant digit first, digits that are the same
 * everywhere skipped); runs of equal keys then by an exact comparison, or, for text, by the next eight bytes. */
#include "table/inference.h"

#include "base/bytes.h"

enum { SMALL = 512, MAX_TEXT_DEPTH = 8, DIGIT_BITS = 11, N_DIGITS = 6 };

int kn_item_compare_bytes(const kn_inference *o, const kn_item *a, const kn_item *b)
{
    size_t n_a, n_b;
    const char *bytes_a = kn_item_bytes(o, a, &n_a), *bytes_b = kn_item_bytes(o, b, &n_b);
    return kn_bytes_compare(bytes_a, n_a, bytes_b, n_b);
}

/* A spelling of a column of numbers; `plain` holds it while its marks are taken away. */
static void read_decimal(kn_decimal *out, const kn_inference *o, const kn_item *it, char plain[KN_MARKED_BYTES])
{
    size_t n;
    const char *bytes = kn_item_bytes(o, it, &n);
    if (o->marks != KN_MARKS_PLAIN) {
        n = kn_number_plain(plain, bytes, n, o->marks);
        bytes = plain;
    }
    kn_decimal_parse(out, bytes, n, true);
}

int kn_item_compare_values(const kn_inference *o, const kn_item *a, const kn_item *b)
{
    size_t n_a, n_b;
    const char *bytes_a = kn_item_bytes(o, a, &n_a), *bytes_b = kn_item_bytes(o, b, &n_b);
    if (o->type == KN_TYPE_INT || o->type == KN_TYPE_DECIMAL) {
        kn_decimal x, y;
        char plain_x[KN_MARKED_BYTES], plain_y[KN_MARKED_BYTES];
        read_decimal(&x, o, a, plain_x);
        read_decimal(&y, o, b, plain_y);
        return kn_decimal_compare(&x, &y);
    }
    if (o->type == KN_TYPE_DATE) {
        kn_moment x, y;
        kn_date_parse(&x, bytes_a, n_a, o->form);
        kn_date_parse(&y, bytes_b, n_b, o->form);
        if (x.days != y.days) return x.days < y.days ? -1 : 1;
        return x.nanoseconds < y.nanoseconds ? -1 : x.nanoseconds > y.nanoseconds;
    }
    return kn_item_compare_bytes(o, a, b);
}

static inline bool comes_before(const kn_inference *o, const kn_item *a, const kn_item *b)
{
    if (a->key != b->key) return a->key < b->key;
    int bytes = kn_item_compare_bytes(o, a, b);
    if (bytes == 0 || o->type == KN_TYPE_TEXT) return bytes < 0;
    int values = kn_item_compare_values(o, a, b);
    return values != 0 ? values < 0 : bytes < 0;
}

void kn_items_merge(const kn_inference *o, kn_item *out, const kn_item *a, size_t n_a, const kn_item *b, size_t n_b)
{
    const kn_item *end_a = a + n_a, *end_b = b + n_b;
    while (a < end_a && b < end_b) *out++ = comes_before(o, b, a) ? *b++ : *a++;
    memcpy(out, a, (size_t)(end_a - a) * sizeof *out);
    out += end_a - a;
    memcpy(out, b, (size_t)(end_b - b) * sizeof *out);
}

void kn_items_sort_small(const kn_inference *o, kn_item *items, kn_item *scratch, size_t n)
{
    if (n <= 8) {
        for (size_t i = 1; i < n; i++) {
            kn_item moving = items[i];
            size_t j = i;
            for (; j > 0 && comes_before(o, &moving, &items[j - 1]); j--) items[j] = items[j - 1];
            items[j] = moving;
        }
        return;
    }
    size_t half = n / 2, left = 0, right = half, to = 0;
    kn_items_sort_small(o, items, scratch, half);
    kn_items_sort_small(o, items + half, scratch, n - half);
    memcpy(scratch, items, half * sizeof *items);
    while (left < half && right < n)
        items[to++] = comes_before(o, &items[right], &scratch[left]) ? items[right++] : scratch[left++];
    memcpy(items + to, scratch + left, (half - left) * sizeof *items);
}

void kn_items_sort_by_key(kn_item *items, kn_item *scratch, uint32_t n)
{
    enum { MASK = (1 << DIGIT_BITS) - 1 };
    uint32_t n_keys[N_DIGITS][1 << DIGIT_BITS] = {{0}};
    for (uint32_t i = 0; i < n; i++)
        for (int digit = 0; digit < N_DIGITS; digit++) n_keys[digit][items[i].key >> (DIGIT_BITS * digit) & MASK]++;
    kn_item *from = items, *to = scratch;
    for (int digit = 0; digit < N_DIGITS; digit++) {
        uint32_t *next = n_keys[digit], sum = 0;
        int shift = DIGIT_BITS * digit;
        if (next[from[0].key >> shift & MASK] == n) continue;
        for (int i = 0; i <= MASK; i++) {
            uint32_t n_equal = next[i];
            next[i] = sum;
            sum += n_equal;
        }
        for (uint32_t i = 0; i < n; i++) to[next[from[i].key >> shift & MASK]++] = from[i];
        kn_item *swapped = from;
        from = to;
        to = swapped;
    }
    if (from != items) memcpy(items, from, n * sizeof *items);
}

uint64_t kn_item_text_key(const kn_inference *o, const kn_item *it, uint32_t depth)
{
    size_t n_bytes, skipped = o->n_prefix + (size_t)depth * 8;
    const char *bytes = kn_item_bytes(o, it, &n_bytes);
    char eight[8] = {0};
    uint64_t key;
    if (n_bytes > skipped) kn_copy_bytes(eight, bytes + skipped, n_bytes - skipped < 8 ? n_bytes - skipped : 8);
    memcpy(&key, eight, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    return key;
#else
    return __builtin_bswap64(key);
#endif
}

void kn_items_sort(const kn_inference *o, kn_item *items, kn_item *scratch, uint32_t n, uint32_t depth)
{
    if (n <= SMALL || depth >= MAX_TEXT_DEPTH) {
        kn_items_sort_small(o, items, scratch, n);
        return;
    }
    kn_items_sort_by_key(items, scratch, n);
    for (uint32_t first = 0, last; first < n; first = last) {
        uint64_t key = items[first].key;
        for (last = first + 1; last < n && items[last].key == key; last++) {
        }
        if (last - first == 1) continue;
        if (o->type == KN_TYPE_TEXT && last - first > SMALL) {
            for (uint32_t i = first; i < last; i++) items[i].key = kn_item_text_key(o, &items[i], depth + 1);
            kn_items_sort(o, items + first, scratch, last - first, depth + 1);
            for (uint32_t i = first; i < last; i++) items[i].key = key;
        } else {
            kn_items_sort_small(o, items + first, scratch, last - first);
        }
    }
}
