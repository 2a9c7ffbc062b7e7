/* The sums of a pass over blocks; see the header. Rows are kept by inner value and priced in the end: a pass meets many
 * classes and few values. */
#include "engine/lattice/block_sums.h"

#include <string.h>

static kn_status suppressed_new(kn_suppressed *sums, const kn_block_lattice *b, kn_error *err)
{
    kn_status status = KN_OK;
    KN_NEW_ALIGNED(sums->by_value, (size_t)b->n_combos * 4 << b->n_inner_bits);
    KN_NEW_ALIGNED(sums->onward, (size_t)b->n_combos << b->n_inner_bits);
    KN_NEW_ALIGNED(sums->onward_lanes, b->n_combos);
    KN_NEW(sums->units, b->n_combos);
    KN_NEW(sums->onward_units, b->n_combos);
done:
    return status;
}

static bool exists(const kn_block_lattice *b, uint32_t combo, uint32_t value)
{
    for (uint32_t i = 0; i < b->n_inner; i++) {
        uint32_t position = value >> b->inner_shift[i] & ((1u << b->inner_bits[i]) - 1);
        if (position >= b->lattice->columns[b->inner[i]].levels[b->combo_level[combo][i]].n) return false;
    }
    return true;
}

/* An inner value at the least levels, at the levels of a combo. */
static uint32_t value_at(const kn_block_lattice *b, uint32_t combo, uint32_t value)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < b->n_inner; i++) {
        const kn_lattice_column *column = &b->lattice->columns[b->inner[i]];
        uint32_t position = value >> b->inner_shift[i] & ((1u << b->inner_bits[i]) - 1);
        uint32_t code = column->levels[column->min_level].first_code[position];
        at |= column->levels[b->combo_level[combo][i]].of_code[code] << b->inner_shift[i];
    }
    return at;
}

static kn_status raised_new(kn_block_sums *sums, const kn_block_lattice *b, kn_error *err)
{
    kn_status status = KN_OK;
    KN_NEW(sums->least, (size_t)b->n_combos << b->n_inner_bits);
    KN_NEW(sums->raised, (size_t)b->n_combos << b->n_inner_bits);
    for (uint32_t i = 0; i < sums->valid_start[1]; i++) /* combo 0: the least levels */
        for (uint32_t c = 0; c < b->n_combos; c++) {
            uint32_t value = sums->valid[i], at = value_at(b, c, value);
            sums->raised[(size_t)value * b->n_combos + c] = (uint16_t)at;
            sums->least[((size_t)c << b->n_inner_bits) + at] = (uint16_t)value;
        }
done:
    return status;
}

kn_status kn_block_sums_new(kn_block_sums **out, const kn_full_domain *domain, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_block_lattice *b = domain->blocks;
    uint32_t n = 0;
    kn_block_sums *sums = NULL;
    *out = NULL;
    KN_NEW_ALIGNED(sums, 1);
    sums->domain = domain;
    KN_TRY(suppressed_new(&sums->sure, b, err));
    if (b->n_words > 0) KN_TRY(suppressed_new(&sums->refused, b, err));
    KN_NEW(sums->valid_start, (size_t)b->n_combos + 1);
    KN_NEW_RAW(sums->valid, (size_t)b->n_combos << b->n_inner_bits);
    for (uint32_t c = 0; c < b->n_combos; c++) {
        for (uint32_t value = 0; value < 1u << b->n_inner_bits; value++)
            if (exists(b, c, value)) sums->valid[n++] = (uint16_t)value;
        sums->valid_start[c + 1] = n;
    }
    KN_TRY(raised_new(sums, b, err));
    KN_NEW(sums->gaps, b->n_outer);
    sums->n_gaps = b->n_outer;
    *out = sums;
    sums = NULL;
done:
    kn_block_sums_free(sums);
    return status;
}

void kn_block_sums_free(kn_block_sums *sums)
{
    if (sums == NULL) return;
    kn_suppressed *both[] = {&sums->sure, &sums->refused};
    for (int r = 0; r < 2; r++) {
        kn_free(both[r]->by_value);
        kn_free(both[r]->units);
        kn_free(both[r]->onward);
        kn_free(both[r]->onward_lanes);
        kn_free(both[r]->onward_units);
    }
    kn_free(sums->gaps);
    kn_free(sums->valid_start);
    kn_free(sums->valid);
    kn_free(sums->least);
    kn_free(sums->raised);
    kn_free(sums);
}

static void clear(kn_suppressed *suppressed, const kn_block_sums *sums, const kn_block_lattice *b)
{
    for (uint32_t c = 0; c < b->n_combos; c++)
        for (uint32_t i = sums->valid_start[c]; i < sums->valid_start[c + 1]; i++) {
            size_t place = ((size_t)c << b->n_inner_bits) + sums->valid[i];
            memset(&suppressed->by_value[place * 4], 0, 4 * sizeof(kn_lanes4));
            suppressed->onward[place] = (kn_lanes4){0};
        }
    memset(suppressed->units, 0, b->n_combos * sizeof *suppressed->units);
    memset(suppressed->onward_lanes, 0, b->n_combos * sizeof *suppressed->onward_lanes);
    memset(suppressed->onward_units, 0, b->n_combos * sizeof *suppressed->onward_units);
}

void kn_block_sums_clear(kn_block_sums *sums, const kn_blocks *blocks)
{
    const kn_block_lattice *b = sums->domain->blocks;
    for (uint32_t d = 0; d < b->n_outer; d++)
        sums->gaps[d] = (kn_outer_gap){sums->domain->gap[b->outer[d]][blocks->levels[b->outer[d]]],
                                       (1ull << b->outer_bits[d]) - 1, b->outer_shift[d]};
    const kn_lanes4 most = {~0u, ~0u, ~0u, ~0u};
    clear(&sums->sure, sums, b);
    if (b->n_words > 0) clear(&sums->refused, sums, b);
    memset(sums->must_go, 0, b->n_combos * sizeof *sums->must_go);
    memset(sums->onward_must_go, 0, b->n_combos * sizeof *sums->onward_must_go);
    memset(sums->classes, 0, b->n_combos * sizeof *sums->classes);
    memset(sums->always_classes, 0, sizeof sums->always_classes);
    for (int m = 0; m < 4; m++) {
        for (uint32_t c = 0; c < b->n_combos; c++) sums->smallest[c][m] = most;
        sums->always_smallest[m] = most;
    }
}

static void add(kn_suppressed *to, const kn_suppressed *more, const kn_block_sums *sums, const kn_block_lattice *b)
{
    for (uint32_t c = 0; c < b->n_combos; c++) {
        for (uint32_t i = sums->valid_start[c]; i < sums->valid_start[c + 1]; i++) {
            size_t place = ((size_t)c << b->n_inner_bits) + sums->valid[i];
            for (size_t m = 0; m < 4; m++) to->by_value[place * 4 + m] += more->by_value[place * 4 + m];
            to->onward[place] += more->onward[place];
        }
        for (int m = 0; m < 4; m++) {
            to->units[c][m] += more->units[c][m];
            to->onward_lanes[c][m] += more->onward_lanes[c][m];
            to->onward_units[c][m] += more->onward_units[c][m];
        }
    }
}

void kn_block_sums_add(kn_block_sums *sums, const kn_block_sums *more)
{
    const kn_block_lattice *b = sums->domain->blocks;
    add(&sums->sure, &more->sure, sums, b);
    if (b->n_words > 0) add(&sums->refused, &more->refused, sums, b);
    for (int m = 0; m < 4; m++) {
        for (uint32_t c = 0; c < b->n_combos; c++) {
            sums->must_go[c][m] += more->must_go[c][m];
            sums->onward_must_go[c][m] += more->onward_must_go[c][m];
            sums->classes[c][m] += more->classes[c][m];
            sums->smallest[c][m] = kn_lesser(sums->smallest[c][m], more->smallest[c][m]);
        }
        sums->always_classes[m] += more->always_classes[m];
        sums->always_smallest[m] = kn_lesser(sums->always_smallest[m], more->always_smallest[m]);
    }
}

/* Adds what is suppressed at a combo because it is at combo `lower`. */
static void add_onward(kn_lanes4 rows[4], int64_t units[4], const kn_block_sums *sums, const kn_suppressed *suppressed,
                       uint32_t lower, uint32_t combo)
{
    const kn_block_lattice *b = sums->domain->blocks;
    const int64_t *gap = sums->domain->inner_gap + ((size_t)combo << b->n_inner_bits);
    for (int m = 0; m < 4; m++) {
        rows[m] += suppressed->onward_lanes[lower][m];
        units[m] += suppressed->onward_units[lower][m];
    }
    for (uint32_t i = sums->valid_start[lower]; i < sums->valid_start[lower + 1]; i++) {
        uint32_t value = sums->valid[i];
        kn_lanes4 total = suppressed->onward[((size_t)lower << b->n_inner_bits) + value];
        if (!kn_any_lane(total)) continue;
        int64_t more = gap[kn_raised(sums, lower, value)[combo]];
        for (int m = 0; m < 4; m++) units[m] += more * (int32_t)total[m];
    }
}

void kn_suppressed_at(kn_lanes4 rows[4], int64_t units[4], const kn_block_sums *sums, const kn_suppressed *suppressed,
                      uint32_t combo)
{
    const kn_full_domain *domain = sums->domain;
    const kn_block_lattice *b = domain->blocks;
    const int64_t *gap = domain->inner_gap + ((size_t)combo << b->n_inner_bits);
    for (int m = 0; m < 4; m++) {
        rows[m] = (kn_lanes4){0};
        units[m] = suppressed->units[combo][m];
    }
    for (uint32_t i = sums->valid_start[combo]; i < sums->valid_start[combo + 1]; i++) {
        const kn_lanes4 *own = &suppressed->by_value[(((size_t)combo << b->n_inner_bits) + sums->valid[i]) * 4];
        kn_lanes4 total = kn_sum_lanes(own);
        for (int m = 0; m < 4; m++) {
            rows[m] += own[m];
            units[m] += gap[sums->valid[i]] * (int64_t)total[m];
        }
    }
    for (uint32_t lower = 0; lower <= combo; lower++)
        if (b->above[lower] >> combo & 1) add_onward(rows, units, sums, suppressed, lower, combo);
}

uint32_t kn_must_go_at(const kn_block_sums *sums, uint32_t combo, uint32_t set)
{
    kn_lanes4 rows = sums->must_go[combo][set];
    for (uint32_t lower = 0; lower <= combo; lower++)
        if (sums->domain->blocks->above[lower] >> combo & 1) rows += sums->onward_must_go[lower][set];
    return rows[0] + rows[1] + rows[2] + rows[3];
}

int64_t kn_price_of_key(const kn_block_sums *sums, uint64_t key)
{
    int64_t price = 0;
    for (uint32_t d = 0; d < sums->n_gaps; d++)
        price += sums->gaps[d].gap[key >> sums->gaps[d].shift & sums->gaps[d].mask];
    return price;
}
