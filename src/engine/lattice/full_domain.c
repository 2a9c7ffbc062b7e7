/* The lattice with its prices, and answers from it; see the header. */
#include "engine/lattice/evaluator.h"
#include "engine/lattice/node_figures.h"

#include <math.h>
#include <string.h>

/* --- Prices ---------------------------------------------------------------------------------------------------- */

static double total_price(const kn_tuples *tuples, const kn_objective *objective)
{
    double sum = 0;
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        const kn_tree *tree = tuples->domains[q]->tree;
        double most = fabs(objective->root_price[q]);
        for (uint32_t node = 0; node < tree->n_nodes; node++)
            if (fabs(objective->node_price[q][node]) > most) most = fabs(objective->node_price[q][node]);
        sum += most;
    }
    return sum * tuples->n_rows;
}

static int64_t in_units(const kn_full_domain *domain, double price) { return llround(price / domain->unit); }

static kn_status column_prices(kn_full_domain *domain, uint32_t q, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_objective *objective = domain->objective;
    const kn_domain *values = domain->task->tuples->domains[q];
    const kn_lattice_column *column = &domain->lattice->columns[q];
    int64_t root = in_units(domain, objective->root_price[q]);
    domain->root_sum += root;
    KN_NEW(domain->table_sum[q], (size_t)column->max_level + 1);
    KN_NEW(domain->gap[q], (size_t)column->max_level + 1);
    for (uint32_t l = column->min_level; l <= column->max_level; l++) {
        const kn_lattice_level *level = &column->levels[l];
        KN_NEW(domain->gap[q][l], level->n);
        for (uint32_t p = 0; p < level->n; p++)
            domain->gap[q][l][p] = root - in_units(domain, objective->node_price[q][level->node[p]]);
        for (uint32_t code = 0; code < values->n_codes; code++)
            if (level->of_code[code] != KN_NONE)
                domain->table_sum[q][l] +=
                    (int64_t)kn_domain_code_rows(values, code) * (root - domain->gap[q][l][level->of_code[code]]);
        for (uint32_t p = 0; p < level->n; p++)
            if (domain->gap[q][l][p] < 0) domain->monotone_prices = false;
        for (uint32_t p = 0; l > column->min_level && p < column->levels[l - 1].n; p++)
            if (domain->gap[q][l][level->of_code[column->levels[l - 1].first_code[p]]] > domain->gap[q][l - 1][p])
                domain->monotone_prices = false;
    }
done:
    return status;
}

/* The unit is a power of two, the smallest for which no sum over the table overflows. */
static kn_status prices(kn_full_domain *domain, const kn_objective *objective, kn_error *err)
{
    kn_status status = KN_OK;
    domain->objective = objective;
    uint32_t n_qis = domain->task->tuples->n_qis;
    int exponent;
    frexp(total_price(domain->task->tuples, objective), &exponent);
    domain->unit = ldexp(1, exponent - 61);
    KN_NEW(domain->table_sum, n_qis);
    KN_NEW(domain->gap, n_qis);
    domain->monotone_prices = true;
    for (uint32_t q = 0; q < n_qis; q++) KN_TRY(column_prices(domain, q, err));
done:
    return status;
}

/* Prices that fall when values are generalized: a suppressed row may pay less than its cells did. Column by column, so
 * many rows that save most would have to be suppressed, or all rows that save anything. */
static void bound_gaps(kn_full_domain *domain)
{
    const uint64_t allowed = domain->task->max_suppressed, n_rows = domain->task->tuples->n_rows;
    const int64_t most_rows = (int64_t)(allowed < n_rows ? allowed : n_rows);
    if (domain->monotone_prices) return;
    for (uint32_t q = 0; q < domain->task->tuples->n_qis; q++) {
        const kn_lattice_column *column = &domain->lattice->columns[q];
        const kn_domain *values = domain->task->tuples->domains[q];
        int64_t least_of_column = 0;
        for (uint32_t l = column->min_level; l <= column->max_level; l++) {
            const kn_lattice_level *level = &column->levels[l];
            int64_t least_of_row = 0, all = 0;
            for (uint32_t code = 0; code < values->n_codes; code++) {
                const int64_t gap = level->of_code[code] != KN_NONE ? domain->gap[q][l][level->of_code[code]] : 0;
                if (gap >= 0) continue;
                all += gap * (int64_t)kn_domain_code_rows(values, code);
                if (gap < least_of_row) least_of_row = gap;
            }
            const int64_t least = least_of_row * most_rows > all ? least_of_row * most_rows : all;
            if (least < least_of_column) least_of_column = least;
        }
        domain->least_more += least_of_column;
    }
}

double kn_full_domain_loss(const kn_full_domain *domain, int64_t sum)
{
    const kn_objective *objective = domain->objective;
    if (objective == NULL) return (double)sum * domain->unit;
    return ((double)sum * domain->unit - objective->discount) * objective->scale;
}

/* What suppressed rows pay more in the inner columns, for each combo and inner value at its levels. */
static kn_status inner_gaps(kn_full_domain *domain, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_block_lattice *b = domain->blocks;
    KN_NEW(domain->inner_gap, (size_t)b->n_combos << b->n_inner_bits);
    for (uint32_t c = 0; c < b->n_combos; c++)
        for (uint32_t value = 0; value < 1u << b->n_inner_bits; value++)
            for (uint32_t i = 0; i < b->n_inner; i++) {
                uint32_t level = b->combo_level[c][i];
                uint32_t position = kn_inner_position(b, i, value);
                if (position < domain->lattice->columns[b->inner[i]].levels[level].n)
                    domain->inner_gap[((size_t)c << b->n_inner_bits) + value] +=
                        domain->gap[b->inner[i]][level][position];
            }
done:
    return status;
}

/* Blocks have no persons in several tuples and cannot ask a population; class measures they price as far as the figures
 * are not too many. */
static bool may_have_blocks(const kn_task *task)
{
    if ((task->models->needs & KN_NEEDS_POPULATION) || !task->models->monotone || task->tuples->n_repeats > 0)
        return false;
    return kn_figures_by_blocks(task->objective);
}

static kn_status block_lattice(kn_full_domain *domain, uint32_t max_combos, kn_error *err)
{
    kn_status status = KN_OK;
    enum { MOST_BYTES = 1 << 26 };
    const kn_task *task = domain->task;
    bool cells = task->objective->type->price_cell != NULL;
    const uint32_t *least_values = cells || !domain->lattice->has_histograms ? task->models->least_values : NULL;
    while (!cells && max_combos > 1 && kn_block_figures_bytes(domain->lattice, max_combos) > MOST_BYTES) max_combos--;
    KN_TRY(kn_block_lattice_new(&domain->blocks, domain->lattice, domain->order, domain->n_order, max_combos,
                                least_values, task->pool, err));
    if (domain->blocks == NULL) goto done;
    if (cells) KN_TRY(inner_gaps(domain, err));
    else KN_TRY(kn_figures_new(&domain->figures, domain, &task->objective, 1, err));
done:
    return status;
}

kn_status kn_full_domain_new(kn_full_domain **out, const kn_task *task, uint32_t max_combos, kn_error *err)
{
    kn_status status = KN_OK;
    kn_full_domain *domain = NULL;
    const kn_measure *measure = task->objective->type;
    *out = NULL;
    KN_NEW(domain, 1);
    domain->task = task;
    bool histograms = (task->models->needs & KN_NEEDS_HISTOGRAM) || (measure->needs & KN_MEASURE_NEEDS_CLASS_COLUMN);
    bool blocks = max_combos > 0 && may_have_blocks(task);
    unsigned flags = histograms ? KN_LATTICE_HISTOGRAMS : 0;
    KN_TRY(kn_lattice_new(&domain->lattice, task->tuples, flags | (blocks ? KN_LATTICE_NO_BASE : 0), err));
    KN_TRY(kn_lattice_order(&domain->order, &domain->n_order, domain->lattice, err));
    domain->upward_closed = task->models->least_values != NULL || (task->models->monotone && task->max_suppressed == 0);
    KN_NEW(domain->root, task->tuples->n_qis);
    for (uint32_t q = 0; q < task->tuples->n_qis; q++) domain->root[q] = kn_domain_root(task->tuples->domains[q]);
    if (measure->price_cell != NULL) {
        KN_TRY(prices(domain, task->objective, err));
        bound_gaps(domain);
    }
    if (measure->suppression_bound != NULL) domain->unit = 0x1p-10;
    domain->bounded = measure->price_cell != NULL || (measure->suppression_bound != NULL && measure->finish == NULL);
    if (blocks) KN_TRY(block_lattice(domain, max_combos, err));
    if (blocks && domain->blocks == NULL) {
        kn_lattice *with_base;
        KN_TRY(kn_lattice_new(&with_base, task->tuples, flags, err));
        kn_lattice_free(domain->lattice);
        domain->lattice = with_base;
    }
    *out = domain;
    domain = NULL;
done:
    kn_full_domain_free(domain);
    return status;
}

kn_status kn_full_domain_new_prices(kn_full_domain **out, const kn_task *task, const kn_objective *objective,
                                    kn_error *err)
{
    kn_status status = KN_OK;
    kn_full_domain *domain = NULL;
    *out = NULL;
    KN_NEW(domain, 1);
    domain->task = task;
    KN_TRY(kn_lattice_new(&domain->lattice, task->tuples, KN_LATTICE_NO_BASE, err));
    KN_TRY(prices(domain, objective, err));
    *out = domain;
    domain = NULL;
done:
    kn_full_domain_free(domain);
    return status;
}

void kn_full_domain_free(kn_full_domain *domain)
{
    if (domain == NULL) return;
    for (uint32_t q = 0; domain->gap != NULL && q < domain->task->tuples->n_qis; q++) {
        for (uint32_t l = 0; domain->gap[q] != NULL && l <= domain->lattice->columns[q].max_level; l++)
            kn_free(domain->gap[q][l]);
        kn_free(domain->gap[q]);
        kn_free(domain->table_sum[q]);
    }
    kn_free(domain->gap);
    kn_free(domain->table_sum);
    kn_free(domain->order);
    kn_free(domain->root);
    kn_free(domain->inner_gap);
    kn_figures_free(domain->figures);
    kn_block_lattice_free(domain->blocks);
    kn_lattice_free(domain->lattice);
    kn_free(domain);
}

/* --- Nodes ----------------------------------------------------------------------------------------------------- */

void kn_full_domain_roll_order(uint32_t *columns, const kn_full_domain *domain)
{
    const kn_block_lattice *b = domain->blocks;
    uint32_t n = 0;
    if (b == NULL) {
        memcpy(columns, domain->order, domain->n_order * sizeof *columns);
        return;
    }
    for (uint32_t d = 0; d < b->n_outer; d++) columns[n++] = b->outer[d];
    for (uint32_t i = 0; i < b->n_inner; i++) columns[n++] = b->inner[i];
    for (uint32_t r = 0; r < b->n_riders; r++) columns[n++] = b->riders[r];
}

void kn_block_levels(uint32_t *levels, const kn_block_lattice *lattice, const kn_blocks *blocks, uint32_t combo,
                     uint32_t variant)
{
    const kn_lattice *plain = lattice->lattice;
    memcpy(levels, blocks->levels, plain->tuples->n_qis * sizeof *levels);
    for (uint32_t i = 0; i < lattice->n_inner; i++) levels[lattice->inner[i]] = lattice->combo_level[combo][i];
    for (uint32_t r = 0; r < lattice->n_riders; r++)
        levels[lattice->riders[r]] = plain->columns[lattice->riders[r]].min_level + (variant >> r & 1);
}

int kn_node_compare(const kn_node *a, const uint32_t *a_levels, const kn_node *b, const uint32_t *b_levels,
                    uint32_t n_qis)
{
    if (a->loss != b->loss) return a->loss < b->loss ? -1 : 1;
    if (a->n_suppressed != b->n_suppressed) return a->n_suppressed < b->n_suppressed ? -1 : 1;
    for (uint32_t q = 0; q < n_qis; q++)
        if (a_levels[q] != b_levels[q]) return a_levels[q] < b_levels[q] ? -1 : 1;
    return 0;
}

/* --- Answers --------------------------------------------------------------------------------------------------- */

kn_status kn_full_domain_answer(kn_answer *answer, const kn_full_domain *domain, const uint32_t *levels, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_qis = domain->task->tuples->n_qis;
    answer->recoding = KN_RECODING_LEVELS;
    answer->bound = NAN;
    KN_NEW(answer->levels, n_qis);
    memcpy(answer->levels, levels, n_qis * sizeof *levels);
done:
    return status;
}

kn_status kn_full_domain_refuse(const kn_full_domain *domain, kn_error *err)
{
    kn_status status = KN_OK;
    kn_evaluator *evaluator = NULL;
    uint32_t n_qis = domain->task->tuples->n_qis, *levels = NULL;
    kn_node top;
    KN_TRY(kn_evaluator_new(&evaluator, domain, domain->task->pool, err));
    KN_NEW(levels, n_qis);
    for (uint32_t q = 0; q < n_qis; q++) levels[q] = domain->lattice->columns[q].max_level;
    KN_TRY(kn_evaluate_levels(&top, evaluator, levels, err));
    KN_FAIL(KN_NOT_MET,
            "no generalization meets the models: even the most general one would suppress %llu rows, and at most %llu "
            "may be; allow more with --max-suppressed, raise max_level, or ask for less",
            (unsigned long long)top.n_suppressed, (unsigned long long)domain->task->max_suppressed);
done:
    kn_free(levels);
    kn_evaluator_free(evaluator);
    return status;
}

void kn_levels_text(kn_buffer *out, const uint32_t *levels, uint32_t n_qis)
{
    for (uint32_t q = 0; q < n_qis; q++) kn_buffer_printf(out, "%s%u", q == 0 ? "[" : ", ", levels[q]);
    kn_buffer_text(out, n_qis == 0 ? "[]" : "]");
}
