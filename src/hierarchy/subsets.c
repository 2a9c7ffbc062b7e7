/* Collections of subsets from their lines; see the header. Members are rows of bits; what the closure of a member and
 * one more value is stands in a table, so that a search looks it up. */
#include "hierarchy/subsets.h"

#include "base/hash.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void kn_subsets_free(kn_subsets *subsets)
{
    if (subsets == NULL) return;
    kn_free(subsets->bits);
    kn_free(subsets->start);
    kn_free(subsets->codes);
    kn_free(subsets->with);
    kn_free(subsets->label);
    kn_tree_free(subsets->lines);
    kn_free(subsets);
}

/* What is needed while a collection is made. */
typedef struct making {
    const kn_paths *paths;
    kn_subsets *made;
    uint32_t *code_of_label, *member_of_label; /* KN_NONE: none */
    uint32_t *label_of_member, *row_of_member; /* of named ones, by member - n_codes; the row where it first stands */
    uint32_t *slots, n_slots;                  /* members by their bits */
} making;

static uint64_t *bits_of(const kn_subsets *s, uint32_t member) { return s->bits + (size_t)member * s->n_words; }

static bool has_code(const kn_subsets *s, uint32_t member, uint32_t code)
{
    return bits_of(s, member)[code / 64] >> (code % 64) & 1;
}

/* --- Members ----------------------------------------------------------------------------------------------------- */

/* One line per value, and no label that is a value as well. */
static kn_status number_members(making *m, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_paths *paths = m->paths;
    const uint32_t n_rows = kn_paths_rows(paths), top = paths->n_levels - 1;
    char value[KN_SHOWN_BYTES];
    uint32_t n_named = 0;
    memset(m->code_of_label, 0xFF, paths->ends.n * sizeof *m->code_of_label);
    memset(m->member_of_label, 0xFF, paths->ends.n * sizeof *m->member_of_label);
    for (uint32_t row = 0; row < n_rows; row++) {
        uint32_t *code = &m->code_of_label[kn_paths_at(paths, row, 0)];
        if (*code != KN_NONE)
            KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = paths->name, .line = kn_paths_line(paths, row)),
                       "%s, line %llu: %s has a line already, line %llu; one line names all subsets that hold a value",
                       paths->name, kn_paths_line(paths, row), kn_paths_shown(value, paths, kn_paths_at(paths, row, 0)),
                       kn_paths_line(paths, *code));
        *code = row;
    }
    for (uint32_t row = 0; row < n_rows; row++)
        for (uint32_t l = 1; l < top; l++) {
            const uint32_t label = kn_paths_at(paths, row, l);
            if (m->code_of_label[label] == row || m->member_of_label[label] != KN_NONE) continue;
            if (m->code_of_label[label] != KN_NONE)
                KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = paths->name, .line = kn_paths_line(paths, row)),
                           "%s, line %llu: the label %s is a value, too, in line %llu; rename it", paths->name,
                           kn_paths_line(paths, row), kn_paths_shown(value, paths, label),
                           kn_paths_line(paths, m->code_of_label[label]));
            m->member_of_label[label] = n_rows + n_named;
            m->row_of_member[n_named] = row;
            m->label_of_member[n_named++] = label;
            if (n_rows + n_named >= KN_MAX_SUBSETS)
                KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = paths->name), "%s: more than %d values and subsets", paths->name,
                           KN_MAX_SUBSETS);
        }
    m->made->n_codes = n_rows;
    m->made->root = n_rows + n_named;
    m->made->n_members = m->made->root + 1;
done:
    return status;
}

static kn_status fill_bits(making *m, kn_error *err)
{
    kn_status status = KN_OK;
    kn_subsets *s = m->made;
    s->n_words = s->n_codes / 64 + 1;
    KN_NEW(s->bits, (size_t)s->n_members * s->n_words);
    for (uint32_t code = 0; code < s->n_codes; code++) {
        const uint64_t bit = (uint64_t)1 << (code % 64);
        bits_of(s, code)[code / 64] |= bit;
        bits_of(s, s->root)[code / 64] |= bit;
        for (uint32_t l = 1; l + 1 < m->paths->n_levels; l++) {
            const uint32_t member = m->member_of_label[kn_paths_at(m->paths, code, l)];
            if (member != KN_NONE) bits_of(s, member)[code / 64] |= bit;
        }
    }
    KN_NEW(s->start, (size_t)s->n_members + 1);
    for (uint32_t member = 0; member < s->n_members; member++) {
        s->start[member + 1] = s->start[member];
        for (uint32_t w = 0; w < s->n_words; w++)
            s->start[member + 1] += (uint32_t)__builtin_popcountll(bits_of(s, member)[w]);
    }
    KN_NEW(s->codes, s->start[s->n_members]);
    for (uint32_t member = 0, n = 0; member < s->n_members; member++)
        for (uint32_t code = 0; code < s->n_codes; code++)
            if (has_code(s, member, code)) s->codes[n++] = code;
done:
    return status;
}

/* --- One smallest member ----------------------------------------------------------------------------------------- */

static uint32_t find_slot(const making *m, const uint64_t *bits)
{
    const size_t n_bytes = m->made->n_words * sizeof *bits;
    uint32_t slot = (uint32_t)kn_hash_bytes(bits, n_bytes) & (m->n_slots - 1);
    while (m->slots[slot] != KN_NONE && memcmp(bits_of(m->made, m->slots[slot]), bits, n_bytes) != 0)
        slot = (slot + 1) & (m->n_slots - 1);
    return slot;
}

/* A label for one value, or for all, is another word for what is there: nobody needs it, but it can be read. */
static kn_status index_members(making *m, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_subsets *s = m->made;
    char a[KN_SHOWN_BYTES], b[KN_SHOWN_BYTES];
    m->n_slots = 4;
    while (m->n_slots < 2 * s->n_members) m->n_slots *= 2;
    KN_NEW_RAW(m->slots, m->n_slots);
    memset(m->slots, 0xFF, m->n_slots * sizeof *m->slots);
    for (uint32_t code = 0; code < s->n_codes; code++) m->slots[find_slot(m, bits_of(s, code))] = code;
    m->slots[find_slot(m, bits_of(s, s->root))] = s->n_codes > 1 ? s->root : 0;
    for (uint32_t member = s->n_codes; member < s->root; member++) {
        uint32_t *there = &m->slots[find_slot(m, bits_of(s, member))];
        if (*there == KN_NONE) *there = member;
        else if (*there >= s->n_codes && *there != s->root)
            KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = m->paths->name),
                       "%s: the labels %s (line %llu) and %s (line %llu) hold the same values; one subset has one name",
                       m->paths->name, kn_paths_shown(a, m->paths, m->label_of_member[*there - s->n_codes]),
                       kn_paths_line(m->paths, m->row_of_member[*there - s->n_codes]),
                       kn_paths_shown(b, m->paths, m->label_of_member[member - s->n_codes]),
                       kn_paths_line(m->paths, m->row_of_member[member - s->n_codes]));
    }
done:
    return status;
}

static kn_status two_smallest(const making *m, uint32_t x, uint32_t y, const uint64_t *common, kn_error *err)
{
    const kn_subsets *s = m->made;
    const kn_paths *paths = m->paths;
    char a[KN_SHOWN_BYTES], b[KN_SHOWN_BYTES], first[KN_SHOWN_BYTES], second[KN_SHOWN_BYTES];
    uint32_t codes[2] = {0, 0}, n = 0;
    for (uint32_t code = 0; code < s->n_codes; code++) {
        if (!(common[code / 64] >> (code % 64) & 1)) continue;
        if (n < 2) codes[n] = code;
        n++;
    }
    return kn_error_set_at(
        err, KN_INPUT, KN_PLACE(.file = paths->name, .line = kn_paths_line(paths, m->row_of_member[y - s->n_codes])),
        "%s: the labels %s (line %llu) and %s (line %llu) have %u values in common, %s and %s%s, and no label holds "
        "just those, so it is not clear what they become together; add one, or take them out of one of the two",
        paths->name, kn_paths_shown(a, paths, m->label_of_member[x - s->n_codes]),
        kn_paths_line(paths, m->row_of_member[x - s->n_codes]),
        kn_paths_shown(b, paths, m->label_of_member[y - s->n_codes]),
        kn_paths_line(paths, m->row_of_member[y - s->n_codes]), n,
        kn_paths_shown(first, paths, kn_paths_at(paths, codes[0], 0)),
        kn_paths_shown(second, paths, kn_paths_at(paths, codes[1], 0)), n > 2 ? " among them" : "");
}

static kn_status check_pairs(const making *m, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_subsets *s = m->made;
    uint64_t *common = NULL, any;
    KN_NEW(common, s->n_words);
    for (uint32_t x = s->n_codes; x < s->root; x++)
        for (uint32_t y = x + 1; y < s->root; y++) {
            any = 0;
            for (uint32_t w = 0; w < s->n_words; w++) any |= common[w] = bits_of(s, x)[w] & bits_of(s, y)[w];
            if (any != 0 && m->slots[find_slot(m, common)] == KN_NONE) KN_TRY(two_smallest(m, x, y, common, err));
        }
done:
    kn_free(common);
    return status;
}

/* --- Joins ------------------------------------------------------------------------------------------------------- */

typedef struct sized {
    uint32_t size, member;
} sized;

static int by_size(const void *a, const void *b)
{
    const sized *x = a, *y = b;
    if (x->size != y->size) return x->size < y->size ? -1 : 1;
    return (x->member > y->member) - (x->member < y->member);
}

/* The smaller ones first: the first that holds a member and a value is the smallest. */
static kn_status fill_joins(kn_subsets *s, kn_error *err)
{
    kn_status status = KN_OK;
    sized *order = NULL;
    uint64_t *open = NULL;
    KN_NEW(order, s->n_members);
    KN_NEW(open, s->n_words);
    KN_NEW(s->with, (size_t)s->n_members * s->n_codes + 1);
    for (uint32_t m = 0; m < s->n_members; m++) {
        const bool is_second_root = m != s->root && kn_subsets_size(s, m) == s->n_codes; /* everything is written * */
        order[m] = (sized){kn_subsets_size(s, m) + (is_second_root && s->n_codes > 1), m};
    }
    qsort(order, s->n_members, sizeof *order, by_size);
    for (uint32_t m = 0; m < s->n_members; m++) {
        memcpy(open, bits_of(s, s->root), s->n_words * sizeof *open);
        for (uint32_t i = 0; i < s->n_members; i++) {
            const uint64_t *this = bits_of(s, order[i].member), *least = bits_of(s, m);
            uint64_t outside = 0;
            for (uint32_t w = 0; w < s->n_words; w++) outside |= least[w] & ~this[w];
            for (uint32_t w = 0; outside == 0 && w < s->n_words; w++)
                for (uint64_t left = open[w] & this[w]; left != 0; left &= left - 1) {
                    const uint32_t code = w * 64 + (uint32_t)__builtin_ctzll(left);
                    s->with[(size_t)m * s->n_codes + code] = (uint16_t)order[i].member;
                    open[w] &= ~((uint64_t)1 << (code % 64));
                }
        }
    }
done:
    kn_free(order);
    kn_free(open);
    return status;
}

uint32_t kn_subsets_join(const kn_subsets *s, uint32_t a, uint32_t b)
{
    for (uint32_t w = 0; w < s->n_words; w++) {
        uint64_t left = bits_of(s, b)[w] & ~bits_of(s, a)[w];
        while (left != 0) { /* each step takes in one value at least */
            a = kn_subsets_with(s, a, w * 64 + (uint32_t)__builtin_ctzll(left));
            left &= ~bits_of(s, a)[w];
        }
    }
    return a;
}

/* --- The lines --------------------------------------------------------------------------------------------------- */

/* Labels of their own, though their bytes repeat, make a tree of any lines. */
static kn_status draw_lines(making *m, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_paths *from = m->paths;
    kn_paths own = {.name = from->name, .redact = from->redact, .n_levels = from->n_levels};
    const uint32_t top = from->n_levels - 1;
    uint32_t id, before = KN_NONE, root;
    KN_TRY(kn_paths_label(&root, &own, "*", 1, err));
    for (uint32_t row = 0; row < kn_paths_rows(from); row++) {
        for (uint32_t l = 0; l < top; l++, before = id) {
            size_t n;
            const char *bytes = kn_paths_bytes(from, kn_paths_at(from, row, l), &n);
            const bool repeats = l > 0 && kn_paths_at(from, row, l) == kn_paths_at(from, row, l - 1);
            if (repeats) id = before;
            else KN_TRY(kn_paths_own_label(&id, &own, bytes, n, err));
            KN_TRY(kn_paths_push(&own, id, err));
        }
        KN_TRY(kn_paths_push(&own, root, err));
    }
    KN_TRY(kn_tree_from_paths(&m->made->lines, &own, err));
    m->made->lines->is_collection = true;
done:
    kn_paths_free(&own);
    return status;
}

/* Leaves of the lines stand as the rows do, so a label's node is among those above its first row. */
static kn_status find_labels(making *m, kn_error *err)
{
    kn_status status = KN_OK;
    kn_subsets *s = m->made;
    KN_NEW(s->label, s->root - s->n_codes + 1);
    for (uint32_t i = 0; i < s->root - s->n_codes; i++) {
        size_t n, n_there;
        const char *bytes = kn_paths_bytes(m->paths, m->label_of_member[i], &n), *there;
        uint32_t node = m->row_of_member[i];
        do {
            node = s->lines->parent[node];
            there = kn_tree_label(s->lines, node, &n_there);
        } while (n != n_there || memcmp(there, bytes, n) != 0);
        s->label[i] = node;
    }
done:
    return status;
}

uint32_t kn_subsets_find(const kn_subsets *s, const char *label, size_t n_bytes)
{
    const uint32_t node = kn_tree_find(s->lines, label, n_bytes);
    if (node == s->lines->root) return s->root;
    for (uint32_t member = s->n_codes; node != KN_NONE && member < s->root; member++) {
        size_t n;
        const char *there = kn_subsets_label(s, member, &n);
        if (n == n_bytes && memcmp(there, label, n) == 0) return member;
    }
    return node != KN_NONE ? s->lines->first[node] : KN_NONE;
}

kn_status kn_subsets_from_paths(kn_subsets **out, uint32_t *code_of_label, const kn_paths *paths, kn_error *err)
{
    kn_status status = KN_OK;
    making m = {.paths = paths};
    *out = NULL;
    assert(paths->is_subsets && paths->n_levels >= 2);
    if (kn_paths_rows(paths) == 0)
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = paths->name), "%s: the collection of subsets is empty", paths->name);
    if (kn_paths_rows(paths) >= KN_MAX_SUBSETS)
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.file = paths->name), "%s: more than %d values and subsets", paths->name,
                   KN_MAX_SUBSETS);
    KN_NEW(m.made, 1);
    KN_NEW(m.code_of_label, paths->ends.n);
    KN_NEW(m.member_of_label, paths->ends.n);
    KN_NEW(m.label_of_member, KN_MAX_SUBSETS);
    KN_NEW(m.row_of_member, KN_MAX_SUBSETS);
    KN_TRY(number_members(&m, err));
    KN_TRY(fill_bits(&m, err));
    KN_TRY(index_members(&m, err));
    KN_TRY(check_pairs(&m, err));
    KN_TRY(fill_joins(m.made, err));
    KN_TRY(draw_lines(&m, err));
    KN_TRY(find_labels(&m, err));
    if (code_of_label != NULL) memcpy(code_of_label, m.code_of_label, paths->ends.n * sizeof *code_of_label);
    *out = m.made;
    m.made = NULL;
done:
    kn_subsets_free(m.made);
    kn_free(m.code_of_label);
    kn_free(m.member_of_label);
    kn_free(m.label_of_member);
    kn_free(m.row_of_member);
    kn_free(m.slots);
    return status;
}

kn_status kn_subsets_lines(kn_tree **out, const kn_paths *paths, kn_error *err)
{
    kn_status status = KN_OK;
    kn_subsets *subsets = NULL;
    *out = NULL;
    KN_TRY(kn_subsets_from_paths(&subsets, NULL, paths, err));
    *out = subsets->lines;
    subsets->lines = NULL;
done:
    kn_subsets_free(subsets);
    return status;
}

bool kn_lines_subset(uint32_t *n_values, const kn_tree *lines, uint32_t node)
{
    size_t n, n_there;
    const char *label = kn_tree_label(lines, node, &n);
    *n_values = 0;
    for (uint32_t other = lines->n_leaves; other < lines->root; other++) {
        const char *there = kn_tree_label(lines, other, &n_there);
        if (n != n_there || memcmp(label, there, n) != 0) continue;
        if (other < node) return false;
        ++*n_values;
    }
    return true;
}
