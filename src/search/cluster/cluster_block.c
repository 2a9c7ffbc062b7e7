/* A block of `cluster`: a part of the classes turned into lanes, with the scratch memory of one thread.
 *
 * Loading renumbers the values of every lane: a value that fewer than k records of the block have can be kept by no
 * class, so it is starred from the start; the others are numbered from 0. So 16 bits are enough for any number of
 * distinct values, and lanes that can never be kept, or never be lost, take no part in the search. */
#include "search/cluster/cluster_lanes.h"

#include "base/bits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LOADS_PER_LOOK = 32 }; /* records that are loaded and stored again in the time of a look */
enum { LANE_STARRED, LANE_KEPT, LANE_ACTIVE };

/* --- Memory ----------------------------------------------------------------------------------------------------- */

void kn_cluster_block_free(kn_cluster_block *block)
{
    if (block == NULL) return;
    kn_owner_free(&block->memory);
    kn_set_pool_free(block->set_pool);
    kn_free(block);
}

/* Two classes at least, which have up to 2k records each, as long as a try does not take too long. */
static uint32_t most_site_records(const kn_cluster_problem *problem)
{
    if (problem->k >= KN_MAX_SITE_RECORDS / 4) return KN_MAX_SITE_RECORDS;
    return 4 * problem->k > KN_SITE_RECORDS ? 4 * problem->k : KN_SITE_RECORDS;
}

static kn_status site_new(kn_cluster_site *site, kn_owner *memory, size_t n, size_t n_vectors,
                          const kn_cluster_problem *problem, size_t n_homes, kn_error *err)
{
    kn_status status = KN_OK;
    size_t n_words = (n + 63) / 64, n_sets = problem->n_sets, n_equal = problem->n_equal;
    size_t n_lanes = n_equal + 2 * problem->n_ranges + n_sets;
    site->capacity = (uint32_t)n;
    KN_OWN(memory, site->home_class, n_homes);
    KN_OWN(memory, site->home_lane, n_vectors * KN_LANES);
    KN_OWN_ALIGNED(memory, site->home_centre, (n_homes + KN_CHUNK) * n_vectors * KN_LANES);
    KN_OWN(memory, site->record, n);
    KN_OWN_ALIGNED(memory, site->lanes, n * n_vectors);
    KN_OWN_ALIGNED(memory, site->chunks, (n + KN_CHUNK) * n_lanes);
    KN_OWN_ALIGNED(memory, site->held, (n + KN_CHUNK) * n_sets);
    KN_OWN_ALIGNED(memory, site->joined_price, n + KN_CHUNK);
    KN_OWN(memory, site->n_values, n_sets);
    KN_OWN_ALIGNED(memory, site->without, n * n_vectors);
    KN_OWN_ALIGNED(memory, site->tail, n * n_vectors);
    KN_OWN_ALIGNED(memory, site->pattern, (KN_SITE_GROUPS + 1) * n_vectors);
    KN_OWN(memory, site->is_spare, n);
    KN_OWN(memory, site->without_price, n);
    KN_OWN_RAW(memory, site->joined, n * KN_SITE_GROUPS);
    KN_OWN(memory, site->checked, n);
    KN_OWN(memory, site->outside_price, n);
    KN_OWN(memory, site->home, n);
    KN_OWN(memory, site->home_known, n);
    for (int g = 0; g <= KN_SITE_GROUPS; g++) KN_OWN(memory, site->members[g], n);
    KN_OWN(memory, site->left, n);
    KN_OWN(memory, site->matches, n);
    KN_OWN(memory, site->taken, n);
    KN_OWN(memory, site->bits, 2 * n_equal * n_words);
    KN_OWN(memory, site->bits_left, (n_equal + 1) * n_words);
    KN_OWN(memory, site->order, n_equal);
    KN_OWN(memory, site->key, n_equal);
done:
    return status;
}

static uint32_t vectors(uint32_t n_lanes) { return (n_lanes + KN_LANES - 1) / KN_LANES; }

static kn_status class_memory(kn_cluster_block *block, uint32_t n_lanes, uint32_t n_vectors, kn_error *err)
{
    kn_status status = KN_OK;
    size_t n = block->record_capacity, capacity = block->class_capacity = (uint32_t)(n + KN_SITE_GROUPS);
    size_t n_padded = (capacity + 2 * KN_CHUNK) / KN_CHUNK * KN_CHUNK;
    KN_OWN(&block->memory, block->classes, n_padded);
    KN_OWN_ALIGNED(&block->memory, block->centre, n_padded * n_lanes);
    KN_OWN_ALIGNED(&block->memory, block->patterns, capacity * n_vectors);
    KN_OWN_ALIGNED(&block->memory, block->price16, n_padded);
    KN_OWN_ALIGNED(&block->memory, block->factor, n_padded);
    KN_OWN_ALIGNED(&block->memory, block->slack, n_padded);
    block->arena_capacity = 8 * n + 1024;
    KN_OWN_RAW(&block->memory, block->arena, block->arena_capacity);
    KN_OWN_RAW(&block->memory, block->arena_spare, block->arena_capacity);
    KN_OWN(&block->memory, block->class_of, n);
    KN_OWN(&block->memory, block->place, n);
    KN_OWN(&block->memory, block->suppressed, n);
    KN_OWN(&block->memory, block->scratch, n);
    KN_OWN(&block->memory, block->targets, n);
done:
    return status;
}

static uint32_t most_sensitive_values(const kn_tuples *tuples)
{
    uint32_t most = 1;
    for (uint32_t s = 0; s < tuples->n_sensitive; s++)
        if (tuples->sensitive[s].n_values > most) most = tuples->sensitive[s].n_values;
    return most;
}

kn_status kn_cluster_block_new(kn_cluster_block **out, const kn_cluster_problem *problem, uint32_t max_records,
                               kn_error *err)
{
    kn_status status = KN_OK;
    kn_cluster_block *block = NULL;
    uint32_t n = max_records, n_values = 1, n_least = 2 * problem->n_ranges, n_union = 0, n_folded = 0;
    for (uint32_t j = 0; j < problem->n_equal; j++)
        if (problem->equal[j].n_values > n_values) n_values = problem->equal[j].n_values;
    for (uint32_t s = 0; s < problem->n_sets; s++) {
        n_union += problem->sets[s].n_lanes;
        n_folded += problem->sets[s].n_folded;
    }
    uint32_t n_vectors = vectors(problem->n_equal) + vectors(n_least) + vectors(n_union);
    uint32_t n_lanes = problem->n_equal + n_least + n_folded, n_sensitive = problem->tuples->n_sensitive;
    *out = NULL;
    KN_NEW(block, 1);
    block->problem = problem;
    block->record_capacity = n;
    KN_OWN(&block->memory, block->global, n);
    KN_OWN_ALIGNED(&block->memory, block->lanes, (size_t)n * n_vectors);
    KN_OWN_ALIGNED(&block->memory, block->weight,
                   (size_t)(problem->uniform ? 1 : n) * vectors(problem->n_equal) * KN_LANES);
    KN_OWN(&block->memory, block->base, n);
    KN_OWN(&block->memory, block->person, n);
    KN_OWN(&block->memory, block->lane_state, problem->n_equal);
    KN_OWN(&block->memory, block->lane_position, problem->n_equal);
    KN_OWN(&block->memory, block->set_equal, problem->n_sets);
    KN_OWN_ALIGNED(&block->memory, block->noise, KN_NOISE);
    KN_OWN_ALIGNED(&block->memory, block->noise16, KN_NOISE + KN_CHUNK);
    KN_OWN_ALIGNED(&block->memory, block->key, n_lanes);
    KN_OWN_ALIGNED(&block->memory, block->key_weight, n_lanes);
    KN_OWN(&block->memory, block->folded, n_lanes);
    KN_OWN_ALIGNED(&block->memory, block->pattern_a, n_vectors);
    KN_OWN_ALIGNED(&block->memory, block->pattern_b, n_vectors);
    KN_OWN(&block->memory, block->value_number, n_values);
    KN_OWN_RAW(&block->memory, block->columns, (size_t)n * problem->n_equal);
    KN_OWN(&block->memory, block->codes, n);
    if (!problem->counts_only) {
        KN_OWN(&block->memory, block->sensitive, (size_t)n * n_sensitive);
        KN_OWN(&block->memory, block->histogram_values, (size_t)n * n_sensitive);
        KN_OWN(&block->memory, block->histogram_counts, (size_t)n * n_sensitive);
        KN_OWN(&block->memory, block->histograms, n_sensitive);
        KN_OWN(&block->memory, block->value_counts, most_sensitive_values(problem->tuples));
    }
    KN_TRY(class_memory(block, n_lanes, n_vectors, err));
    KN_TRY(site_new(&block->site, &block->memory, n < most_site_records(problem) ? n : most_site_records(problem),
                    n_vectors, problem, n < KN_SITE_HOMES ? n : KN_SITE_HOMES, err));
    *out = block;
    block = NULL;
done:
    kn_cluster_block_free(block);
    return status;
}

/* --- Loading ---------------------------------------------------------------------------------------------------- */

/* Numbers the values of problem lane j that at least k records have, by first appearance; stars the others. */
static void load_lane(kn_cluster_block *block, uint32_t j)
{
    const kn_cluster_problem *problem = block->problem;
    const kn_cluster_equal *lane = &problem->equal[j];
    const uint32_t *codes = problem->tuples->codes[lane->q];
    uint16_t *column = block->columns + (size_t)block->n_equal * block->n_records;
    uint32_t *number = block->value_number, n_numbers = 0, n_starred = 0;
    for (uint32_t i = 0; i < block->n_records; i++)
        number[lane->value[codes[problem->record_tuple[block->global[i]]]]]++;
    /* From here on a value's entry is its count, or its number below the top bit. */
    const uint32_t numbered = 0x80000000u;
    for (uint32_t i = 0; i < block->n_records; i++) {
        uint32_t *entry = &number[lane->value[codes[problem->record_tuple[block->global[i]]]]];
        if (!(*entry & numbered)) *entry = numbered | (*entry >= problem->k ? n_numbers++ : KN_STAR);
        column[i] = (uint16_t)(*entry & KN_STAR);
        n_starred += column[i] == KN_STAR;
    }
    for (uint32_t i = 0; i < block->n_records; i++)
        number[lane->value[codes[problem->record_tuple[block->global[i]]]]] = 0;
    block->lane_state[j] = LANE_ACTIVE;
    if (problem->tuples->domains[lane->q]->groups != NULL) n_starred = n_numbers = KN_NONE; /* small sets ask for it */
    if (n_numbers == 0) block->lane_state[j] = LANE_STARRED;
    else if (n_numbers == 1 && n_starred == 0) block->lane_state[j] = LANE_KEPT;
    if (block->lane_state[j] == LANE_STARRED)
        for (uint32_t i = 0; i < block->n_records; i++)
            block->base[i] = (int16_t)(block->base[i] + lane->weight[codes[problem->record_tuple[block->global[i]]]]);
    if (block->lane_state[j] != LANE_ACTIVE) return;
    block->lane_position[j] = block->n_equal++;
}

static void load_weights(kn_cluster_block *block)
{
    const kn_cluster_problem *problem = block->problem;
    uint32_t n_rows = problem->uniform ? 1 : block->n_records, width = block->n_vectors_equal * KN_LANES;
    block->weight_stride = problem->uniform ? 0 : width;
    memset(block->weight, 0, (size_t)n_rows * width * sizeof *block->weight);
    for (uint32_t j = 0; j < problem->n_equal; j++) {
        if (block->lane_state[j] != LANE_ACTIVE) continue;
        const kn_cluster_equal *lane = &problem->equal[j];
        const uint32_t *codes = problem->tuples->codes[lane->q];
        int16_t *weight = block->weight + block->lane_position[j];
        for (uint32_t i = 0; i < n_rows; i++)
            weight[i * block->weight_stride] = lane->weight[codes[problem->record_tuple[block->global[i]]]];
    }
}

/* The vectors of all records: equal lanes from the columns, then ends of ranges, then bits of sets. */
static void load_vectors(kn_cluster_block *block)
{
    const kn_cluster_problem *problem = block->problem;
    uint32_t n = block->n_records, n_union = 0, n_folded = 0;
    for (uint32_t s = 0; s < problem->n_sets; s++) {
        n_union += problem->sets[s].n_lanes;
        n_folded += problem->sets[s].n_folded;
    }
    block->n_vectors_equal = vectors(block->n_equal);
    block->n_vectors_least = block->n_vectors_equal + vectors(2 * problem->n_ranges);
    block->n_vectors = block->n_vectors_least + vectors(n_union);
    block->n_lanes = block->n_equal + 2 * problem->n_ranges + n_folded;
    block->n_lanes_site = block->n_equal + 2 * problem->n_ranges + problem->n_sets;
    size_t width = block->n_vectors * KN_LANES;
    memset(block->lanes, 0, (size_t)n * block->n_vectors * sizeof *block->lanes);
    uint16_t *lanes = (uint16_t *)block->lanes;
    for (uint32_t j = 0; j < block->n_equal; j++)
        for (uint32_t i = 0; i < n; i++) lanes[i * width + j] = block->columns[(size_t)j * n + i];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t tuple = problem->record_tuple[block->global[i]];
        uint16_t *least = lanes + i * width + block->n_vectors_equal * KN_LANES;
        uint16_t *bits = lanes + i * width + block->n_vectors_least * KN_LANES;
        for (uint32_t r = 0; r < problem->n_ranges; r++) {
            uint32_t code = problem->tuples->codes[problem->ranges[r].q][tuple];
            *least++ = problem->ranges[r].low[code];
            *least++ = problem->ranges[r].high_complement[code];
        }
        for (uint32_t s = 0; s < problem->n_sets; s++) {
            uint32_t bit = problem->tuples->codes[problem->sets[s].q][tuple] % (problem->sets[s].n_lanes * KN_LANES);
            bits[problem->sets[s].first_lane + bit / KN_LANES] = (uint16_t)(1u << bit % KN_LANES);
        }
    }
}

static void load_records(kn_cluster_block *block)
{
    const kn_cluster_problem *problem = block->problem;
    const kn_tuples *tuples = problem->tuples;
    for (uint32_t i = 0; i < block->n_records; i++) {
        uint32_t record = block->global[i];
        int32_t base = 0;
        for (uint32_t q = 0; q < tuples->n_qis; q++)
            base += problem->base[q][tuples->codes[q][problem->record_tuple[record]]];
        block->base[i] = (int16_t)base;
        block->person[i] = problem->record_person != NULL ? problem->record_person[record] : 1;
        if (block->sensitive == NULL) continue;
        for (uint32_t s = 0; s < tuples->n_sensitive; s++) {
            const kn_column *column = tuples->sensitive[s].column;
            block->sensitive[(size_t)s * block->record_capacity + i] =
                kn_column_value(column, kn_column_code(column, problem->record_row[record]));
        }
    }
    block->n_equal = 0;
    for (uint32_t j = 0; j < problem->n_equal; j++) load_lane(block, j);
    for (uint32_t s = 0; s < problem->n_sets; s++)
        if (problem->sets[s].n_equal > 0) block->set_equal[s] = block->lane_position[problem->sets[s].first_equal];
    load_vectors(block);
    load_weights(block);
}

void kn_cluster_block_load(kn_cluster_block *block, const kn_cluster_solution *solution, const uint32_t *classes,
                           uint32_t n_classes, const uint32_t *suppressed, uint32_t n_suppressed)
{
    uint32_t n = 0, h = 0;
    memset(block->classes, 0, block->class_capacity * sizeof *block->classes);
    for (uint32_t c = 0; c < block->class_capacity; c++) block->slack[c] = INT16_MIN;
    block->arena_n = 0;
    for (uint32_t c = 0; c < n_classes; c++, h++) {
        const uint32_t *members = solution->members + solution->start[classes[c]];
        uint32_t size = solution->start[classes[c] + 1] - solution->start[classes[c]];
        block->classes[h] = (kn_cluster_class){.size = (int32_t)size, .first = n, .capacity = size};
        for (uint32_t x = 0; x < size; x++, n++) {
            block->global[n] = members[x];
            block->arena[n] = n;
            block->class_of[n] = h;
            block->place[n] = x;
        }
    }
    block->arena_n = n;
    block->n_classes = h;
    for (uint32_t x = 0; x < n_suppressed; x++, n++) {
        block->global[n] = suppressed[x];
        block->suppressed[x] = n;
        block->class_of[n] = KN_NONE;
    }
    block->n_suppressed = n_suppressed;
    block->n_records = n;
    block->work = n / LOADS_PER_LOOK;
    for (block->noise_mask = 63; block->noise_mask < 2 * n && block->noise_mask + 1 < KN_NOISE;)
        block->noise_mask = 2 * block->noise_mask + 1;
    load_records(block);
    for (h = 0; h < block->n_classes; h++)
        for (int32_t x = 0; x < block->classes[h].size; x++)
            block->classes[h].persons += block->person[block->arena[block->classes[h].first + (uint32_t)x]];
}

/* --- What the engine asks for ----------------------------------------------------------------------------------- */

bool kn_cluster_lane_kept(const kn_cluster_block *block, uint32_t j, const kn_lanes *pattern)
{
    if (block->lane_state[j] != LANE_ACTIVE) return block->lane_state[j] == LANE_KEPT;
    return ((const uint16_t *)pattern)[block->lane_position[j]] != KN_STAR;
}

static int64_t exact_tree(const kn_cluster_block *block, uint32_t q, uint32_t code, const kn_lanes *pattern)
{
    const kn_cluster_problem *problem = block->problem;
    for (uint32_t j = problem->column_first[q]; j < problem->column_first[q + 1]; j++)
        if (kn_cluster_lane_kept(block, j, pattern)) return problem->exact[q][problem->equal[j].value[code]];
    const kn_domain *domain = problem->tuples->domains[q];
    return problem->exact[q][domain->groups != NULL ? domain->groups->root : domain->tree->root];
}

/* More values than a set may have? Values may share bits, so there may be more where there seem to be few. */
static bool is_group(const kn_cluster_block *block, uint32_t q, const kn_lanes *pattern)
{
    const kn_cluster_problem *problem = block->problem;
    const uint16_t *unions = (const uint16_t *)(pattern + block->n_vectors_least);
    if (problem->tuples->domains[q]->groups == NULL) return false;
    for (const kn_cluster_set *set = problem->sets;; set++)
        if (set->q == q) return lanes_count(unions + set->first_lane, set->n_lanes) > set->max_members;
}

static void sort_numbers(uint32_t *numbers, uint32_t n)
{
    if (n > 64) {
        qsort(numbers, n, sizeof *numbers, kn_compare_u32);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        uint32_t number = numbers[i], x = i;
        for (; x > 0 && numbers[x - 1] > number; x--) numbers[x] = numbers[x - 1];
        numbers[x] = number;
    }
}

/* A set whose price is known only once it is made: it goes through a pool, which is emptied now and then. */
static double price_of_made_set(kn_cluster_block *block, uint32_t q, uint32_t n_values)
{
    const kn_cluster_problem *problem = block->problem;
    kn_cell cell;
    if (block->set_pool != NULL && block->n_pooled++ >= 1000) {
        kn_set_pool_free(block->set_pool);
        block->set_pool = NULL;
        block->n_pooled = 0;
    }
    if ((block->set_pool == NULL && kn_set_pool_new(&block->set_pool, NULL) != KN_OK) ||
        kn_domain_closure(&cell, problem->tuples->domains[q], block->set_pool, block->codes, n_values, NULL) != KN_OK)
        return problem->pricer->columns[q].root_price; /* out of memory: the dearest cell is a safe answer */
    return kn_objective_price(problem->task->objective, block->set_pool, q, &cell);
}

/* RANGES and SETS: from the members' codes. */
static int64_t exact_other(kn_cluster_block *block, uint32_t q, const uint32_t *members, uint32_t n_members)
{
    const kn_cluster_problem *problem = block->problem;
    const uint32_t *codes = problem->tuples->codes[q];
    kn_span span = kn_span_empty();
    for (uint32_t x = 0; x < n_members; x++) {
        uint32_t code = codes[problem->record_tuple[block->global[members[x]]]];
        block->codes[x] = code;
        if (code < span.first) span.first = code;
        if (code > span.last) span.last = code;
    }
    if (problem->tuples->domains[q]->kind == KN_DOMAIN_SETS) {
        sort_numbers(block->codes, n_members);
        uint32_t n = 0;
        for (uint32_t x = 0; x < n_members; x++)
            if (n == 0 || block->codes[x] != block->codes[n - 1]) {
                block->codes[n++] = block->codes[x];
                kn_span_add_value(&span, &problem->pricer->columns[q], block->codes[n - 1]);
            }
        if (n > 1 && problem->sets_need_making) return llround(problem->exact_scale * price_of_made_set(block, q, n));
    }
    return llround(problem->exact_scale * kn_pricer_price(problem->pricer, q, &span));
}

int64_t kn_cluster_exact(kn_cluster_block *block, const uint32_t *members, uint32_t n_members, const kn_lanes *pattern)
{
    const kn_cluster_problem *problem = block->problem;
    const kn_tuples *tuples = problem->tuples;
    uint32_t tuple = problem->record_tuple[block->global[members[0]]];
    int64_t price = 0;
    for (uint32_t q = 0; q < tuples->n_qis; q++)
        price += tuples->domains[q]->kind == KN_DOMAIN_TREE || is_group(block, q, pattern)
                     ? exact_tree(block, q, tuples->codes[q][tuple], pattern)
                     : exact_other(block, q, members, n_members);
    return price;
}

/* --- What models are asked about -------------------------------------------------------------------------------- */

/* The histogram of column s from the numbers in block->codes: by counting where the column has few values. */
static void count_column(kn_cluster_block *block, uint32_t s, uint32_t n_members)
{
    size_t first = (size_t)s * block->record_capacity;
    uint32_t *values = block->histogram_values + first, n = 0;
    uint64_t *counts = block->histogram_counts + first;
    uint32_t n_values = block->problem->tuples->sensitive[s].n_values, *number = block->value_counts;
    if (n_values / 4 <= n_members) {
        for (uint32_t x = 0; x < n_members; x++) number[block->codes[x]]++;
        for (uint32_t value = 0; value < n_values; value++) {
            if (number[value] == 0) continue;
            values[n] = value;
            counts[n++] = number[value];
            number[value] = 0;
        }
    } else {
        sort_numbers(block->codes, n_members);
        for (uint32_t x = 0; x < n_members; x++) {
            if (n == 0 || values[n - 1] != block->codes[x]) {
                values[n] = block->codes[x];
                counts[n++] = 0;
            }
            counts[n - 1]++;
        }
    }
    block->histograms[s] = (kn_histogram){n, values, counts};
}

void kn_cluster_count(kn_cluster_block *block, const uint32_t *members, uint32_t n_members)
{
    for (uint32_t s = 0; s < block->problem->tuples->n_sensitive; s++) {
        const uint32_t *sensitive = block->sensitive + (size_t)s * block->record_capacity;
        for (uint32_t x = 0; x < n_members; x++) block->codes[x] = sensitive[members[x]];
        count_column(block, s, n_members);
    }
}

/* Where the value stands in the histogram, or would stand. */
static uint32_t place_of_value(const kn_histogram *histogram, uint32_t value)
{
    uint32_t low = 0, high = histogram->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (histogram->values[middle] < value) low = middle + 1;
        else high = middle;
    }
    return low;
}

void kn_cluster_count_one(kn_cluster_block *block, uint32_t record)
{
    for (uint32_t s = 0; s < block->problem->tuples->n_sensitive; s++) {
        size_t first = (size_t)s * block->record_capacity;
        uint32_t *values = block->histogram_values + first;
        uint64_t *counts = block->histogram_counts + first;
        uint32_t value = block->sensitive[first + record], n = block->histograms[s].n;
        uint32_t place = place_of_value(&block->histograms[s], value);
        if (place == n || values[place] != value) {
            memmove(values + place + 1, values + place, (n - place) * sizeof *values);
            memmove(counts + place + 1, counts + place, (n - place) * sizeof *counts);
            values[place] = value;
            counts[place] = 0;
            block->histograms[s].n++;
        }
        counts[place]++;
    }
}

uint32_t kn_cluster_counted_like(const kn_cluster_block *block, uint32_t record)
{
    const kn_histogram *histogram = &block->histograms[0];
    uint32_t value = block->sensitive[record], place = place_of_value(histogram, value);
    return place < histogram->n && histogram->values[place] == value ? (uint32_t)histogram->counts[place] : 0;
}

bool kn_cluster_counted_hold(const kn_cluster_block *block, uint32_t n_members, int32_t n_persons)
{
    kn_class_counts class = {.n_rows = n_members, .n_persons = (uint64_t)n_persons, .sensitive = block->histograms};
    return n_persons >= (int32_t)block->problem->k && kn_models_hold(block->problem->task->models, &class);
}

bool kn_cluster_holds(kn_cluster_block *block, const uint32_t *members, uint32_t n_members, int32_t n_persons)
{
    if (n_persons < (int32_t)block->problem->k) return false;
    if (block->problem->counts_only) return true;
    kn_cluster_count(block, members, n_members);
    return kn_cluster_counted_hold(block, n_members, n_persons);
}

/* --- Noise, time ------------------------------------------------------------------------------------------------- */

static void set_noise(kn_cluster_block *block, uint32_t i, int32_t noise)
{
    block->noise[i] = noise;
    block->noise16[i] = (int16_t)(noise > INT16_MAX ? INT16_MAX : noise < INT16_MIN ? INT16_MIN : noise);
    if (i < KN_CHUNK) block->noise16[block->noise_mask + 1 + i] = block->noise16[i];
}

void kn_cluster_noise(kn_cluster_block *block, double temperature)
{
    for (uint32_t i = 0; i <= block->noise_mask; i++) {
        double u = temperature > 0 ? 1 - kn_rng_unit(&block->rng) : 0.5;
        set_noise(block, i, (int32_t)lround(temperature * log(-log(u) + 1e-12)));
    }
}

void kn_cluster_near_noise(kn_cluster_block *block, double units)
{
    uint32_t most = (uint32_t)units + 1;
    for (uint32_t i = 0; i <= block->noise_mask; i++) set_noise(block, i, (int32_t)kn_rng_below(&block->rng, most));
}

double kn_cluster_allowed(kn_cluster_block *block, double heat)
{
    return heat > 0 ? 1 - heat * log(1 - kn_rng_unit(&block->rng)) : 1;
}

void kn_cluster_cool(kn_cluster_block *block, const kn_cluster_job *job, double part)
{
    block->penalty = (int32_t)(job->penalty_first + (job->penalty_last - job->penalty_first) * part);
    kn_cluster_noise(block, job->hot > 0 ? job->hot * pow(job->cold / job->hot, part) : 0);
}

void kn_cluster_poll(kn_cluster_block *block)
{
    if (kn_ticker_out_of_time(block->problem->task->ticker)) atomic_store(block->stop, true);
}
