/* Whether cells stand at or above the lowest level that their column may be released at.
 *
 * A label may be of any node that stands there; equal labels of a chain stand at all its levels, so that a value may,
 * too, where the hierarchy keeps it so high. Bounds say the interval of such a node. Labels that are made from the data
 * are written for the values that are left of a group (recode/narrow_labels.c), so they need be no node's: masks lack
 * as many stars as the longest masked value leaves, fewer than the level has, and values that no mask has reached lack
 * none; sets and intervals must not part a group of that level, of which every row has one text. A single value is none
 * of them. */
#include "verify/checks.h"

#include "verify/released_bounds.h"

#include <math.h>
#include <string.h>

bool kn_recount_asks_for_levels(const kn_verify_request *request)
{
    for (size_t c = 0; c < request->n_columns; c++)
        if (request->columns[c].role == KN_ROLE_QUASI && request->columns[c].min_level > 0) return true;
    return false;
}

static bool is_high(const kn_domain *domain, uint32_t node)
{
    const kn_tree *tree = domain->tree;
    const uint32_t highest = node == tree->root ? tree->n_levels - 1 : tree->level[tree->parent[node]] - 1;
    return highest >= domain->min_level;
}

static bool is_high_label(const kn_domain *domain, const char *bytes, size_t n_bytes)
{
    const uint32_t node = kn_tree_find(domain->tree, bytes, n_bytes); /* the widest */
    return node != KN_NONE && is_high(domain, node);
}

/* A day of bounds is one in whatever form the data has. */
static double number_of(const kn_meaning *meaning, const kn_released_text *text)
{
    const bool is_day = meaning->reading.type == KN_TYPE_DATE && text->high < text->low + 1;
    return isnan(text->number) && is_day ? text->low : text->number;
}

/* A value, in any spelling of it; *leaf: of the tree, KN_NONE when it has none. */
static bool is_value(uint32_t *leaf, const kn_meaning *meaning, const kn_released_text *text)
{
    const bool is_known = text->same != KN_NONE;
    const double number = number_of(meaning, text);
    *leaf = is_known ? meaning->originals[text->same].leaf : KN_NONE;
    for (uint32_t i = 0; !is_known && i < meaning->original_column->n_texts && !isnan(number); i++)
        if (meaning->originals[i].number == number) *leaf = meaning->originals[i].leaf;
    for (uint32_t i = 0; i < text->n_nodes && *leaf == KN_NONE; i++) {
        const uint32_t node = meaning->nodes.items[text->first_node + i];
        if (node < meaning->tree->n_leaves) *leaf = node;
    }
    return is_known || *leaf != KN_NONE || !isnan(number);
}

/* Bounds of a label say its interval in other words. */
static bool is_high_interval(const kn_domain *domain, const kn_reading *reading, const kn_released_text *text)
{
    const kn_tree *tree = domain->tree;
    for (uint32_t node = tree->n_leaves; node < tree->n_nodes; node++) {
        size_t n;
        const char *label = kn_tree_label(tree, node, &n);
        if (is_high(domain, node) && kn_cells_say_the_same(reading, label, n, text->bytes, text->n_bytes)) return true;
    }
    return false;
}

/* --- Labels made from the data ----------------------------------------------------------------------------------- */

/* Whether the text with so many more stars is a label. */
static bool is_high_mask(kn_buffer *scratch, const kn_domain *domain, const kn_released_text *text, uint32_t n_stars)
{
    const bool is_suffix = domain->naming == KN_NAMES_SUFFIX;
    kn_buffer_clear(scratch);
    for (uint32_t i = 0; is_suffix && i < n_stars; i++) kn_buffer_char(scratch, '*');
    kn_buffer_append(scratch, text->bytes, text->n_bytes);
    for (uint32_t i = 0; !is_suffix && i < n_stars; i++) kn_buffer_char(scratch, '*');
    return scratch->failed || is_high_label(domain, scratch->bytes, scratch->n);
}

static bool is_missing_at_level(const kn_domain *domain, const kn_released_text *text)
{
    return text->missing && (domain->missing == KN_NONE || is_high(domain, domain->missing));
}

/* A value that is so short that the masks of the lowest level have not reached it: it has no star to lack. */
static bool is_short_value(const kn_domain *domain, const kn_released_text *text)
{
    const uint32_t node = kn_tree_find(domain->tree, text->bytes, text->n_bytes);
    return node < domain->tree->n_leaves && is_high(domain, node);
}

/* The first text that is no mask of the column, however many stars all of them lack; KN_NONE: there is none. */
static uint32_t find_low_mask(kn_buffer *scratch, const kn_meaning *meaning)
{
    const kn_domain *domain = meaning->domain;
    uint32_t found = KN_NONE;
    for (uint32_t n_stars = 0; n_stars < domain->min_level; n_stars++) {
        uint32_t i = 0;
        for (; i < meaning->released_column->n_texts; i++) {
            const kn_released_text *text = &meaning->releaseds[i];
            if (text->everything || is_missing_at_level(domain, text) || is_short_value(domain, text)) continue;
            if (!is_high_mask(scratch, domain, text, n_stars)) break;
        }
        if (i == meaning->released_column->n_texts) return KN_NONE;
        if (n_stars == 0) found = i;
    }
    return found;
}

/* What is noted of the value's group of the lowest level; NULL: it is in none. */
static uint32_t *group_of(uint32_t *of_node, const kn_meaning *meaning, uint32_t i)
{
    const kn_original_text *value = &meaning->originals[i];
    if (value->missing || value->leaf == KN_NONE) return NULL;
    return &of_node[meaning->tree->at_level[meaning->domain->min_level][value->leaf]];
}

/* The first loose text that parts a group of the lowest level from what another text holds of it; KN_NONE: there is
 * none. Few texts are loose: they are looked at with all values, the others with those of the loose ones' groups. */
static kn_status find_parting(uint32_t *found, const kn_meaning *meaning, const bool *is_loose, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tree *tree = meaning->tree;
    const uint32_t n_texts = meaning->released_column->n_texts, n_values = meaning->original_column->n_texts;
    uint32_t *loose_of_node = NULL;
    *found = KN_NONE;
    KN_NEW_RAW(loose_of_node, tree->n_nodes);
    memset(loose_of_node, 0xFF, tree->n_nodes * sizeof *loose_of_node);
    for (uint32_t r = 0; r < n_texts && *found == KN_NONE; r++)
        for (uint32_t i = 0; is_loose[r] && i < n_values && *found == KN_NONE; i++) {
            uint32_t *own = group_of(loose_of_node, meaning, i);
            if (own == NULL || !kn_meaning_covers(meaning, i, r)) continue;
            if (*own != KN_NONE && *own != r) *found = r;
            *own = r;
        }
    for (uint32_t i = 0; i < n_values && *found == KN_NONE; i++) {
        const uint32_t *own = group_of(loose_of_node, meaning, i);
        for (uint32_t r = 0; own != NULL && *own != KN_NONE && r < n_texts && *found == KN_NONE; r++)
            if (!is_loose[r] && !meaning->releaseds[r].everything && kn_meaning_covers(meaning, i, r)) *found = *own;
    }
done:
    kn_free(loose_of_node);
    return status;
}

/* --- One column -------------------------------------------------------------------------------------------------- */

typedef enum place { IS_HIGH, IS_LOW, IS_LOOSE /* at its place if it does not part a group */ } place;

static place place_of(const kn_meaning *meaning, const kn_released_text *text)
{
    const kn_domain *domain = meaning->domain;
    uint32_t leaf;
    if (text->everything) return IS_HIGH;
    for (uint32_t i = 0; i < text->n_nodes; i++)
        if (is_high(domain, meaning->nodes.items[text->first_node + i])) return IS_HIGH;
    if (text->missing) return is_missing_at_level(domain, text) ? IS_HIGH : IS_LOW;
    if (is_value(&leaf, meaning, text)) return leaf != KN_NONE && is_high(domain, leaf) ? IS_HIGH : IS_LOW;
    if (domain->naming != KN_NAMES_FIXED) return IS_LOOSE;
    return is_high_interval(domain, &meaning->reading, text) ? IS_HIGH : IS_LOW;
}

static kn_status find_low(uint32_t *found, const kn_meaning *meaning, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_domain *domain = meaning->domain;
    const uint32_t n_texts = meaning->released_column->n_texts;
    bool *is_loose = NULL;
    kn_buffer scratch = {0};
    *found = KN_NONE;
    if (domain->naming == KN_NAMES_PREFIX || domain->naming == KN_NAMES_SUFFIX) {
        *found = find_low_mask(&scratch, meaning);
        if (scratch.failed) KN_FAIL(KN_RESOURCES, "out of memory");
        goto done;
    }
    KN_NEW(is_loose, (size_t)n_texts + 1);
    bool any = false;
    for (uint32_t i = 0; i < n_texts && *found == KN_NONE; i++) {
        const place at = place_of(meaning, &meaning->releaseds[i]);
        if (at == IS_LOW) *found = i;
        is_loose[i] = at == IS_LOOSE;
        any = any || is_loose[i];
    }
    if (any && *found == KN_NONE) KN_TRY(find_parting(found, meaning, is_loose, err));
done:
    kn_free(is_loose);
    kn_buffer_free(&scratch);
    return status;
}

static kn_buffer say_low(const kn_recount *recount, uint32_t column, uint32_t code)
{
    char name[KN_SHOWN_BYTES], cell[KN_SHOWN_BYTES];
    const kn_sheet_column *released = &recount->release->columns[recount->in_release[column]];
    uint32_t row = 0;
    while (row + 1 < recount->release->n_rows && kn_sheet_code(released, row) != code) row++;
    return KN_SAID(KN_SAY_CELL_BELOW_LEVEL,
                   kn_piece_number("%llu", (unsigned long long)kn_sheet_line(recount->release, row)),
                   kn_piece_name(kn_recount_column_shown(name, recount, column)),
                   kn_piece_text(kn_recount_cell_shown(cell, recount, released, code)),
                   kn_piece_number("%u", recount->request->columns[column].min_level));
}

kn_status kn_recount_check_level(kn_buffer *problem, const kn_recount *recount, uint32_t column,
                                 const kn_meaning *meaning, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t found;
    const kn_verify_column *about = &recount->request->columns[column];
    *problem = (kn_buffer){0};
    if (meaning == NULL || about->min_level == 0 || about->domain->kind != KN_DOMAIN_TREE) return KN_OK;
    KN_TRY(find_low(&found, meaning, err));
    if (found != KN_NONE) *problem = say_low(recount, column, found);
done:
    return status;
}
