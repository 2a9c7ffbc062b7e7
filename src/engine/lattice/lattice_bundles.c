/* Bundles of groups: which columns are what, and the base; see the header. The base is sorted by key, and the fields of
 * the outer columns stand in the key from low to high bits: that is what roll-ups (bundle_roll.c) rely on. */
#include "engine/lattice/bundle_values.h"

#include "base/bits.h"
#include "base/radix_sort.h"

#include <string.h>

/* --- Layout ---------------------------------------------------------------------------------------------------- */

/* Two columns of two values, or one of at most four, whose only other level is a single node. */
static void choose_riders(kn_bundle_lattice *b)
{
    uint32_t n_binary = 0, binary[KN_LATTICE_MAX_RIDERS], widest = KN_NONE, most = 1;
    for (uint32_t q = 0; q < b->lattice->tuples->n_qis; q++) {
        const kn_lattice_column *column = &b->lattice->columns[q];
        if (column->max_level != column->min_level + 1 || column->levels[column->max_level].n != 1) continue;
        uint32_t n = column->levels[column->min_level].n;
        if (n == 2 && n_binary < KN_LATTICE_MAX_RIDERS) binary[n_binary++] = q;
        if (n <= KN_LATTICE_LANES && n > most) {
            most = n;
            widest = q;
        }
    }
    if (n_binary == KN_LATTICE_MAX_RIDERS) {
        b->n_riders = n_binary;
        memcpy(b->riders, binary, sizeof binary);
    } else if (widest != KN_NONE) {
        b->n_riders = 1;
        b->riders[0] = widest;
    }
    for (uint32_t r = 0; r < b->n_riders; r++) b->rider_stride[r] = b->n_riders == 2 && r == 0 ? 2 : 1;
}

/* The columns of `order` that are no riders: the last ones inner as far as allowed, the others outer. */
static void choose_inner(kn_bundle_lattice *b, const uint32_t *order, uint32_t n_order, uint32_t max_combos)
{
    b->n_combos = 1;
    b->n_outer = 0;
    for (uint32_t d = 0; d < n_order; d++) {
        bool rides = false;
        for (uint32_t r = 0; r < b->n_riders; r++) rides = rides || b->riders[r] == order[d];
        if (!rides) b->outer[b->n_outer++] = order[d];
    }
    order = b->outer;
    if (max_combos > KN_BUNDLE_MAX_COMBOS) max_combos = KN_BUNDLE_MAX_COMBOS;
    while (b->n_outer > 1 && b->n_inner < KN_BUNDLE_MAX_INNER) {
        uint32_t q = order[b->n_outer - 1];
        const kn_lattice_column *column = &b->lattice->columns[q];
        uint32_t n_levels = column->max_level - column->min_level + 1;
        uint32_t n_bits = kn_bits_for(column->levels[column->min_level].n);
        if (b->n_combos * n_levels > max_combos || b->n_inner_bits + n_bits > KN_BUNDLE_MAX_INNER_BITS) break;
        b->inner[b->n_inner] = q;
        b->inner_shift[b->n_inner] = b->n_inner_bits;
        b->inner_bits[b->n_inner++] = n_bits;
        b->n_inner_bits += n_bits;
        b->n_combos *= n_levels;
        b->n_outer--;
    }
}

/* How the inner values of the combo one level lower in inner column i become those of combo c. */
static void raise_values(uint16_t *raised, const kn_bundle_lattice *b, uint32_t c, uint32_t i)
{
    const kn_lattice_column *column = &b->lattice->columns[b->inner[i]];
    const kn_lattice_level *low = &column->levels[b->combo_level[c][i] - 1],
                           *high = &column->levels[b->combo_level[c][i]];
    uint32_t mask = (1u << b->inner_bits[i]) - 1;
    for (uint32_t value = 0; value < 1u << b->n_inner_bits; value++) {
        uint32_t position = kn_inner_position(b, i, value);
        if (position >= low->n) continue; /* no such value */
        raised[value] = (uint16_t)((value & ~(mask << b->inner_shift[i])) | high->of_code[low->first_code[position]]
                                                                                << b->inner_shift[i]);
    }
}

static kn_status number_combos(kn_bundle_lattice *b, kn_error *err)
{
    kn_status status = KN_OK;
    KN_OWN(&b->memory, b->raised, (size_t)b->n_combos * b->n_inner << b->n_inner_bits);
    KN_OWN(&b->memory, b->at_combo, (size_t)b->n_combos << b->n_inner_bits);
    for (uint32_t c = 0; c < b->n_combos; c++) {
        uint32_t rest = c, stride = 1;
        for (uint32_t i = 0; i < b->n_inner; i++) {
            const kn_lattice_column *column = &b->lattice->columns[b->inner[i]];
            uint32_t n_levels = column->max_level - column->min_level + 1;
            b->combo_level[c][i] = column->min_level + rest % n_levels;
            b->below[c][i] = rest % n_levels > 0 ? c - stride : KN_NONE;
            rest /= n_levels;
            stride *= n_levels;
            if (b->below[c][i] != KN_NONE)
                raise_values(b->raised + (((size_t)c * b->n_inner + i) << b->n_inner_bits), b, c, i);
        }
    }
    for (uint32_t c = 0; c < b->n_combos; c++) { /* by way of a combo that came before */
        uint32_t i = 0;
        while (i < b->n_inner && b->below[c][i] == KN_NONE) i++;
        for (uint32_t value = 0; value < 1u << b->n_inner_bits; value++) {
            const size_t at = ((size_t)c << b->n_inner_bits) + value;
            b->at_combo[at] = (uint16_t)value;
            if (i == b->n_inner) continue;
            const uint32_t low = b->at_combo[((size_t)b->below[c][i] << b->n_inner_bits) + value];
            b->at_combo[at] = b->raised[(((size_t)c * b->n_inner + i) << b->n_inner_bits) + low];
        }
    }
    for (uint32_t c = b->n_combos; c-- > 0;) { /* `above` is complete when its combo is met */
        b->above[c] |= 1u << c;
        for (uint32_t i = 0; i < b->n_inner; i++)
            if (b->below[c][i] != KN_NONE) b->above[b->below[c][i]] |= b->above[c];
    }
done:
    return status;
}

/* False when the key does not fit. */
static bool place_outer(kn_bundle_lattice *b)
{
    if (b->n_outer > KN_BUNDLE_MAX_OUTER) return false;
    for (uint32_t d = 0; d < b->n_outer; d++) {
        const kn_lattice_column *column = &b->lattice->columns[b->outer[d]];
        b->outer_bits[d] = kn_bits_for(column->levels[column->min_level].n);
        b->outer_shift[d] = b->n_key_bits;
        b->n_key_bits += b->outer_bits[d];
        if (b->n_key_bits + b->n_inner_bits + KN_LANE_BITS > 63) return false;
    }
    return true;
}

/* Bit sets of sensitive values, of columns where more than one is asked for. */
static kn_status place_sets(kn_bundle_lattice *b, const uint32_t *least_values, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = b->lattice->tuples;
    KN_OWN(&b->memory, b->n_set_lanes, tuples->n_sensitive);
    for (uint32_t s = 0; s < tuples->n_sensitive; s++) {
        if (least_values[s] > 1)
            b->n_set_lanes[s] = (tuples->sensitive[s].n_values + KN_BUNDLE_SET_VALUES - 1) / KN_BUNDLE_SET_VALUES;
        b->width += KN_LATTICE_LANES * b->n_set_lanes[s];
    }
done:
    return status;
}

/* Where the counts of sensitive values stand in a slot; whole vectors. */
static kn_status place_values(kn_bundle_lattice *b, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = b->lattice->tuples;
    b->n_words = tuples->n_sensitive;
    b->most_listed = KN_VALUES_MOST_LISTED;
    KN_OWN(&b->memory, b->values_at, b->n_words);
    b->values_lanes = b->n_riders > 0 ? KN_LATTICE_LANES : 1;
    for (uint32_t s = 0; s < b->n_words; s++) {
        b->values_at[s] = b->values_width;
        b->values_width +=
            (b->values_lanes * tuples->sensitive[s].n_values + 15) / 16 * 16; /* whole vectors also of bytes */
    }
done:
    return status;
}

/* --- The base --------------------------------------------------------------------------------------------------- */

typedef struct word_jobs {
    const kn_bundle_lattice *b;
    uint64_t *words;
    uint32_t *tuples;
} word_jobs;

enum { TUPLES_PER_JOB = 1 << 15 };

static void add_field(uint64_t *words, const kn_bundle_lattice *b, uint32_t q, uint32_t begin, uint32_t end,
                      uint64_t factor)
{
    const kn_lattice_column *column = &b->lattice->columns[q];
    const uint32_t *of_code = column->levels[column->min_level].of_code, *codes = b->lattice->tuples->codes[q];
    for (uint32_t t = begin; t < end; t++) words[t] += of_code[codes[t]] * factor;
}

static kn_status fill_words(void *context, size_t job, unsigned worker, kn_error *err)
{
    const word_jobs *jobs = context;
    const kn_bundle_lattice *b = jobs->b;
    uint32_t begin = (uint32_t)job * TUPLES_PER_JOB, rest = b->lattice->tuples->n_tuples - begin;
    uint32_t end = begin + (rest < TUPLES_PER_JOB ? rest : TUPLES_PER_JOB);
    for (uint32_t t = begin; t < end; t++) {
        jobs->words[t] = 0;
        jobs->tuples[t] = t;
    }
    for (uint32_t d = 0; d < b->n_outer; d++)
        add_field(jobs->words, b, b->outer[d], begin, end,
                  1ull << (b->outer_shift[d] + b->n_inner_bits + KN_LANE_BITS));
    for (uint32_t i = 0; i < b->n_inner; i++)
        add_field(jobs->words, b, b->inner[i], begin, end, 1ull << (b->inner_shift[i] + KN_LANE_BITS));
    for (uint32_t r = 0; r < b->n_riders; r++) add_field(jobs->words, b, b->riders[r], begin, end, b->rider_stride[r]);
    return KN_OK;
}

static kn_status make_base(kn_bundle_lattice *b, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n = b->lattice->tuples->n_tuples;
    uint64_t *words = NULL;
    uint32_t *tuples = NULL;
    KN_NEW_RAW(words, n);
    KN_NEW_RAW(tuples, n);
    word_jobs jobs = {b, words, tuples};
    KN_TRY(kn_pool_run(pool, ((size_t)n + TUPLES_PER_JOB - 1) / TUPLES_PER_JOB, fill_words, &jobs, err));
    KN_TRY(kn_radix_sort(words, tuples, n, b->n_key_bits + b->n_inner_bits + KN_LANE_BITS, pool, err));
    KN_TRY(kn_bundles_of_tuples(&b->base, b, words, tuples, n, err));
done:
    kn_free(words);
    kn_free(tuples);
    return status;
}

kn_status kn_bundle_lattice_new(kn_bundle_lattice **out, const kn_lattice *lattice, const uint32_t *order,
                                uint32_t n_order, uint32_t max_combos, const uint32_t *least_values, kn_pool *pool,
                                kn_error *err)
{
    kn_status status = KN_OK;
    kn_bundle_lattice *b = NULL;
    *out = NULL;
    if (lattice->tuples->n_repeats > 0 || lattice->tuples->n_rows >= INT32_MAX) goto done;
    const uint32_t most_values = least_values != NULL ? KN_BUNDLE_MAX_SET_VALUES : KN_VALUES_MOST;
    for (uint32_t s = 0; lattice->has_histograms && s < lattice->tuples->n_sensitive; s++)
        if (lattice->tuples->sensitive[s].n_values > most_values) goto done;
    KN_NEW(b, 1);
    b->lattice = lattice;
    b->width = b->n_counts = KN_LATTICE_LANES * (lattice->has_persons ? 2 : 1);
    KN_OWN(&b->memory, b->outer, (size_t)n_order + 1);
    KN_OWN(&b->memory, b->outer_shift, (size_t)n_order + 1);
    KN_OWN(&b->memory, b->outer_bits, (size_t)n_order + 1);
    choose_riders(b);
    choose_inner(b, order, n_order, max_combos);
    if (!place_outer(b)) goto done;
    if (lattice->has_histograms && least_values != NULL) KN_TRY(place_sets(b, least_values, err));
    else if (lattice->has_histograms) KN_TRY(place_values(b, err));
    KN_TRY(number_combos(b, err));
    KN_TRY(make_base(b, pool, err));
    *out = b;
    b = NULL;
done:
    kn_bundle_lattice_free(b);
    return status;
}

void kn_bundle_lattice_free(kn_bundle_lattice *bundles)
{
    if (bundles == NULL) return;
    kn_bundles_free(&bundles->base);
    kn_owner_free(&bundles->memory);
    kn_free(bundles);
}

void kn_bundle_levels(uint32_t *levels, const kn_bundle_lattice *lattice, const kn_bundles *bundles, uint32_t combo,
                      uint32_t variant)
{
    const kn_lattice *plain = lattice->lattice;
    memcpy(levels, bundles->levels, plain->tuples->n_qis * sizeof *levels);
    for (uint32_t i = 0; i < lattice->n_inner; i++) levels[lattice->inner[i]] = lattice->combo_level[combo][i];
    for (uint32_t r = 0; r < lattice->n_riders; r++)
        levels[lattice->riders[r]] = plain->columns[lattice->riders[r]].min_level + (variant >> r & 1);
}
