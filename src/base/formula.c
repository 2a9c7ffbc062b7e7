/* Which texts are formulas: see formula.h. */
#include "base/formula.h"

#include <string.h>

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9') at++;
    return at;
}

/* [+-] digits [. digits] [e [+-] digits] */
static bool is_plain_number(const char *at, const char *end)
{
    if (at < end && (*at == '+' || *at == '-')) at++;
    const char *digits = at;
    at = skip_digits(at, end);
    size_t n_digits = (size_t)(at - digits);
    if (at < end && *at == '.') {
        const char *decimals = ++at;
        at = skip_digits(at, end);
        n_digits += (size_t)(at - decimals);
    }
    if (n_digits == 0) return false;
    if (at < end && (*at == 'e' || *at == 'E')) {
        if (++at < end && (*at == '+' || *at == '-')) at++;
        digits = at;
        at = skip_digits(at, end);
        if (at == digits) return false;
    }
    return at == end;
}

bool kn_is_formula(const char *bytes, size_t n_bytes)
{
    const char *end = bytes + n_bytes;
    while (bytes < end && *bytes == '\'') bytes++;
    if (end - bytes < 2 || memchr("=+-@\t\r\n", *bytes, 7) == NULL) return false;
    return !is_plain_number(bytes, end);
}

bool kn_is_bare_formula(const char *bytes, size_t n_bytes)
{
    return n_bytes > 0 && *bytes != '\'' && kn_is_formula(bytes, n_bytes);
}

const char *kn_formula_unguard(const char *bytes, size_t *n_bytes)
{
    if (*n_bytes < 2 || *bytes != '\'' || !kn_is_formula(bytes + 1, *n_bytes - 1)) return bytes;
    --*n_bytes;
    return bytes + 1;
}
