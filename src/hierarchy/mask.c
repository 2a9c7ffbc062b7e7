/* `mask(right)`, `mask(left)`: one character more replaced by * per level, then *.
 *
 * A character is a UTF-8 code point. Of values of different length the short ones are taken to be padded at the masked
 * side: at level l the outermost l of the longest value's characters are masked. A short value that the mask has not
 * reached stands as it is (`12` beside `123*`), and joins the values that begin with it once the mask reaches its end
 * (`12**`). That is a tree: what is kept at a level is a prefix (mask(left): a suffix) of what is kept below. */
#include "hierarchy/builders.h"

#include <string.h>

enum { MAX_CHARACTERS = 64 }; /* each is a level */

static bool starts_character(char byte) { return ((unsigned char)byte & 0xC0) != 0x80; }

uint32_t kn_count_characters(const char *bytes, size_t n)
{
    uint32_t n_characters = 0;
    for (size_t i = 0; i < n; i++) n_characters += starts_character(bytes[i]);
    return n_characters;
}

/* Bytes of the first n_characters. */
static size_t prefix_bytes(const char *bytes, size_t n, uint32_t n_characters)
{
    size_t i = 0;
    for (; i < n; i++)
        if (starts_character(bytes[i]) && n_characters-- == 0) break;
    return i;
}

static kn_status push_masked(kn_build *build, uint32_t value, uint32_t n_kept, uint32_t n_masked, bool right,
                             kn_error *err)
{
    char stars[MAX_CHARACTERS];
    kn_buffer label = {0};
    size_t n;
    const char *bytes = kn_build_value(build, value, &n);
    uint32_t n_characters = kn_count_characters(bytes, n);
    if (n_characters < n_kept) return kn_build_label(build, bytes, n, err);
    memset(stars, '*', n_masked);
    size_t split = prefix_bytes(bytes, n, right ? n_kept : n_characters - n_kept);
    if (!right) kn_buffer_append(&label, stars, n_masked);
    kn_buffer_append(&label, right ? bytes : bytes + split, right ? split : n - split);
    if (right) kn_buffer_append(&label, stars, n_masked);
    kn_status status = label.failed ? kn_error_set(err, KN_RESOURCES, "out of memory")
                                    : kn_build_label(build, label.bytes, label.n, err);
    kn_buffer_free(&label);
    return status;
}

kn_status kn_build_mask(kn_build *build, const char *arguments, kn_error *err)
{
    kn_status status = KN_OK;
    bool right = strcmp(arguments, "right") == 0;
    uint32_t longest = 1;
    if (!right && strcmp(arguments, "left") != 0)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "hierarchy"), "hierarchy %s: write mask(right) or mask(left)",
                   build->paths.name);
    for (uint32_t value = 0; value < build->n_present; value++) {
        size_t n;
        const char *bytes = kn_build_value(build, value, &n);
        uint32_t n_characters = kn_count_characters(bytes, n);
        if (n_characters > longest) longest = n_characters;
    }
    if (longest > MAX_CHARACTERS)
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.option = "hierarchy", .column = build->column->name),
                   "column %s: %s makes a level per character, but the longest value has %u, more than %d; use a "
                   "hierarchy file",
                   build->column->name, build->paths.name, longest, MAX_CHARACTERS);
    build->naming = right ? KN_NAMES_PREFIX : KN_NAMES_SUFFIX;
    build->paths.n_levels = longest + 1;
    for (uint32_t value = 0; value < build->n_present; value++) {
        KN_TRY(kn_build_leaf(build, value, err));
        for (uint32_t level = 1; level < longest; level++)
            KN_TRY(push_masked(build, value, longest - level, level, right, err));
        KN_TRY(kn_build_label(build, "*", 1, err));
    }
done:
    return status;
}
