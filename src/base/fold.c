/* Simple case folding of the scripts with two cases that data about people is written in. See fold.h. */
#include "base/fold.h"

#include <stdint.h>
#include <string.h>

/* Ranges of capital letters. `step` 1: each letter, 2: every second one; its small letter stands `to_small` further. */
typedef struct range {
    uint16_t first, last;
    uint8_t step;
    int16_t to_small;
} range;

/* clang-format off */
static const range RANGES[] = {
    {'A', 'Z', 1, 32},          {0x00B5, 0x00B5, 1, 775},   {0x00C0, 0x00D6, 1, 32},    {0x00D8, 0x00DE, 1, 32},
    {0x0100, 0x012E, 2, 1},     {0x0132, 0x0136, 2, 1},     {0x0139, 0x0147, 2, 1},     {0x014A, 0x0176, 2, 1},
    {0x0178, 0x0178, 1, -121},  {0x0179, 0x017D, 2, 1},     {0x017F, 0x017F, 1, -268},  {0x018F, 0x018F, 1, 202},
    {0x01A0, 0x01A4, 2, 1},     {0x01AF, 0x01AF, 1, 1},     {0x01CD, 0x01DB, 2, 1},
    {0x01DE, 0x01EE, 2, 1},     {0x01F8, 0x021E, 2, 1},     {0x0222, 0x0232, 2, 1},     {0x0246, 0x024E, 2, 1},
    {0x0386, 0x0386, 1, 38},    {0x0388, 0x038A, 1, 37},    {0x038C, 0x038C, 1, 64},    {0x038E, 0x038F, 1, 63},
    {0x0391, 0x03A1, 1, 32},    {0x03A3, 0x03AB, 1, 32},    {0x03C2, 0x03C2, 1, 1},     {0x03D8, 0x03EE, 2, 1},
    {0x0400, 0x040F, 1, 80},    {0x0410, 0x042F, 1, 32},    {0x0460, 0x0480, 2, 1},     {0x048A, 0x04BE, 2, 1},
    {0x04C0, 0x04C0, 1, 15},    {0x04C1, 0x04CD, 2, 1},     {0x04D0, 0x052E, 2, 1},     {0x0531, 0x0556, 1, 48},
    {0x1E00, 0x1E94, 2, 1},     {0x1E9E, 0x1E9E, 1, -7615}, {0x1EA0, 0x1EFE, 2, 1},     {0x212A, 0x212A, 1, -8383},
    {0x212B, 0x212B, 1, -8262},
};
/* clang-format on */

static uint32_t small_letter(uint32_t letter)
{
    for (size_t i = 0; i < sizeof RANGES / sizeof *RANGES && RANGES[i].first <= letter; i++)
        if (letter <= RANGES[i].last && (letter - RANGES[i].first) % RANGES[i].step == 0)
            return (uint32_t)((int32_t)letter + RANGES[i].to_small);
    return letter;
}

enum { RAW = 1 << 30 }; /* a byte that belongs to no letter above, as it is */

/* The next character, folded; moves *at behind it. */
static uint32_t next_letter(const unsigned char **at, const unsigned char *end)
{
    const unsigned char *p = *at;
    size_t n = (size_t)(end - p);
    if (p[0] < 0x80) {
        *at = p + 1;
        return small_letter(p[0]);
    }
    if (n >= 2 && p[0] >= 0xC2 && p[0] <= 0xDF && (p[1] & 0xC0) == 0x80) {
        *at = p + 2;
        return small_letter((uint32_t)(p[0] & 0x1F) << 6 | (p[1] & 0x3F));
    }
    if (n >= 3 && p[0] >= 0xE1 && p[0] <= 0xEC && (p[1] & 0xC0) == 0x80 && (p[2] & 0xC0) == 0x80) {
        *at = p + 3;
        return small_letter((uint32_t)(p[0] & 0x0F) << 12 | (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F));
    }
    *at = p + 1;
    return RAW | p[0];
}

static size_t write_letter(char *out, uint32_t letter)
{
    if (letter < 0x80 || (letter & RAW) != 0) {
        out[0] = (char)(letter & 0xFF);
        return 1;
    }
    if (letter < 0x800) {
        out[0] = (char)(0xC0 | letter >> 6);
        out[1] = (char)(0x80 | (letter & 0x3F));
        return 2;
    }
    out[0] = (char)(0xE0 | letter >> 12);
    out[1] = (char)(0x80 | (letter >> 6 & 0x3F));
    out[2] = (char)(0x80 | (letter & 0x3F));
    return 3;
}

/* Bytes of the blank that the text starts, or ends, with; 0: none. */
static size_t blank_bytes(const char *bytes, size_t n_bytes, bool at_end)
{
    char c = n_bytes == 0 ? 'x' : at_end ? bytes[n_bytes - 1] : bytes[0];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') return 1;
    return n_bytes >= 2 && memcmp(at_end ? bytes + n_bytes - 2 : bytes, "\xC2\xA0", 2) == 0 ? 2 : 0;
}

static void trim(const char **bytes, size_t *n_bytes)
{
    size_t blank;
    while ((blank = blank_bytes(*bytes, *n_bytes, true)) > 0) *n_bytes -= blank;
    for (; (blank = blank_bytes(*bytes, *n_bytes, false)) > 0; *n_bytes -= blank) *bytes += blank;
}

size_t kn_fold(char *out, const char *bytes, size_t n_bytes)
{
    size_t n = 0;
    trim(&bytes, &n_bytes);
    const unsigned char *at = (const unsigned char *)bytes, *end = at + n_bytes;
    while (at < end) n += write_letter(out + n, next_letter(&at, end));
    return n;
}

bool kn_fold_equal(const char *a, size_t n_a, const char *b, size_t n_b)
{
    trim(&a, &n_a);
    trim(&b, &n_b);
    const unsigned char *x = (const unsigned char *)a, *y = (const unsigned char *)b, *end_x = x + n_a,
                        *end_y = y + n_b;
    while (x < end_x && y < end_y)
        if (next_letter(&x, end_x) != next_letter(&y, end_y)) return false;
    return x == end_x && y == end_y;
}
