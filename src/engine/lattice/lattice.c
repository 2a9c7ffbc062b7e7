/* The lattice engine: layout of the keys, the base groups, and the roll-up.
 *
 * In: distinct tuples with counts, all domains trees. Out: the groups of any node, from the groups of any more specific
 * one. A roll-up rewrites the fields of the changed columns through a small table and merges equal keys by open
 * addressing; the table of slots is sized to the source, so it stays in cache for all but the most specific nodes.
 * Groups stand in the order in which their keys first occur in the source: the order depends on the data and the path
 * of roll-ups only. Keys are one word of 64 bits or several; the loop is one function compiled for each.
 *
 * Property relied on: all groups that merge agree in every unchanged column, so counts add up, and persons add up but
 * for those who stand in several of the merged groups, who are listed. */
#include "engine/lattice/lattice.h"

#include "base/bits.h"
#include "base/hash.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct kn_roller {
    kn_owner memory; /* tables and steps */
    const kn_lattice *lattice;
    uint32_t *slots;
    uint32_t *map;     /* [group of the source]: group of the result; only where somebody needs it */
    uint64_t **tables; /* [q]: position at the source's level -> shifted position at the new one */
    struct step *steps;
};

/* One changed column. */
typedef struct step {
    const uint64_t *table;
    uint64_t mask; /* of the field, shifted down */
    uint32_t word, shift;
} step;

/* --- Layout ----------------------------------------------------------------------------------------------------------
 */

static kn_status level_new(kn_lattice_level *level, kn_owner *memory, const kn_domain *domain, uint32_t at,
                           kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t *node_of = domain->tree->at_level[at];
    KN_OWN_RAW(memory, level->of_code, domain->n_codes);
    KN_OWN_RAW(memory, level->node, domain->n_codes);
    KN_OWN_RAW(memory, level->first_code, domain->n_codes);
    for (uint32_t code = 0; code < domain->n_codes; code++) {
        level->of_code[code] = KN_NONE;
        if (kn_domain_seen_rows(domain, code) == 0) continue;
        if (level->n == 0 || level->node[level->n - 1] != node_of[code]) {
            level->node[level->n] = node_of[code];
            level->first_code[level->n++] = code;
        }
        level->of_code[code] = level->n - 1;
    }
done:
    return status;
}

static kn_status column_new(kn_lattice_column *column, kn_owner *memory, const kn_domain *domain, kn_error *err)
{
    kn_status status = KN_OK;
    assert(domain->kind == KN_DOMAIN_TREE);
    uint32_t top = domain->tree->n_levels - 1;
    column->max_level = domain->max_level < top ? domain->max_level : top;
    column->min_level = domain->min_level < column->max_level ? domain->min_level : column->max_level;
    KN_OWN(memory, column->levels, (size_t)column->max_level + 1);
    for (uint32_t l = column->min_level; l <= column->max_level; l++)
        KN_TRY(level_new(&column->levels[l], memory, domain, l, err));
done:
    return status;
}

/* Fields never straddle words: the next field goes where it fits first. */
static kn_status place_fields(kn_lattice *lattice, bool wide, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n_qis = lattice->tuples->n_qis, room = wide ? 32 : 64;
    uint32_t *used = NULL;
    KN_NEW(used, (size_t)n_qis + 1);
    lattice->n_words = wide ? 2 : 1;
    for (uint32_t q = 0; q < n_qis; q++) {
        kn_lattice_column *column = &lattice->columns[q];
        column->n_bits = kn_bits_for(column->levels[column->min_level].n);
        while (used[column->word] + column->n_bits > room) column->word++;
        column->shift = column->n_bits > 0 ? used[column->word] : 0;
        used[column->word] += column->n_bits;
        if (column->word + 1 > lattice->n_words) lattice->n_words = column->word + 1;
    }
done:
    kn_free(used);
    return status;
}

/* --- Base groups -----------------------------------------------------------------------------------------------------
 */

size_t kn_groups_bytes(const kn_lattice *lattice, size_t n)
{
    const size_t histograms = lattice->has_histograms ? 24 * (size_t)lattice->tuples->n_sensitive : 0;
    return (8 * (size_t)lattice->n_words + 8 * (size_t)lattice->width + histograms) * n;
}

size_t kn_groups_room(const kn_lattice *lattice, const kn_groups *groups)
{
    return kn_groups_bytes(lattice, kn_array_bytes(groups->counts) / (8 * (size_t)lattice->width));
}

static kn_status groups_reserve(kn_groups *groups, const kn_lattice *lattice, uint32_t n, kn_error *err)
{
    kn_status status = KN_OK;
    if (groups->levels == NULL) KN_NEW(groups->levels, lattice->tuples->n_qis);
    if (lattice->has_histograms && groups->histograms == NULL) KN_NEW(groups->histograms, lattice->tuples->n_sensitive);
    KN_ROOM(groups->counts, ((size_t)n + 1) * lattice->width); /* one more: loops write ahead */
    KN_ROOM(groups->keys, ((size_t)n + 1) * lattice->n_words);
done:
    return status;
}

void kn_groups_free(kn_groups *groups, const kn_lattice *lattice)
{
    kn_histograms_free(groups->histograms, lattice->tuples->n_sensitive);
    kn_free(groups->levels);
    kn_free(groups->keys);
    kn_free(groups->counts);
    kn_free(groups->repeats);
    memset(groups, 0, sizeof *groups);
}

static void tuple_keys(kn_groups *groups, const kn_lattice *lattice)
{
    const kn_tuples *tuples = lattice->tuples;
    memset(groups->keys, 0, (size_t)tuples->n_tuples * lattice->n_words * sizeof *groups->keys);
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        const kn_lattice_column *column = &lattice->columns[q];
        const uint32_t *of_code = column->levels[column->min_level].of_code, *codes = tuples->codes[q];
        uint64_t *keys = groups->keys + column->word;
        for (uint32_t t = 0; column->n_bits > 0 && t < tuples->n_tuples; t++)
            keys[(size_t)t * lattice->n_words] |= (uint64_t)of_code[codes[t]] << column->shift;
    }
}

/* The tuples as groups, before those that agree in the key are merged. Histograms and repeats are borrowed. */
static kn_status tuples_as_groups(kn_groups *groups, const kn_lattice *lattice, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = lattice->tuples;
    KN_TRY(groups_reserve(groups, lattice, tuples->n_tuples, err));
    groups->n = tuples->n_tuples;
    for (uint32_t q = 0; q < tuples->n_qis; q++) groups->levels[q] = lattice->columns[q].min_level;
    tuple_keys(groups, lattice);
    for (uint32_t t = 0; t < tuples->n_tuples; t++) {
        uint64_t *counts = &groups->counts[(size_t)t * lattice->width];
        counts[0] = tuples->rows[t];
        if (lattice->has_persons) counts[1] = tuples->persons[t];
    }
    for (uint32_t s = 0; lattice->has_histograms && s < tuples->n_sensitive; s++)
        groups->histograms[s] = tuples->sensitive[s].by_tuple;
    groups->repeats = tuples->repeats;
    groups->n_repeats = tuples->n_repeats;
done:
    return status;
}

static kn_status roll(kn_groups *out, const kn_groups *from, const uint32_t *levels, kn_roller *roller, bool map,
                      kn_error *err);

/* The groups of a node straight from the tuples (`levels` NULL: of the least one); roller->map tells which is where. */
static kn_status roll_tuples(kn_groups *out, const uint32_t *levels, kn_roller *roller, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_lattice *lattice = roller->lattice;
    kn_groups raw = {0};
    KN_TRY(tuples_as_groups(&raw, lattice, err));
    KN_TRY(roll(out, &raw, levels != NULL ? levels : raw.levels, roller, true, err));
done:
    kn_free(raw.histograms);
    raw.histograms = NULL;
    raw.repeats = NULL;
    kn_groups_free(&raw, lattice);
    return status;
}

kn_status kn_lattice_add_base(kn_lattice *lattice, kn_error *err)
{
    kn_status status = KN_OK;
    kn_roller *roller = NULL;
    KN_TRY(kn_roller_new(&roller, lattice, err));
    KN_TRY(roll_tuples(&lattice->base, NULL, roller, err));
done:
    kn_roller_free(roller);
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
    KN_OWN(&lattice->memory, lattice->columns, tuples->n_qis);
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        KN_TRY(column_new(&lattice->columns[q], &lattice->memory, tuples->domains[q], err));
        lattice->columns[q].stride = q > 0 ? lattice->columns[q - 1].stride * kn_lattice_levels(lattice, q - 1) : 1;
        lattice->n_nodes *= kn_lattice_levels(lattice, q);
    }
    KN_TRY(place_fields(lattice, flags & KN_LATTICE_WIDE, err));
    lattice->width = lattice->has_persons ? 2 : 1;
    lattice->has_histograms =
        (flags & KN_LATTICE_HISTOGRAMS) && tuples->n_sensitive > 0 && tuples->sensitive[0].by_tuple.start != NULL;
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
    kn_owner_free(&lattice->memory);
    kn_free(lattice);
}

size_t kn_lattice_number(const kn_lattice *lattice, const uint32_t *levels)
{
    size_t number = 0;
    for (uint32_t q = 0; q < lattice->tuples->n_qis; q++)
        number += (levels[q] - lattice->columns[q].min_level) * lattice->columns[q].stride;
    return number;
}

/* What lies below a node has a smaller number. */
void kn_lattice_keep_minimal(uint8_t *marks, const kn_lattice *lattice)
{
    enum { MINIMAL = 1, COVERED = 2 }; /* covered: marked, or something below it is */
    const size_t n = (size_t)lattice->n_nodes;
    for (size_t node = 0; node < n; node++) {
        bool below = false, marked = marks[node];
        for (uint32_t q = 0; q < lattice->tuples->n_qis; q++) {
            const size_t stride = lattice->columns[q].stride;
            if (node / stride % kn_lattice_levels(lattice, q) > 0) below = below || (marks[node - stride] & COVERED);
        }
        marks[node] = (uint8_t)((below || marked ? COVERED : 0) | (marked && !below ? MINIMAL : 0));
    }
    for (size_t node = 0; node < n; node++) marks[node] &= MINIMAL;
}

uint32_t kn_lattice_widest(const kn_lattice *lattice, const uint32_t *levels)
{
    uint32_t best = KN_NONE, most = 0;
    for (uint32_t q = 0; q < lattice->tuples->n_qis; q++) {
        const kn_lattice_column *column = &lattice->columns[q];
        if (levels[q] < column->max_level && column->levels[levels[q]].n > most) {
            most = column->levels[levels[q]].n;
            best = q;
        }
    }
    return best;
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
            double share =
                (double)kn_domain_seen_rows(domain, code) / (tuples->n_rows > 0 ? (double)tuples->n_rows : 1);
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

/* --- Roll-up ---------------------------------------------------------------------------------------------------------
 */

kn_status kn_roller_new(kn_roller **out, const kn_lattice *lattice, kn_error *err)
{
    kn_status status = KN_OK;
    kn_roller *roller = NULL;
    const uint32_t n_qis = lattice->tuples->n_qis;
    *out = NULL;
    KN_NEW(roller, 1);
    roller->lattice = lattice;
    KN_OWN(&roller->memory, roller->steps, n_qis);
    KN_OWN(&roller->memory, roller->tables, n_qis);
    for (uint32_t q = 0; q < n_qis; q++)
        KN_OWN_RAW(&roller->memory, roller->tables[q], lattice->columns[q].levels[lattice->columns[q].min_level].n);
    *out = roller;
    roller = NULL;
done:
    kn_roller_free(roller);
    return status;
}

void kn_roller_free(kn_roller *roller)
{
    if (roller == NULL) return;
    kn_owner_free(&roller->memory);
    kn_free(roller->slots);
    kn_free(roller->map);
    kn_free(roller);
}

/* The hot loop. Constant arguments make it one loop per number of words, steps and counts. */
static inline __attribute__((always_inline)) uint32_t roll_keys(kn_groups *out, const kn_groups *from,
                                                                const step *steps, uint32_t n_steps, uint32_t *slots,
                                                                uint32_t slot_bits, uint32_t n_words, uint32_t width,
                                                                uint32_t *map)
{
    const uint32_t last_slot = (uint32_t)((1ull << slot_bits) - 1);
    const uint64_t *from_keys = from->keys, *from_counts = from->counts;
    uint64_t *keys = out->keys, *counts = out->counts;
    const uint64_t factor = kn_hash_key[0];
    uint32_t n = 0;
    for (uint32_t i = 0; i < from->n; i++) {
        uint64_t *key = keys + (size_t)n * n_words, hash = 0; /* made where it would stand if new */
        for (uint32_t w = 0; w < n_words; w++) key[w] = from_keys[(size_t)i * n_words + w];
        for (uint32_t j = 0; j < n_steps; j++) {
            uint64_t *word = &key[n_words > 1 ? steps[j].word : 0],
                     position = (*word >> steps[j].shift) & steps[j].mask;
            *word = (*word & ~(steps[j].mask << steps[j].shift)) | steps[j].table[position];
        }
        for (uint32_t w = 0; w < n_words; w++) {
            if (w > 0) hash ^= hash >> 29;
            hash = (hash ^ key[w]) * factor;
        }
        uint32_t slot = (uint32_t)(hash >> (64 - slot_bits)), group;
        while ((group = slots[slot]) != KN_NONE && memcmp(keys + (size_t)group * n_words, key, n_words * 8) != 0)
            slot = (slot + 1) & last_slot;
        const uint32_t is_new = group == KN_NONE; /* no branch: it cannot be predicted */
        group = is_new ? n : group;
        slots[slot] = group;
        for (uint32_t w = 0; w < width; w++) {
            uint64_t *to = &counts[(size_t)group * width + w];
            *to = (*to & ((uint64_t)is_new - 1)) + from_counts[(size_t)i * width + w];
        }
        if (map != NULL) map[i] = group;
        n += is_new;
    }
    return n;
}

static uint32_t roll_any(kn_groups *out, const kn_groups *from, const step *steps, uint32_t n_steps,
                         const kn_lattice *lattice, uint32_t *slots, uint32_t bits, uint32_t *map)
{
    const uint32_t n_words = lattice->n_words, width = lattice->width;
    if (n_words == 1 && width == 1 && n_steps == 1 && map == NULL)
        return roll_keys(out, from, steps, 1, slots, bits, 1, 1, NULL);
    if (n_words == 1) return roll_keys(out, from, steps, n_steps, slots, bits, 1, width, map);
    return roll_keys(out, from, steps, n_steps, slots, bits, n_words, width, map);
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
    KN_ROOM(out->repeats, from->n_repeats);
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

static kn_status roll(kn_groups *out, const kn_groups *from, const uint32_t *levels, kn_roller *roller, bool map,
                      kn_error *err)
{
    kn_status status = KN_OK;
    const kn_lattice *lattice = roller->lattice;
    const kn_tuples *tuples = lattice->tuples;
    map = map || lattice->has_histograms || from->n_repeats > 0;
    uint32_t n_steps = make_steps(roller->steps, from, levels, roller);
    uint32_t slot_bits = kn_bits_for(from->n > 8 ? 2 * from->n : 16);
    if (slot_bits > 31) slot_bits = 31;
    KN_TRY(groups_reserve(out, lattice, from->n, err));
    KN_ROOM(roller->slots, (size_t)1 << slot_bits);
    if (map) KN_ROOM(roller->map, from->n);
    memset(roller->slots, 0xff, sizeof *roller->slots << slot_bits);
    out->n = roll_any(out, from, roller->steps, n_steps, lattice, roller->slots, slot_bits, map ? roller->map : NULL);
    for (uint32_t q = 0; q < tuples->n_qis; q++) out->levels[q] = levels[q];
    out->n_repeats = 0;
    if (from->n_repeats > 0) KN_TRY(roll_repeats(out, from, roller, err));
    for (uint32_t s = 0; lattice->has_histograms && s < tuples->n_sensitive; s++)
        KN_TRY(kn_histograms_join(&out->histograms[s], &from->histograms[s], tuples->sensitive[s].n_values, roller->map,
                                  from->n, out->n, err));
done:
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
    const uint32_t n = roller->lattice->tuples->n_tuples;
    *tuple_group = NULL;
    KN_TRY(roll_tuples(out, levels, roller, err));
    KN_NEW_RAW(*tuple_group, n);
    if (n > 0) memcpy(*tuple_group, roller->map, n * sizeof **tuple_group);
done:
    return status;
}

/* --- What a group holds ----------------------------------------------------------------------------------------------
 */

size_t kn_lattice_entries(const kn_lattice *lattice)
{
    size_t n = 0;
    for (uint32_t s = 0; s < lattice->tuples->n_sensitive; s++) n += lattice->tuples->sensitive[s].n_values;
    return n;
}

kn_class_counts kn_groups_class(const kn_lattice *lattice, const kn_groups *groups, uint32_t g, kn_histogram *buffer)
{
    for (uint32_t s = 0; lattice->has_histograms && s < lattice->tuples->n_sensitive; s++)
        buffer[s] = kn_histogram_of(&groups->histograms[s], g);
    return (kn_class_counts){.n_rows = kn_groups_rows(lattice, groups, g),
                             .n_persons = kn_groups_persons(lattice, groups, g),
                             .sensitive = lattice->has_histograms ? buffer : NULL};
}
