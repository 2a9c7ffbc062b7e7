/* What a node of the lattice is worth; see the header. Cost of a node: a pass over its classes, with a lookup per
 * column for those that are suppressed. */
#include "engine/lattice/evaluator.h"

#include "engine/lattice/block_sums.h"
#include "engine/lattice/node_figures.h"

#include <math.h>
#include <string.h>

struct kn_evaluator {
    const kn_full_domain *domain;
    kn_roller *roller;
    kn_groups groups;
    /* kn_evaluate_levels: the last node, rolled up column by column: the next one may share its beginning. */
    kn_groups *steps;
    kn_blocks *block_steps;
    const kn_blocks *last;
    uint32_t *levels, *last_levels;
    kn_node *nodes; /* what the blocks of the last call are worth */
    kn_block_roller *block_roller;
    kn_blocks blocks;
    kn_histogram *histograms, *suppressed_histograms;
    uint32_t *entries;
    uint32_t **suppressed_sums; /* per sensitive column, by value */
    uint32_t *suppressed_entries;
    kn_cell *cells;
    struct field { /* [q]: where a group's key tells what suppressing it costs in that column, at the node at hand */
        const int64_t *gap;
        uint32_t word, shift, mask;
    } * fields;
    kn_pool *pool;
    uint32_t n_threads;
    struct scan { /* per thread */
        kn_block_sums *sums;
        kn_count_scan *counts;
        kn_histogram_scan *histograms;
        kn_block_figures *figures; /* instead of these, under a class measure */
    } * scans;
};

/* --- Evaluator ------------------------------------------------------------------------------------------------- */

static kn_status scans_new(kn_evaluator *evaluator, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_full_domain *domain = evaluator->domain;
    KN_NEW(evaluator->scans, kn_pool_threads(evaluator->pool));
    evaluator->n_threads = kn_pool_threads(evaluator->pool);
    for (uint32_t i = 0; i < evaluator->n_threads; i++) {
        struct scan *scan = &evaluator->scans[i];
        if (domain->figures != NULL && (i == 0 || kn_block_figures_may_split(evaluator->scans[0].figures)))
            KN_TRY(kn_block_figures_new(&scan->figures, domain->figures, err));
        if (domain->figures != NULL) continue;
        KN_TRY(kn_block_sums_new(&scan->sums, domain, err));
        if (domain->blocks->n_words > 0) KN_TRY(kn_histogram_scan_new(&scan->histograms, domain, err));
        else KN_TRY(kn_count_scan_new(&scan->counts, domain, err));
    }
done:
    return status;
}

kn_status kn_evaluator_new(kn_evaluator **out, const kn_full_domain *domain, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    kn_evaluator *evaluator = NULL;
    const kn_tuples *tuples = domain->task->tuples;
    *out = NULL;
    KN_NEW(evaluator, 1);
    evaluator->domain = domain;
    evaluator->pool = pool;
    KN_TRY(kn_roller_new(&evaluator->roller, domain->lattice, err));
    KN_NEW(evaluator->histograms, tuples->n_sensitive);
    KN_NEW(evaluator->suppressed_histograms, tuples->n_sensitive);
    KN_NEW(evaluator->entries, kn_lattice_entries(domain->lattice));
    KN_NEW(evaluator->suppressed_entries, kn_lattice_entries(domain->lattice));
    KN_NEW(evaluator->suppressed_sums, tuples->n_sensitive);
    for (uint32_t s = 0; s < tuples->n_sensitive; s++)
        KN_NEW(evaluator->suppressed_sums[s], tuples->sensitive[s].n_values);
    KN_NEW(evaluator->cells, tuples->n_qis);
    KN_NEW(evaluator->steps, (size_t)domain->n_order + 1);
    KN_NEW(evaluator->block_steps, (size_t)domain->n_order + 1);
    KN_NEW(evaluator->levels, tuples->n_qis);
    KN_NEW(evaluator->last_levels, tuples->n_qis);
    KN_NEW(evaluator->nodes, KN_BLOCK_MAX_COMBOS * KN_LATTICE_LANES);
    KN_NEW(evaluator->fields, (size_t)tuples->n_qis + 1);
    if (domain->blocks != NULL) {
        KN_TRY(scans_new(evaluator, err));
        KN_TRY(kn_block_roller_new(&evaluator->block_roller, domain->blocks, pool, err));
    }
    *out = evaluator;
    evaluator = NULL;
done:
    kn_evaluator_free(evaluator);
    return status;
}

void kn_evaluator_free(kn_evaluator *evaluator)
{
    if (evaluator == NULL) return;
    const kn_full_domain *domain = evaluator->domain;
    for (uint32_t s = 0; evaluator->suppressed_sums != NULL && s < domain->task->tuples->n_sensitive; s++)
        kn_free(evaluator->suppressed_sums[s]);
    kn_free(evaluator->suppressed_sums);
    kn_groups_free(&evaluator->groups, domain->lattice);
    for (uint32_t d = 0; evaluator->steps != NULL && d < domain->n_order; d++)
        kn_groups_free(&evaluator->steps[d], domain->lattice);
    for (uint32_t d = 0; evaluator->block_steps != NULL && d <= domain->n_order; d++)
        kn_blocks_free(&evaluator->block_steps[d]);
    kn_free(evaluator->steps);
    kn_free(evaluator->block_steps);
    kn_free(evaluator->levels);
    kn_free(evaluator->last_levels);
    kn_free(evaluator->nodes);
    kn_roller_free(evaluator->roller);
    kn_blocks_free(&evaluator->blocks);
    kn_block_roller_free(evaluator->block_roller);
    kn_free(evaluator->histograms);
    kn_free(evaluator->suppressed_histograms);
    kn_free(evaluator->entries);
    kn_free(evaluator->suppressed_entries);
    kn_free(evaluator->cells);
    kn_free(evaluator->fields);
    for (uint32_t i = 0; i < evaluator->n_threads; i++) {
        kn_block_sums_free(evaluator->scans[i].sums);
        kn_count_scan_free(evaluator->scans[i].counts);
        kn_histogram_scan_free(evaluator->scans[i].histograms);
        kn_block_figures_free(evaluator->scans[i].figures);
    }
    kn_free(evaluator->scans);
    kn_free(evaluator);
}

kn_roller *kn_evaluator_roller(kn_evaluator *evaluator) { return evaluator->roller; }
kn_block_roller *kn_evaluator_block_roller(kn_evaluator *evaluator) { return evaluator->block_roller; }

static void fill_fields(kn_evaluator *evaluator, const uint32_t *levels)
{
    const kn_full_domain *domain = evaluator->domain;
    for (uint32_t q = 0; q < domain->task->tuples->n_qis; q++) {
        const kn_lattice_column *column = &domain->lattice->columns[q];
        evaluator->fields[q] = (struct field){domain->gap[q][levels[q]], column->word, column->shift,
                                              (uint32_t)((1ull << column->n_bits) - 1)};
    }
}

/* What the suppressed rows of group g pay, in units, more than their cells at this node. */
static inline int64_t gap_of(const kn_evaluator *evaluator, const kn_groups *groups, uint32_t g)
{
    const kn_lattice *lattice = evaluator->domain->lattice;
    const struct field *fields = evaluator->fields;
    const uint32_t n_qis = lattice->tuples->n_qis;
    int64_t sum = 0;
    if (lattice->n_words == 1) {
        uint64_t key =
            lattice->word_bytes == 4 ? ((const uint32_t *)groups->keys)[g] : ((const uint64_t *)groups->keys)[g];
        for (uint32_t q = 0; q < n_qis; q++) sum += fields[q].gap[(key >> fields[q].shift) & fields[q].mask];
        return sum;
    }
    const uint64_t *key = (const uint64_t *)groups->keys + (size_t)g * lattice->n_words;
    for (uint32_t q = 0; q < n_qis; q++)
        sum += fields[q].gap[(key[fields[q].word] >> fields[q].shift) & fields[q].mask];
    return sum;
}

/* --- Class measures -------------------------------------------------------------------------------------------- */

static void fill_cells(kn_cell *cells, const kn_evaluator *evaluator, const kn_groups *groups, uint32_t g)
{
    const kn_tuples *tuples = evaluator->domain->task->tuples;
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        cells[q] = kn_domain_node_cell(tuples->domains[q], kn_groups_node(evaluator->domain->lattice, groups, g, q));
    }
}

/* `counts` are those of group g; its cells are needed only where a population is. */
static bool class_holds(kn_evaluator *evaluator, const kn_groups *groups, uint32_t g, kn_class_counts *counts)
{
    const kn_models *models = evaluator->domain->task->models;
    if (counts->n_persons < models->min_persons) return false;
    if (models->counts_only) return true;
    if (!(models->needs & KN_NEEDS_POPULATION)) return kn_models_hold(models, counts);
    fill_cells(evaluator->cells, evaluator, groups, g);
    return kn_models_hold_class(models, counts, evaluator->cells, NULL);
}

bool kn_evaluator_class(kn_class_counts *counts, const kn_cell **cells, kn_evaluator *evaluator,
                        const kn_groups *groups, uint32_t g)
{
    *counts = kn_groups_class(evaluator->domain->lattice, groups, g, evaluator->histograms, evaluator->entries);
    fill_cells(evaluator->cells, evaluator, groups, g);
    *cells = evaluator->cells;
    return class_holds(evaluator, groups, g, counts);
}

static double class_price(kn_evaluator *evaluator, const kn_groups *groups, uint32_t g, const kn_class_counts *counts)
{
    const kn_task *task = evaluator->domain->task;
    fill_cells(evaluator->cells, evaluator, groups, g);
    return task->objective->type->price_class(task->objective->state, task->tuples, counts, evaluator->cells, NULL,
                                              false);
}

void kn_evaluator_add_suppressed(kn_evaluator *evaluator, const kn_class_counts *counts)
{
    for (uint32_t s = 0; counts->sensitive != NULL && s < evaluator->domain->task->tuples->n_sensitive; s++)
        for (uint32_t i = 0; i < counts->sensitive[s].n; i++)
            evaluator->suppressed_sums[s][counts->sensitive[s].values[i]] += counts->sensitive[s].counts[i];
}

kn_class_counts kn_evaluator_suppressed_class(kn_evaluator *evaluator, uint64_t n_rows, uint64_t n_persons)
{
    const kn_tuples *tuples = evaluator->domain->task->tuples;
    kn_class_counts counts = {.n_rows = n_rows, .n_persons = n_persons};
    uint32_t *values = evaluator->suppressed_entries;
    if (!evaluator->domain->lattice->has_histograms) return counts;
    for (uint32_t s = 0; s < tuples->n_sensitive; s++) {
        uint32_t n = 0, n_values = tuples->sensitive[s].n_values, *sums = evaluator->suppressed_sums[s];
        for (uint32_t v = 0; v < n_values; v++) {
            values[n] = v;
            values[n_values + n] = sums[v];
            n += sums[v] > 0;
            sums[v] = 0;
        }
        evaluator->suppressed_histograms[s] = (kn_histogram){n, values, values + n_values};
        values += 2 * (size_t)n_values;
    }
    counts.sensitive = evaluator->suppressed_histograms;
    return counts;
}

/* Sums of rounded numbers depend on the order of the classes in their last digits: drop those. */
static double settle(long double sum)
{
    int exponent;
    double mantissa = frexp((double)sum, &exponent);
    return ldexp(nearbyint(mantissa * 0x1p46), exponent - 46);
}

double kn_full_domain_class_loss(const kn_full_domain *domain, const kn_objective *objective, const kn_node *node,
                                 long double sum, const kn_class_counts *suppressed)
{
    if (node->n_suppressed > 0)
        sum +=
            objective->type->price_class(objective->state, domain->task->tuples, suppressed, domain->root, NULL, true);
    return kn_full_domain_sum_loss(domain, objective, node, sum);
}

double kn_full_domain_sum_loss(const kn_full_domain *domain, const kn_objective *objective, const kn_node *node,
                               long double sum)
{
    const kn_tuples *tuples = domain->task->tuples;
    if (objective->type->finish == NULL) return settle(sum);
    kn_release sizes = {
        .tuples = tuples, .n_classes = (uint32_t)node->n_classes, .n_suppressed = (uint32_t)node->n_suppressed};
    return settle(objective->type->finish(objective->state, &sizes, settle(sum)));
}

/* --- Whole measures -------------------------------------------------------------------------------------------- */

static kn_status release_classes(kn_release *release, kn_evaluator *evaluator, const kn_groups *groups,
                                 uint32_t *class_of, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_task *task = evaluator->domain->task;
    const kn_lattice *lattice = evaluator->domain->lattice;
    uint32_t n_qis = task->tuples->n_qis;
    KN_NEW(release->cells, (size_t)groups->n * n_qis);
    KN_NEW(release->class_rows, (size_t)groups->n + 1);
    KN_NEW(release->class_persons, (size_t)groups->n + 1);
    for (uint32_t g = 0; g < groups->n; g++) {
        kn_class_counts counts = kn_groups_class(lattice, groups, g, evaluator->histograms, evaluator->entries);
        class_of[g] = KN_NONE;
        if (!class_holds(evaluator, groups, g, &counts)) {
            release->n_suppressed += (uint32_t)counts.n_rows;
            continue;
        }
        uint32_t c = class_of[g] = release->n_classes++;
        release->class_rows[c] = (uint32_t)counts.n_rows;
        release->class_persons[c] = (uint32_t)counts.n_persons;
        fill_cells(release->cells + (size_t)c * n_qis, evaluator, groups, g);
    }
    release->class_rows[release->n_classes] = release->n_suppressed;
done:
    return status;
}

/* The release that recoding would make of this node, for measures that can price nothing less. */
static kn_status whole_loss(double *loss, kn_evaluator *evaluator, const uint32_t *levels, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_task *task = evaluator->domain->task;
    const kn_tuples *tuples = task->tuples;
    kn_groups groups = {0};
    uint32_t *tuple_group = NULL, *class_of = NULL;
    kn_release *release = NULL;
    KN_NEW(release, 1);
    release->tuples = tuples;
    KN_TRY(kn_groups_of_tuples(&groups, &tuple_group, levels, evaluator->roller, err));
    KN_NEW(class_of, (size_t)groups.n + 1);
    KN_TRY(kn_set_pool_new(&release->sets, err));
    KN_TRY(release_classes(release, evaluator, &groups, class_of, err));
    KN_NEW(release->levels, tuples->n_qis);
    memcpy(release->levels, levels, tuples->n_qis * sizeof *levels);
    KN_NEW_RAW(release->row_class, tuples->n_rows);
    for (uint32_t row = 0; row < tuples->n_rows; row++)
        release->row_class[row] = class_of[tuple_group[tuples->row_tuple[row]]];
    KN_TRY(kn_release_count(release, NULL, err));
    KN_TRY(kn_objective_loss(loss, task->objective, release, err));
    *loss = settle(*loss);
done:
    kn_free(tuple_group);
    kn_free(class_of);
    kn_groups_free(&groups, evaluator->domain->lattice);
    kn_release_free(release);
    return status;
}

/* --- Nodes ----------------------------------------------------------------------------------------------------- */

/* Class measures: the loss in units, and what the surely suppressed rows cost at least. */
static void class_units(kn_node *node, const kn_full_domain *domain)
{
    const kn_task *task = domain->task;
    if (task->objective->type->suppression_bound == NULL) return;
    node->units = (int64_t)ceil(node->loss / domain->unit);
    node->sure_units =
        (int64_t)floor(task->objective->type->suppression_bound(task->tuples, node->n_sure) / domain->unit);
}

kn_status kn_evaluate(kn_node *out, kn_evaluator *evaluator, const kn_groups *groups, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_full_domain *domain = evaluator->domain;
    const kn_task *task = domain->task;
    const kn_measure *measure = task->objective->type;
    uint64_t n_suppressed_persons = 0;
    int64_t units = 0;
    long double sum = 0;
    *out = (kn_node){.smallest = groups->n > 0 ? UINT64_MAX : 0};
    for (uint32_t q = 0; measure->price_cell != NULL && q < task->tuples->n_qis; q++)
        units += domain->table_sum[q][groups->levels[q]];
    if (measure->price_cell != NULL) fill_fields(evaluator, groups->levels);
    for (uint32_t g = 0; g < groups->n; g++) {
        uint64_t persons = kn_groups_persons(domain->lattice, groups, g);
        if (persons < out->smallest) out->smallest = persons;
        kn_class_counts counts = {.n_rows = kn_groups_rows(domain->lattice, groups, g), .n_persons = persons};
        bool enough = persons >= task->models->min_persons;
        if ((!task->models->counts_only && enough) || measure->price_class != NULL)
            counts = kn_groups_class(domain->lattice, groups, g, evaluator->histograms, evaluator->entries);
        if (enough && class_holds(evaluator, groups, g, &counts)) {
            out->n_classes++;
            if (measure->price_class != NULL) sum += class_price(evaluator, groups, g, &counts);
            continue;
        }
        out->n_suppressed += counts.n_rows;
        n_suppressed_persons += persons;
        int64_t more = measure->price_cell != NULL ? (int64_t)counts.n_rows * gap_of(evaluator, groups, g) : 0;
        units += more;
        if (!enough || task->models->least_values != NULL) {
            out->n_sure += counts.n_rows;
            out->sure_units += more;
        }
        if (measure->price_class != NULL) kn_evaluator_add_suppressed(evaluator, &counts);
    }
    out->feasible = out->n_suppressed <= task->max_suppressed;
    out->units = units;
    if (measure->price_cell != NULL) out->loss = kn_full_domain_loss(domain, units);
    if (measure->price_class != NULL) {
        kn_class_counts suppressed = kn_evaluator_suppressed_class(evaluator, out->n_suppressed, n_suppressed_persons);
        out->loss = kn_full_domain_class_loss(domain, task->objective, out, sum, &suppressed);
    }
    class_units(out, domain);
    if (measure->price_cell != NULL || measure->price_class != NULL) goto done;
    if (out->feasible) KN_TRY(whole_loss(&out->loss, evaluator, groups->levels, err));
    else out->loss = NAN;
done:
    return status;
}

/* May results be kept on the way? */
static bool may_keep_steps(const kn_evaluator *evaluator)
{
    const kn_full_domain *domain = evaluator->domain;
    size_t most = domain->task->memory_bytes;
    size_t each = domain->blocks != NULL ? kn_blocks_bytes(domain->blocks, &domain->blocks->base)
                                         : kn_groups_bytes(domain->lattice, domain->lattice->base.n);
    return most == 0 || each * domain->n_order <= most;
}

/* The classes at `levels`, column by column; what an earlier call has left on the way is used as far as levels are the
 * same. Valid until the next call. */
static kn_status roll_groups(const kn_groups **out, kn_evaluator *evaluator, const uint32_t *levels, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_groups *from = &evaluator->domain->lattice->base;
    const uint32_t *order = evaluator->domain->order;
    const uint32_t n_qis = evaluator->domain->task->tuples->n_qis;
    uint32_t *at = evaluator->levels;
    memcpy(at, from->levels, n_qis * sizeof *at);
    if (!may_keep_steps(evaluator)) {
        KN_TRY(kn_groups_roll(&evaluator->groups, from, levels, evaluator->roller, err));
        *out = &evaluator->groups;
        return KN_OK;
    }
    for (uint32_t d = 0; d < n_qis; d++) {
        if (levels[order[d]] == at[order[d]]) continue;
        at[order[d]] = levels[order[d]];
        kn_groups *step = &evaluator->steps[d]; /* its levels tell what it holds, wherever it came from */
        if (step->levels == NULL || memcmp(step->levels, at, n_qis * sizeof *at) != 0)
            KN_TRY(kn_groups_roll(step, from, at, evaluator->roller, err));
        from = step;
    }
    *out = from;
done:
    return status;
}

/* The same with blocks; *same: the levels of the outer columns are those of the call before. */
static kn_status roll_blocks(const kn_blocks **out, bool *same, kn_evaluator *evaluator, const uint32_t *levels,
                             kn_error *err)
{
    kn_status status = KN_OK;
    const kn_block_lattice *b = evaluator->domain->blocks;
    const uint32_t n_qis = evaluator->domain->task->tuples->n_qis;
    const kn_blocks *from = &b->base;
    uint32_t *at = evaluator->levels;
    *same = true;
    memcpy(at, from->levels, n_qis * sizeof *at);
    if (!may_keep_steps(evaluator)) {
        KN_TRY(kn_blocks_roll(&evaluator->blocks, from, levels, evaluator->block_roller, err));
        *same = false;
        *out = &evaluator->blocks;
        return KN_OK;
    }
    for (uint32_t d = 0; d < b->n_outer; d++) {
        if (levels[b->outer[d]] == at[b->outer[d]]) continue;
        at[b->outer[d]] = levels[b->outer[d]];
        kn_blocks *step = &evaluator->block_steps[d];
        if (step->levels == NULL || memcmp(step->levels, at, n_qis * sizeof *at) != 0)
            KN_TRY(kn_blocks_roll(step, from, at, evaluator->block_roller, err));
        from = step;
    }
    *same = evaluator->last == from && memcmp(evaluator->last_levels, at, n_qis * sizeof *at) == 0;
    evaluator->last = from;
    memcpy(evaluator->last_levels, at, n_qis * sizeof *at);
    *out = from;
done:
    return status;
}

static kn_status evaluate_in_blocks(kn_node *out, kn_evaluator *evaluator, const uint32_t *levels, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_block_lattice *b = evaluator->domain->blocks;
    const kn_blocks *blocks;
    uint32_t combo = 0, variant = 0;
    bool same;
    KN_TRY(roll_blocks(&blocks, &same, evaluator, levels, err));
    if (!same) kn_evaluate_blocks(evaluator->nodes, evaluator, blocks, true);
    for (uint32_t c = 0; c < b->n_combos; c++) {
        bool fits = true;
        for (uint32_t i = 0; i < b->n_inner; i++) fits = fits && b->combo_level[c][i] == levels[b->inner[i]];
        if (fits) combo = c;
    }
    for (uint32_t r = 0; r < b->n_riders; r++)
        if (levels[b->riders[r]] > b->lattice->columns[b->riders[r]].min_level) variant |= 1u << r;
    *out = evaluator->nodes[combo * KN_LATTICE_LANES + variant];
done:
    return status;
}

kn_status kn_evaluate_levels(kn_node *out, kn_evaluator *evaluator, const uint32_t *levels, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_groups *groups;
    if (evaluator->domain->blocks != NULL) return evaluate_in_blocks(out, evaluator, levels, err);
    KN_TRY(roll_groups(&groups, evaluator, levels, err));
    KN_TRY(kn_evaluate(out, evaluator, groups, err));
done:
    return status;
}

/* --- Blocks ---------------------------------------------------------------------------------------------------- */

/* What suppressed rows pay more in the riders. Lanes that differ in a generalized rider only hold the same sum: one of
 * them counts. */
static int64_t rider_units(const kn_full_domain *domain, const kn_lanes4 *suppressed, uint32_t variant)
{
    const kn_block_lattice *lattice = domain->blocks;
    int64_t units = 0;
    for (uint32_t r = 0; r < lattice->n_riders; r++) {
        uint32_t q = lattice->riders[r];
        const kn_lattice_column *column = &domain->lattice->columns[q];
        bool generalized = variant >> r & 1;
        uint32_t level = generalized ? column->max_level : column->min_level, stride = lattice->rider_stride[r];
        for (uint32_t lane = 0; lane < KN_LATTICE_LANES; lane++) {
            uint32_t other = lattice->n_riders == 2 ? lane / (3 - stride) % 2 : 0;
            uint32_t position = lattice->n_riders == 2 ? lane / stride % 2 : lane;
            bool counted = !(generalized && position > 0);
            if (lattice->n_riders == 2 && (variant >> (1 - r) & 1) && other > 0) counted = false;
            if (!counted || position >= column->levels[column->min_level].n) continue;
            units += (int64_t)(*suppressed)[lane] * domain->gap[q][level][generalized ? 0 : position];
        }
    }
    return units;
}

/* The price of the whole table at a node, without suppression. */
static int64_t table_price(const kn_full_domain *domain, const kn_blocks *blocks, uint32_t combo, uint32_t variant)
{
    const kn_block_lattice *b = domain->blocks;
    int64_t units = 0;
    for (uint32_t d = 0; d < b->n_outer; d++) units += domain->table_sum[b->outer[d]][blocks->levels[b->outer[d]]];
    for (uint32_t i = 0; i < b->n_inner; i++) units += domain->table_sum[b->inner[i]][b->combo_level[combo][i]];
    for (uint32_t r = 0; r < b->n_riders; r++)
        units += domain->table_sum[b->riders[r]][domain->lattice->columns[b->riders[r]].min_level + (variant >> r & 1)];
    return units;
}

static void add_details(kn_node *node, const kn_block_sums *sums, uint32_t combo, uint32_t set)
{
    kn_lanes4 classes[4];
    uint32_t smallest = ~0u;
    for (int m = 0; m < 4; m++) classes[m] = sums->classes[combo][m] + sums->always_classes[m];
    for (uint32_t i = 0; i < KN_LATTICE_LANES; i++) {
        if (sums->smallest[combo][set][i] < smallest) smallest = sums->smallest[combo][set][i];
        if (sums->always_smallest[set][i] < smallest) smallest = sums->always_smallest[set][i];
    }
    node->n_classes = kn_sum_lanes(classes)[set];
    node->smallest = smallest;
}

/* What is suppressed at a combo for one reason: rows and units for each set of generalized riders. */
static void suppressed_at(uint64_t n_rows[4], int64_t units[4], const kn_full_domain *domain, const kn_block_sums *sums,
                          const kn_suppressed *suppressed, uint32_t combo)
{
    const uint32_t n_riders = domain->blocks->n_riders;
    kn_lanes4 rows[4];
    int64_t set_units[4];
    kn_suppressed_at(rows, set_units, sums, suppressed, combo);
    kn_lanes4 total = kn_sum_lanes(rows);
    for (uint32_t v = 0; v < 1u << n_riders; v++) {
        uint32_t set = n_riders == 1 ? 3 * v : v;
        n_rows[v] = total[set];
        units[v] = set_units[set] + rider_units(domain, &rows[set], v);
    }
}

/* A share of the blocks. Each job has sums of its own. */
typedef struct sum_jobs {
    kn_evaluator *evaluator;
    const kn_blocks *blocks;
    uint32_t n_jobs;
    bool details;
} sum_jobs;

static kn_status sum_job(void *context, size_t job, unsigned worker, kn_error *err)
{
    const sum_jobs *jobs = context;
    const struct scan *scan = &jobs->evaluator->scans[job];
    uint64_t n = jobs->blocks->n;
    kn_block_range range = {(uint32_t)(n * job / jobs->n_jobs), (uint32_t)(n * (job + 1) / jobs->n_jobs)};
    if (scan->figures != NULL) {
        kn_block_figures_scan(scan->figures, jobs->blocks, range, jobs->details);
        return KN_OK;
    }
    kn_block_sums_clear(scan->sums, jobs->blocks);
    if (scan->histograms != NULL) kn_scan_histograms(scan->sums, scan->histograms, jobs->blocks, range, jobs->details);
    else kn_scan_counts(scan->sums, scan->counts, jobs->blocks, range, jobs->details);
    return KN_OK;
}

/* All blocks, summed up in the first thread's sums; on the pool where it pays. */
static void sum_blocks(kn_evaluator *evaluator, const kn_blocks *blocks, bool details)
{
    enum { LEAST_SHARE = 1 << 14 };
    struct scan *first = &evaluator->scans[0];
    sum_jobs jobs = {evaluator, blocks, evaluator->n_threads, details};
    if (first->figures != NULL && !kn_block_figures_may_split(first->figures)) jobs.n_jobs = 1;
    if (blocks->n_entries / LEAST_SHARE < jobs.n_jobs) jobs.n_jobs = blocks->n_entries / LEAST_SHARE;
    if (jobs.n_jobs < 1) jobs.n_jobs = 1;
    kn_pool_run(jobs.n_jobs > 1 ? evaluator->pool : NULL, jobs.n_jobs, sum_job, &jobs, NULL); /* cannot fail */
    for (uint32_t i = 1; i < jobs.n_jobs; i++) {
        if (first->figures != NULL) kn_block_figures_add(first->figures, evaluator->scans[i].figures);
        else kn_block_sums_add(first->sums, evaluator->scans[i].sums);
    }
}

static void evaluate_figures(kn_node *out, const kn_evaluator *evaluator, const kn_blocks *blocks)
{
    const kn_block_lattice *b = evaluator->domain->blocks;
    double losses[KN_BLOCK_MAX_COMBOS * KN_LATTICE_LANES];
    kn_block_figures_finish(out, losses, evaluator->scans[0].figures, blocks);
    for (uint32_t c = 0; c < b->n_combos; c++)
        for (uint32_t v = 0; v < 1u << b->n_riders; v++) {
            kn_node *node = &out[c * KN_LATTICE_LANES + v];
            node->loss = losses[c * KN_LATTICE_LANES + v];
            class_units(node, evaluator->domain);
        }
}

void kn_evaluate_blocks(kn_node *out, kn_evaluator *evaluator, const kn_blocks *blocks, bool details)
{
    const kn_full_domain *domain = evaluator->domain;
    const kn_block_lattice *b = domain->blocks;
    const kn_block_sums *sums = evaluator->scans[0].sums;
    sum_blocks(evaluator, blocks, details);
    if (domain->figures != NULL) {
        evaluate_figures(out, evaluator, blocks);
        return;
    }
    for (uint32_t c = 0; c < b->n_combos; c++) {
        uint64_t sure[4] = {0}, refused[4] = {0};
        int64_t sure_units[4] = {0}, refused_units[4] = {0};
        suppressed_at(sure, sure_units, domain, sums, &sums->sure, c);
        if (b->n_words > 0) suppressed_at(refused, refused_units, domain, sums, &sums->refused, c);
        for (uint32_t v = 0; v < 1u << b->n_riders; v++) {
            kn_node *node = &out[c * KN_LATTICE_LANES + v];
            const uint32_t set = b->n_riders == 1 ? 3 * v : v;
            *node = (kn_node){.n_sure = sure[v] + kn_must_go_at(sums, c, set),
                              .n_suppressed = sure[v] + refused[v],
                              .sure_units = sure_units[v],
                              .units = table_price(domain, blocks, c, v) + sure_units[v] + refused_units[v]};
            node->feasible = node->n_suppressed <= domain->task->max_suppressed;
            node->loss = kn_full_domain_loss(domain, node->units);
            if (details && blocks->n > 0) add_details(node, sums, c, set);
        }
    }
}
