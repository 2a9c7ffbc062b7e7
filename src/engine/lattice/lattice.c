/* The lattice engine: layout of the keys, the base groups, and the roll-up.
 *
 * In: distinct tuples with counts, all domains trees. Out: the groups of any node, from the groups of any more specific
 * one. A roll-up rewrites the fields of the changed columns through a small table and merges equal keys by open
 * addressing; the table of slots is sized to the source, so it stays in cache for all but the most specific nodes.
 * Groups stand in the order in which their keys first occur in the source: the order depends on the data and the path
 * of roll-ups only. Keys are one 32-bit word, one 64-bit word or several; the loops are one function compiled for each.
 *
 * Property relied on: all groups that merge agree in every unchanged column, so counts add up, and persons add up but
 * for those who stand in several of the merged groups, who are listed. */
#include "engine/lattice/lattice.h"

#include "base/bits.h"
#include "base/lanes.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct kn_roller {
    const kn_lattice *lattice;
    uint32_t *slots;
    size_t n_slots;
    uint32_t *map; /* [group of the source]: group of the result; only where somebody needs it */
    size_t n_map;
    uint64_t **tables;        /* [q]: position at the source's level -> shifted position at the new one */
    uint32_t *sums, *touched; /* sparse histograms: by value */
    uint32_t *order, *first;  /* sparse histograms: groups of the source by group of the result */
    size_t n_order;
};

/* One changed column. */
typedef struct step {
    const uint64_t *table;
    uint64_t mask; /* of the field, shifted down */
    uint32_t word, shift;
} step;

/* --- Layout ---------------------------------------------------------------------------------------------------- */

static kn_status level_new(kn_lattice_level *level, const kn_domain *domain, uint32_t at, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t *node_of = domain->tree->at_level[at];
    KN_NEW_RAW(level->of_code, domain->n_codes);
    KN_NEW_RAW(level->node, domain->n_codes);
    KN_NEW_RAW(level->first_code, domain->n_codes);
    for (uint32_t code = 0; code < domain->n_codes; code++) {
        level->of_code[code] = KN_NONE;
        if (kn_domain_code_rows(domain, code) == 0) continue;
        if (level->n == 0 || level->node[level->n - 1] != node_of[code]) {
            level->node[level->n] = node_of[code];
            level->first_code[level->n++] = code;
        }
        level->of_code[code] = level->n - 1;
    }
done:
    return status;
}

static kn_status column_new(kn_lattice_column *column, const kn_domain *domain, kn_error *err)
{
    kn_status status = KN_OK;
    assert(domain->kind == KN_DOMAIN_TREE);
    uint32_t top = domain->tree->n_levels - 1;
    column->max_level = domain->max_level < top ? domain->max_level : top;
    column->min_level = domain->min_level < column->max_level ? domain->min_level : column->max_level;
    KN_NEW(column->levels, (size_t)column->max_level + 1);
    for (uint32_t l = column->min_level; l <= column->max_level; l++)
        KN_TRY(level_new(&column->levels[l], domain, l, err));
done:
    return status;
}

/* Fields never straddle words: the next field goes where it fits first. */
static kn_status place_fields(kn_lattice *lattice, bool wide, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_qis = lattice->tuples->n_qis, total = 0, *used = NULL;
    KN_NEW(used, (size_t)n_qis + 1);
    for (uint32_t q = 0; q < n_qis; q++) {
        kn_lattice_column *column = &lattice->columns[q];
        column->n_bits = kn_bits_for(column->levels[column->min_level].n);
        total += column->n_bits;
    }
    lattice->word_bytes = total <= 32 && !wide ? 4 : 8;
    uint32_t room = wide ? 32 : 8 * lattice->word_bytes;
    lattice->n_words = wide ? 2 : 1;
    for (uint32_t q = 0; q < n_qis; q++) {
        kn_lattice_column *column = &lattice->columns[q];
        uint32_t word = 0;
        while (used[word] + column->n_bits > room) word++;
        column->word = word;
        column->shift = used[word];
        if (column->n_bits == 0 && column->shift == room) column->shift = 0;
        used[word] += column->n_bits;
        if (word + 1 > lattice->n_words) lattice->n_words = word + 1;
    }
done:
    kn_free(used);
    return status;
}

/* Where the counts of a group stand. */
static kn_status place_counts(kn_lattice *lattice, bool histograms, bool sparse, kn_error *err)
{
    enum { MOST_DENSE_VALUES = 32 };
    kn_status status = KN_OK;
    const kn_tuples *tuples = lattice->tuples;
    lattice->width = lattice->has_persons ? 2 : 1;
    lattice->has_histograms = histograms && tuples->n_sensitive > 0 && tuples->sensitive[0].start != NULL;
    if (!lattice->has_histograms) goto done;
    KN_NEW(lattice->dense_at, tuples->n_sensitive);
    for (uint32_t s = 0; s < tuples->n_sensitive; s++) {
        bool dense = tuples->sensitive[s].n_values <= MOST_DENSE_VALUES && !sparse;
        lattice->dense_at[s] = dense ? lattice->width : KN_NONE;
        if (dense) lattice->width += tuples->sensitive[s].n_values;
    }
    if (lattice->width > 2) lattice->width = (lattice->width + 3) / 4 * 4; /* whole vectors */
done:
    return status;
}

/* --- Base groups ----------------------------------------------------------------------------------------------- */

size_t kn_groups_bytes(const kn_lattice *lattice, uint32_t n)
{
    size_t per_group = (size_t)lattice->n_words * lattice->word_bytes + 4 * (size_t)lattice->width;
    for (uint32_t s = 0; lattice->has_histograms && s < lattice->tuples->n_sensitive; s++)
        if (lattice->dense_at[s] == KN_NONE) per_group += 24;
    return per_group * n;
}

static kn_status groups_reserve(kn_groups *groups, const kn_lattice *lattice, uint32_t n, kn_error *err)
{
    kn_status status = KN_OK;
    if (groups->levels == NULL) KN_NEW(groups->levels, lattice->tuples->n_qis);
    if (lattice->has_histograms && groups->sparse == NULL) KN_NEW(groups->sparse, lattice->tuples->n_sensitive);
    if (n <= groups->capacity) goto done;
    kn_free(groups->keys);
    kn_free(groups->counts);
    groups->keys = NULL;
    groups->counts = NULL;
    groups->capacity = 0;
    /* one vector more: loops may write a slot ahead */
    groups->counts = kn_array_alloc_aligned((size_t)n * lattice->width + 8, sizeof *groups->counts, err);
    groups->keys = kn_array_alloc_aligned((size_t)n + 1, (size_t)lattice->n_words * lattice->word_bytes, err);
    if (groups->counts == NULL || groups->keys == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    groups->capacity = n;
done:
    return status;
}

void kn_groups_free(kn_groups *groups, const kn_lattice *lattice)
{
    for (uint32_t s = 0; groups->sparse != NULL && s < lattice->tuples->n_sensitive; s++) {
        kn_free(groups->sparse[s].start);
        kn_free(groups->sparse[s].values);
        kn_free(groups->sparse[s].counts);
    }
    kn_free(groups->sparse);
    kn_free(groups->levels);
    kn_free(groups->keys);
    kn_free(groups->counts);
    kn_free(groups->repeats);
    memset(groups, 0, sizeof *groups);
}

static void tuple_keys(kn_groups *groups, const kn_lattice *lattice)
{
    const kn_tuples *tuples = lattice->tuples;
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        const kn_lattice_column *column = &lattice->columns[q];
        if (column->n_bits == 0) continue;
        const uint32_t *of_code = column->levels[column->min_level].of_code, *codes = tuples->codes[q];
        if (lattice->word_bytes == 4) {
            uint32_t *keys = groups->keys;
            for (uint32_t t = 0; t < tuples->n_tuples; t++) keys[t] |= of_code[codes[t]] << column->shift;
        } else {
            uint64_t *keys = (uint64_t *)groups->keys + column->word;
            for (uint32_t t = 0; t < tuples->n_tuples; t++)
                keys[(size_t)t * lattice->n_words] |= (uint64_t)of_code[codes[t]] << column->shift;
        }
    }
}

static kn_status tuple_histograms(kn_groups *groups, const kn_lattice *lattice, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = lattice->tuples;
    for (uint32_t s = 0; lattice->has_histograms && s < tuples->n_sensitive; s++) {
        const kn_sensitive *sensitive = &tuples->sensitive[s];
        uint32_t at = lattice->dense_at[s], n_entries = sensitive->start[tuples->n_tuples];
        if (at != KN_NONE) {
            for (uint32_t t = 0; t < tuples->n_tuples; t++)
                for (uint32_t e = sensitive->start[t]; e < sensitive->start[t + 1]; e++)
                    groups->counts[(size_t)t * lattice->width + at + sensitive->values[e]] = sensitive->counts[e];
            continue;
        }
        struct kn_sparse_counts *sparse = &groups->sparse[s];
        KN_NEW_RAW(sparse->start, (size_t)tuples->n_tuples + 1);
        KN_NEW_RAW(sparse->values, n_entries);
        KN_NEW_RAW(sparse->counts, n_entries);
        sparse->capacity = n_entries;
        memcpy(sparse->start, sensitive->start, ((size_t)tuples->n_tuples + 1) * sizeof *sparse->start);
        if (n_entries > 0) memcpy(sparse->values, sensitive->values, n_entries * sizeof *sparse->values);
        if (n_entries > 0) memcpy(sparse->counts, sensitive->counts, n_entries * sizeof *sparse->counts);
    }
done:
    return status;
}

/* The tuples as groups, before tuples that agree in the key are merged. */
static kn_status tuples_as_groups(kn_groups *groups, const kn_lattice *lattice, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = lattice->tuples;
    KN_TRY(groups_reserve(groups, lattice, tuples->n_tuples, err));
    groups->n = tuples->n_tuples;
    for (uint32_t q = 0; q < tuples->n_qis; q++) groups->levels[q] = lattice->columns[q].min_level;
    tuple_keys(groups, lattice);
    for (uint32_t t = 0; t < tuples->n_tuples; t++) {
        uint32_t *counts = &groups->counts[(size_t)t * lattice->width];
        counts[0] = tuples->rows[t];
        if (lattice->has_persons) counts[1] = tuples->persons[t];
    }
    KN_TRY(tuple_histograms(groups, lattice, err));
    if (tuples->n_repeats > 0) {
        KN_NEW_RAW(groups->repeats, tuples->n_repeats);
        memcpy(groups->repeats, tuples->repeats, tuples->n_repeats * sizeof *groups->repeats);
        groups->n_repeats = groups->repeats_capacity = tuples->n_repeats;
    }
done:
    return status;
}

kn_status kn_lattice_add_base(kn_lattice *lattice, kn_error *err)
{
    kn_status status = KN_OK;
    kn_groups raw = {0};
    kn_roller *roller = NULL;
    KN_TRY(tuples_as_groups(&raw, lattice, err));
    KN_TRY(kn_roller_new(&roller, lattice, err));
    KN_TRY(kn_groups_roll(&lattice->base, &raw, raw.levels, roller, err));
done:
    kn_roller_free(roller);
    kn_groups_free(&raw, lattice);
    return status;
}

kn_status kn_lattice_new(kn_lattice **out, const kn_tuples *tuples, unsigned flags, kn_error *err)
{
    kn_status status = KN_OK;
    kn_lattice *lattice = NULL;
    *out = NULL;
    KN_NEW(lattice, 1);
    lattice->tuples = tuples;
    lattice->has_persons = tuples->persons != tuples->rows;
    lattice->n_nodes = 1;
    KN_NEW(lattice->columns, tuples->n_qis);
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        KN_TRY(column_new(&lattice->columns[q], tuples->domains[q], err));
        lattice->n_nodes *= lattice->columns[q].max_level - lattice->columns[q].min_level + 1;
    }
    KN_TRY(place_fields(lattice, flags & KN_LATTICE_WIDE, err));
    KN_TRY(place_counts(lattice, flags & KN_LATTICE_HISTOGRAMS, flags & KN_LATTICE_SPARSE, err));
    if (!(flags & KN_LATTICE_NO_BASE)) KN_TRY(kn_lattice_add_base(lattice, err));
    *out = lattice;
    lattice = NULL;
done:
    kn_lattice_free(lattice);
    return status;
}

void kn_lattice_free(kn_lattice *lattice)
{
    if (lattice == NULL) return;
    kn_groups_free(&lattice->base, lattice);
    for (uint32_t q = 0; lattice->columns != NULL && q < lattice->tuples->n_qis; q++) {
        kn_lattice_column *column = &lattice->columns[q];
        for (uint32_t l = 0; column->levels != NULL && l <= column->max_level; l++) {
            kn_free(column->levels[l].node);
            kn_free(column->levels[l].first_code);
            kn_free(column->levels[l].of_code);
        }
        kn_free(column->levels);
    }
    kn_free(lattice->columns);
    kn_free(lattice->dense_at);
    kn_free(lattice);
}

kn_status kn_lattice_order(uint32_t **order, uint32_t *n_order, const kn_lattice *lattice, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = lattice->tuples;
    double *entropy = NULL;
    *n_order = 0;
    *order = NULL;
    KN_NEW(*order, (size_t)tuples->n_qis + 1);
    KN_NEW(entropy, tuples->n_qis);
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        const kn_domain *domain = tuples->domains[q];
        for (uint32_t code = 0; code < domain->n_codes; code++) {
            double share = (double)kn_domain_code_rows(domain, code) / (tuples->n_rows > 0 ? tuples->n_rows : 1);
            if (share > 0) entropy[q] -= share * log2(share);
        }
        uint32_t at = (*n_order)++;
        for (; at > 0 && entropy[(*order)[at - 1]] < entropy[q]; at--) (*order)[at] = (*order)[at - 1];
        (*order)[at] = q;
    }
done:
    kn_free(entropy);
    return status;
}

/* --- Roll-up --------------------------------------------------------------------------------------------------- */

kn_status kn_roller_new(kn_roller **out, const kn_lattice *lattice, kn_error *err)
{
    kn_status status = KN_OK;
    kn_roller *roller = NULL;
    const kn_tuples *tuples = lattice->tuples;
    uint32_t most_values = 0;
    *out = NULL;
    KN_NEW(roller, 1);
    roller->lattice = lattice;
    KN_NEW(roller->tables, tuples->n_qis);
    for (uint32_t q = 0; q < tuples->n_qis; q++)
        KN_NEW_RAW(roller->tables[q], lattice->columns[q].levels[lattice->columns[q].min_level].n);
    for (uint32_t s = 0; s < tuples->n_sensitive; s++)
        if (tuples->sensitive[s].n_values > most_values) most_values = tuples->sensitive[s].n_values;
    KN_NEW(roller->sums, most_values);
    KN_NEW_RAW(roller->touched, most_values);
    *out = roller;
    roller = NULL;
done:
    kn_roller_free(roller);
    return status;
}

void kn_roller_free(kn_roller *roller)
{
    if (roller == NULL) return;
    for (uint32_t q = 0; roller->tables != NULL && q < roller->lattice->tuples->n_qis; q++) kn_free(roller->tables[q]);
    kn_free(roller->tables);
    kn_free(roller->slots);
    kn_free(roller->map);
    kn_free(roller->sums);
    kn_free(roller->touched);
    kn_free(roller->order);
    kn_free(roller->first);
    kn_free(roller);
}

enum { KEY_32, KEY_64, KEY_WORDS };

static inline __attribute__((always_inline)) uint64_t load_key(const void *keys, size_t at, int kind)
{
    return kind == KEY_32 ? ((const uint32_t *)keys)[at] : ((const uint64_t *)keys)[at];
}

static inline __attribute__((always_inline)) void add_counts(uint32_t *to, const uint32_t *from, bool is_new,
                                                             uint32_t width)
{
    if (width == 1) {
        *to = (is_new ? 0 : *to) + *from;
    } else if (width == 4) { /* no branch: whether a key is new cannot be predicted */
        kn_lanes4 keep = {(uint32_t)is_new - 1, (uint32_t)is_new - 1, (uint32_t)is_new - 1, (uint32_t)is_new - 1};
        *(kn_lanes4 *)to = (*(const kn_lanes4 *)to & keep) + *(const kn_lanes4 *)from;
    } else if (is_new) {
        memcpy(to, from, width * sizeof *to);
    } else if (width % 4 == 0) {
        for (uint32_t w = 0; w < width; w += 4) *(kn_lanes4 *)(to + w) += *(const kn_lanes4 *)(from + w);
    } else {
        for (uint32_t w = 0; w < width; w++) to[w] += from[w];
    }
}

/* The hot loop, for keys of one word. Constant arguments make it one loop per kind of key and width. */
static inline __attribute__((always_inline)) uint32_t roll_word(kn_groups *out, const kn_groups *from,
                                                                const step *steps, uint32_t n_steps,
                                                                uint32_t *restrict slots, uint32_t slot_bits, int kind,
                                                                uint32_t width, uint32_t *map)
{
    const void *from_keys = from->keys;
    void *keys = out->keys;
    const uint32_t *from_counts = from->counts;
    uint32_t *counts = out->counts, n = 0, last_slot = (uint32_t)((1ull << slot_bits) - 1);
    for (uint32_t i = 0; i < from->n; i++) {
        uint64_t key = load_key(from_keys, i, kind);
        for (uint32_t j = 0; j < n_steps; j++) {
            uint64_t position = (key >> steps[j].shift) & steps[j].mask;
            key = (key & ~(steps[j].mask << steps[j].shift)) | steps[j].table[position];
        }
        uint32_t slot = kind == KEY_32 ? ((uint32_t)key * 0x9e3779b1u) >> (32 - slot_bits)
                                       : (uint32_t)((key * 0x9e3779b97f4a7c15u) >> (64 - slot_bits));
        uint32_t group;
        while ((group = slots[slot]) != KN_NONE && load_key(keys, group, kind) != key) slot = (slot + 1) & last_slot;
        bool is_new = group == KN_NONE;
        group = is_new ? n : group;
        slots[slot] = group;
        if (kind == KEY_32) ((uint32_t *)keys)[group] = (uint32_t)key;
        else ((uint64_t *)keys)[group] = key;
        add_counts(counts + (size_t)group * width, from_counts + (size_t)i * width, is_new, width);
        if (map != NULL) map[i] = group;
        n += is_new;
    }
    return n;
}

static uint32_t roll_words(kn_groups *out, const kn_groups *from, const step *steps, uint32_t n_steps,
                           const kn_lattice *lattice, uint32_t *slots, uint32_t slot_bits, uint32_t *map)
{
    uint32_t n_words = lattice->n_words, width = lattice->width, n = 0;
    uint32_t last_slot = (uint32_t)((1ull << slot_bits) - 1);
    uint64_t *keys = out->keys;
    for (uint32_t i = 0; i < from->n; i++) {
        uint64_t *key = keys + (size_t)n * n_words; /* made where it would stand if new */
        memcpy(key, (const uint64_t *)from->keys + (size_t)i * n_words, n_words * sizeof *key);
        for (uint32_t j = 0; j < n_steps; j++) {
            uint64_t *word = &key[steps[j].word], position = (*word >> steps[j].shift) & steps[j].mask;
            *word = (*word & ~(steps[j].mask << steps[j].shift)) | steps[j].table[position];
        }
        uint64_t hash = 0;
        for (uint32_t w = 0; w < n_words; w++) {
            hash = (hash ^ key[w]) * 0x9e3779b97f4a7c15u;
            hash ^= hash >> 29;
        }
        uint32_t slot = (uint32_t)((hash * 0x9e3779b97f4a7c15u) >> (64 - slot_bits)), group;
        while ((group = slots[slot]) != KN_NONE &&
               memcmp(keys + (size_t)group * n_words, key, n_words * sizeof *key) != 0)
            slot = (slot + 1) & last_slot;
        bool is_new = group == KN_NONE;
        if (is_new) slots[slot] = group = n;
        add_counts(out->counts + (size_t)group * width, from->counts + (size_t)i * width, is_new, width);
        if (map != NULL) map[i] = group;
        n += is_new;
    }
    return n;
}

static uint32_t roll_any(kn_groups *out, const kn_groups *from, const step *steps, uint32_t n_steps,
                         const kn_lattice *lattice, uint32_t *slots, uint32_t bits, uint32_t *map)
{
    uint32_t width = lattice->width;
    if (lattice->n_words > 1) return roll_words(out, from, steps, n_steps, lattice, slots, bits, map);
    if (lattice->word_bytes == 4 && map == NULL) {
        if (width == 4 && n_steps == 1) return roll_word(out, from, steps, 1, slots, bits, KEY_32, 4, NULL);
        if (width == 1 && n_steps == 1) return roll_word(out, from, steps, 1, slots, bits, KEY_32, 1, NULL);
        if (width == 4) return roll_word(out, from, steps, n_steps, slots, bits, KEY_32, 4, NULL);
        if (width == 16 && n_steps == 1) return roll_word(out, from, steps, 1, slots, bits, KEY_32, 16, NULL);
    }
    if (lattice->word_bytes == 8 && map == NULL) {
        if (width == 4 && n_steps == 1) return roll_word(out, from, steps, 1, slots, bits, KEY_64, 4, NULL);
        if (width == 1 && n_steps == 1) return roll_word(out, from, steps, 1, slots, bits, KEY_64, 1, NULL);
    }
    if (lattice->word_bytes == 4) return roll_word(out, from, steps, n_steps, slots, bits, KEY_32, width, map);
    return roll_word(out, from, steps, n_steps, slots, bits, KEY_64, width, map);
}

static int compare_groups(const void *a, const void *b)
{
    uint32_t x = ((const kn_person_tuple *)a)->tuple, y = ((const kn_person_tuple *)b)->tuple;
    return x < y ? -1 : x > y;
}

/* Persons that the merged groups would count twice. */
static kn_status roll_repeats(kn_groups *out, const kn_groups *from, const kn_roller *roller, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_lattice *lattice = roller->lattice;
    out->n_repeats = 0;
    if (from->n_repeats > out->repeats_capacity) {
        kn_free(out->repeats);
        out->repeats_capacity = 0;
        KN_NEW_RAW(out->repeats, from->n_repeats);
        out->repeats_capacity = from->n_repeats;
    }
    for (uint32_t i = 0, end; i < from->n_repeats; i = end) {
        uint32_t person = from->repeats[i].person, first = out->n_repeats, n = 0;
        kn_person_tuple *own = out->repeats + first;
        for (end = i; end < from->n_repeats && from->repeats[end].person == person; end++)
            own[n++] = (kn_person_tuple){person, roller->map[from->repeats[end].tuple]};
        if (n > 2 || (n == 2 && own[0].tuple > own[1].tuple)) qsort(own, n, sizeof *own, compare_groups);
        uint32_t kept = 1;
        for (uint32_t j = 1; j < n; j++) {
            if (own[j].tuple != own[kept - 1].tuple) own[kept++] = own[j];
            else out->counts[(size_t)own[j].tuple * lattice->width + 1]--;
        }
        if (kept > 1) out->n_repeats += kept; /* otherwise in one group for good */
    }
done:
    return status;
}

/* Groups of the source by group of the result: order[first[g]] .. order[first[g+1]-1]. */
static kn_status sort_by_result(kn_roller *roller, const kn_groups *out, const kn_groups *from, kn_error *err)
{
    kn_status status = KN_OK;
    if (from->n + 2 > roller->n_order) {
        kn_free(roller->order);
        kn_free(roller->first);
        roller->order = roller->first = NULL;
        roller->n_order = 0;
        KN_NEW_RAW(roller->order, (size_t)from->n + 2);
        KN_NEW_RAW(roller->first, (size_t)from->n + 2);
        roller->n_order = (size_t)from->n + 2;
    }
    uint32_t *first = roller->first;
    memset(first, 0, ((size_t)out->n + 2) * sizeof *first);
    for (uint32_t i = 0; i < from->n; i++) first[roller->map[i] + 2]++;
    for (uint32_t g = 2; g <= out->n + 1; g++) first[g] += first[g - 1];
    for (uint32_t i = 0; i < from->n; i++) roller->order[first[roller->map[i] + 1]++] = i;
done:
    return status;
}

static int compare_values(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static kn_status roll_sparse(struct kn_sparse_counts *out, uint32_t n_out, const struct kn_sparse_counts *from,
                             uint32_t n_from, kn_roller *roller, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_entries = from->start[n_from], n = 0;
    kn_free(out->start);
    out->start = NULL;
    KN_NEW_RAW(out->start, (size_t)n_out + 1);
    if (n_entries > out->capacity || out->values == NULL) {
        kn_free(out->values);
        kn_free(out->counts);
        out->values = out->counts = NULL;
        out->capacity = 0;
        KN_NEW_RAW(out->values, n_entries);
        KN_NEW_RAW(out->counts, n_entries);
        out->capacity = n_entries;
    }
    for (uint32_t g = 0; g < n_out; g++) {
        uint32_t n_touched = 0;
        out->start[g] = n;
        for (uint32_t i = roller->first[g]; i < roller->first[g + 1]; i++) {
            uint32_t source = roller->order[i];
            for (uint32_t e = from->start[source]; e < from->start[source + 1]; e++) {
                uint32_t value = from->values[e];
                if (roller->sums[value] == 0) roller->touched[n_touched++] = value;
                roller->sums[value] += from->counts[e];
            }
        }
        if (roller->first[g + 1] - roller->first[g] > 1)
            qsort(roller->touched, n_touched, sizeof *roller->touched, compare_values);
        for (uint32_t i = 0; i < n_touched; i++, n++) {
            out->values[n] = roller->touched[i];
            out->counts[n] = roller->sums[roller->touched[i]];
            roller->sums[roller->touched[i]] = 0;
        }
    }
    out->start[n_out] = n;
done:
    return status;
}

static bool has_sparse(const kn_lattice *lattice)
{
    for (uint32_t s = 0; lattice->has_histograms && s < lattice->tuples->n_sensitive; s++)
        if (lattice->dense_at[s] == KN_NONE) return true;
    return false;
}

/* The tables of the changed columns; returns how many there are. */
static uint32_t make_steps(step *steps, const kn_groups *from, const uint32_t *levels, const kn_roller *roller)
{
    const kn_lattice *lattice = roller->lattice;
    uint32_t n_steps = 0;
    for (uint32_t q = 0; q < lattice->tuples->n_qis; q++) {
        const kn_lattice_column *column = &lattice->columns[q];
        assert(levels[q] >= from->levels[q] && levels[q] <= column->max_level);
        if (levels[q] == from->levels[q] || column->n_bits == 0) continue;
        const kn_lattice_level *old = &column->levels[from->levels[q]], *new = &column->levels[levels[q]];
        if (old->n == new->n) continue; /* the same nodes, perhaps under other labels: positions stay */
        for (uint32_t p = 0; p < old->n; p++)
            roller->tables[q][p] = (uint64_t) new->of_code[old->first_code[p]] << column->shift;
        steps[n_steps++] = (step){roller->tables[q], (1ull << column->n_bits) - 1, column->word, column->shift};
    }
    return n_steps;
}

static kn_status roller_reserve(kn_roller *roller, uint32_t n, uint32_t slot_bits, bool map, kn_error *err)
{
    kn_status status = KN_OK;
    if (roller->n_slots < (size_t)1 << slot_bits) {
        kn_free(roller->slots);
        roller->n_slots = 0;
        KN_NEW_RAW(roller->slots, (size_t)1 << slot_bits);
        roller->n_slots = (size_t)1 << slot_bits;
    }
    if (map && roller->n_map < n) {
        kn_free(roller->map);
        roller->n_map = 0;
        KN_NEW_RAW(roller->map, n);
        roller->n_map = n;
    }
    memset(roller->slots, 0xff, sizeof *roller->slots << slot_bits);
done:
    return status;
}

static kn_status roll(kn_groups *out, const kn_groups *from, const uint32_t *levels, kn_roller *roller, bool map,
                      kn_error *err)
{
    enum { MOST_COLUMNS_ON_STACK = 64 };
    kn_status status = KN_OK;
    const kn_lattice *lattice = roller->lattice;
    const kn_tuples *tuples = lattice->tuples;
    step on_stack[MOST_COLUMNS_ON_STACK], *steps = on_stack;
    bool sparse = has_sparse(lattice);
    map = map || sparse || from->n_repeats > 0;
    if (tuples->n_qis > MOST_COLUMNS_ON_STACK) KN_NEW_RAW(steps, tuples->n_qis);
    uint32_t n_steps = make_steps(steps, from, levels, roller);
    uint32_t slot_bits = kn_bits_for(from->n > 8 ? 2 * from->n : 16);
    if (slot_bits > 31) slot_bits = 31;
    KN_TRY(groups_reserve(out, lattice, from->n, err));
    KN_TRY(roller_reserve(roller, from->n, slot_bits, map, err));
    out->n = roll_any(out, from, steps, n_steps, lattice, roller->slots, slot_bits, map ? roller->map : NULL);
    for (uint32_t q = 0; q < tuples->n_qis; q++) out->levels[q] = levels[q];
    out->n_repeats = 0;
    if (from->n_repeats > 0) KN_TRY(roll_repeats(out, from, roller, err));
    if (sparse) KN_TRY(sort_by_result(roller, out, from, err));
    for (uint32_t s = 0; sparse && s < tuples->n_sensitive; s++)
        if (lattice->dense_at[s] == KN_NONE)
            KN_TRY(roll_sparse(&out->sparse[s], out->n, &from->sparse[s], from->n, roller, err));
done:
    if (steps != on_stack) kn_free(steps);
    return status;
}

kn_status kn_groups_roll(kn_groups *out, const kn_groups *from, const uint32_t *levels, kn_roller *roller,
                         kn_error *err)
{
    return roll(out, from, levels, roller, false, err);
}

kn_status kn_groups_of_tuples(kn_groups *out, uint32_t **tuple_group, const uint32_t *levels, kn_roller *roller,
                              kn_error *err)
{
    kn_status status = KN_OK;
    kn_groups raw = {0};
    const kn_lattice *lattice = roller->lattice;
    *tuple_group = NULL;
    KN_TRY(tuples_as_groups(&raw, lattice, err));
    KN_TRY(roll(out, &raw, levels, roller, true, err));
    KN_NEW_RAW(*tuple_group, raw.n);
    if (raw.n > 0) memcpy(*tuple_group, roller->map, raw.n * sizeof **tuple_group);
done:
    kn_groups_free(&raw, lattice);
    return status;
}

/* --- What a group holds ---------------------------------------------------------------------------------------- */

size_t kn_lattice_entries(const kn_lattice *lattice)
{
    size_t n = 0;
    for (uint32_t s = 0; s < lattice->tuples->n_sensitive; s++) n += 2 * (size_t)lattice->tuples->sensitive[s].n_values;
    return n;
}

static kn_histogram lanes_of(const kn_lattice *lattice, const uint32_t *counts, uint32_t sensitive, uint32_t *entries)
{
    uint32_t n = 0, n_values = lattice->tuples->sensitive[sensitive].n_values, *value_counts = entries + n_values;
    const uint32_t *lanes = counts + lattice->dense_at[sensitive];
    for (uint32_t v = 0; v < n_values; v++) {
        entries[n] = v;
        value_counts[n] = lanes[v];
        n += lanes[v] > 0;
    }
    return (kn_histogram){n, entries, value_counts};
}

/* What is in lanes. */
static kn_class_counts class_of_lanes(const kn_lattice *lattice, const uint32_t *counts, kn_histogram *buffer,
                                      uint32_t *entries)
{
    kn_class_counts class_counts = {.n_rows = counts[0], .n_persons = counts[lattice->has_persons]};
    for (uint32_t s = 0; lattice->has_histograms && s < lattice->tuples->n_sensitive; s++) {
        if (lattice->dense_at[s] == KN_NONE) continue;
        buffer[s] = lanes_of(lattice, counts, s, entries);
        entries += 2 * (size_t)lattice->tuples->sensitive[s].n_values;
    }
    if (lattice->has_histograms) class_counts.sensitive = buffer;
    return class_counts;
}

kn_class_counts kn_groups_class(const kn_lattice *lattice, const kn_groups *groups, uint32_t g, kn_histogram *buffer,
                                uint32_t *entries)
{
    kn_class_counts class_counts =
        class_of_lanes(lattice, &groups->counts[(size_t)g * lattice->width], buffer, entries);
    for (uint32_t s = 0; lattice->has_histograms && s < lattice->tuples->n_sensitive; s++) {
        const struct kn_sparse_counts *sparse = &groups->sparse[s];
        if (lattice->dense_at[s] == KN_NONE)
            buffer[s] = (kn_histogram){sparse->start[g + 1] - sparse->start[g], sparse->values + sparse->start[g],
                                       sparse->counts + sparse->start[g]};
    }
    return class_counts;
}
