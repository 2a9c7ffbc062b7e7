/* Blocks with histograms; see the header. Models are asked only about classes with persons enough, and a block with too
 * few persons altogether is suppressed in every combo without looking closer. Classes of a combo come from those of the
 * combo one level below that has fewest; a class that nothing was added to keeps its verdict, and so does what is merged
 * of classes that hold where the models are monotone. */
#include "algo/block_histograms.h"

#include <string.h>

typedef uint32_t lanes4 __attribute__((vector_size(16), may_alias));

enum { HOLDS = -1, TOO_FEW = 0, REFUSED = 1, UNKNOWN = 2 };

/* The classes of one block at one combo. */
typedef struct class_list {
    uint32_t n;
    uint16_t *value;
    int8_t *verdict;  /* as `judge` says; UNKNOWN: not asked yet */
    uint32_t *counts; /* [class * width] */
} class_list;

/* What is suppressed, per combo; [0] for want of persons, [1] by the models. */
typedef struct combo_sums {
    uint64_t rows[2];
    int64_t units[2];
    uint64_t n_classes, smallest;
} combo_sums;

struct kn_block_histograms {
    const kn_full_domain *domain;
    combo_sums combos[KN_BLOCK_MAX_COMBOS], always;
    uint32_t by_position[2][KN_BLOCK_MAX_INNER][1 << KN_BLOCK_MAX_INNER_BITS]; /* rows suppressed in every combo */
    uint32_t where[1 << KN_BLOCK_MAX_INNER_BITS];
    class_list lists[KN_BLOCK_MAX_COMBOS];
    kn_histogram *histograms;
    uint32_t *entries;
};

kn_status kn_block_histograms_new(kn_block_histograms **out, const kn_full_domain *domain, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_block_lattice *b = domain->blocks;
    kn_block_histograms *scratch = NULL;
    *out = NULL;
    KN_NEW(scratch, 1);
    scratch->domain = domain;
    KN_NEW(scratch->histograms, domain->lattice->tuples->n_sensitive);
    KN_NEW(scratch->entries, kn_lattice_entries(domain->lattice));
    for (uint32_t c = 0; c < b->n_combos; c++) {
        class_list *list = &scratch->lists[c];
        KN_NEW_RAW(list->value, (size_t)1 << b->n_inner_bits);
        KN_NEW_RAW(list->verdict, (size_t)1 << b->n_inner_bits);
        list->counts = kn_array_alloc_aligned((size_t)b->width << b->n_inner_bits, sizeof *list->counts, err);
        if (list->counts == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
    }
    *out = scratch;
    scratch = NULL;
done:
    kn_block_histograms_free(scratch);
    return status;
}

void kn_block_histograms_free(kn_block_histograms *scratch)
{
    if (scratch == NULL) return;
    for (uint32_t c = 0; c < KN_BLOCK_MAX_COMBOS; c++) {
        kn_free(scratch->lists[c].value);
        kn_free(scratch->lists[c].verdict);
        kn_free(scratch->lists[c].counts);
    }
    kn_free(scratch->histograms);
    kn_free(scratch->entries);
    kn_free(scratch);
}

static int judge(kn_block_histograms *scratch, const uint32_t *counts)
{
    const kn_lattice *lattice = scratch->domain->lattice;
    const kn_models *models = scratch->domain->task->models;
    if (counts[lattice->has_persons] < models->min_persons) return TOO_FEW;
    if (models->counts_only) return HOLDS;
    kn_class_counts class_counts = kn_lattice_class(lattice, counts, scratch->histograms, scratch->entries);
    return kn_models_hold(models, &class_counts) ? HOLDS : REFUSED;
}

static void note_class(combo_sums *sums, uint32_t persons, bool holds)
{
    sums->n_classes += holds;
    if (persons < sums->smallest) sums->smallest = persons;
}

/* Rows that are suppressed whatever the inner levels are. */
static void add_always(kn_block_histograms *scratch, uint32_t rows, uint32_t inner, int64_t price, int why)
{
    const kn_block_lattice *b = scratch->domain->blocks;
    scratch->always.rows[why] += rows;
    scratch->always.units[why] += price * (int64_t)rows;
    for (uint32_t i = 0; i < b->n_inner; i++)
        scratch->by_position[why][i][inner >> b->inner_shift[i] & ((1u << b->inner_bits[i]) - 1)] += rows;
}

static inline __attribute__((always_inline)) void add_counts(uint32_t *to, const uint32_t *from, uint32_t width)
{
    for (uint32_t w = 0; w < width; w += 4) *(lanes4 *)(to + w) += *(const lanes4 *)(from + w);
}

static inline __attribute__((always_inline)) void raise_classes(kn_block_histograms *scratch, uint32_t c, uint32_t width)
{
    const kn_block_lattice *b = scratch->domain->blocks;
    uint32_t from = KN_NONE, column = 0, n = 0;
    for (uint32_t i = 0; i < b->n_inner; i++) {
        uint32_t lower = b->below[c][i];
        if (lower == KN_NONE || (from != KN_NONE && scratch->lists[lower].n >= scratch->lists[from].n)) continue;
        from = lower;
        column = i;
    }
    const uint16_t *raised = b->raised + (((size_t)c * b->n_inner + column) << b->n_inner_bits);
    const class_list *list = &scratch->lists[from];
    class_list *out = &scratch->lists[c];
    const bool monotone = scratch->domain->task->models->monotone;
    for (uint32_t j = 0; j < list->n; j++) {
        uint32_t value = raised[list->value[j]], at = scratch->where[value];
        const uint32_t *counts = list->counts + (size_t)j * width;
        if (at >= n || out->value[at] != value) {
            at = scratch->where[value] = n++;
            out->value[at] = (uint16_t)value;
            out->verdict[at] = list->verdict[j];
            memcpy(out->counts + (size_t)at * width, counts, width * sizeof *counts);
        } else {
            add_counts(out->counts + (size_t)at * width, counts, width);
            if (!monotone || out->verdict[at] != HOLDS || list->verdict[j] != HOLDS) out->verdict[at] = UNKNOWN;
        }
    }
    out->n = n;
}

/* A block whose classes differ from combo to combo. */
static void mixed_block(kn_block_histograms *scratch, const kn_blocks *blocks, uint32_t block, bool details)
{
    const kn_full_domain *domain = scratch->domain;
    const kn_block_lattice *b = domain->blocks;
    const uint32_t first = blocks->start[block], n = blocks->start[block + 1] - first, width = b->width;
    uint32_t clean = 0;
    scratch->lists[0].n = n;
    memcpy(scratch->lists[0].value, blocks->inner + first, n * sizeof *blocks->inner);
    memset(scratch->lists[0].verdict, UNKNOWN, n);
    memcpy(scratch->lists[0].counts, blocks->counts + (size_t)first * width, (size_t)n * width * sizeof *blocks->counts);
    for (uint32_t c = 0; c < b->n_combos; c++) {
        if (clean >> c & 1) continue;
        if (c > 0 && width == 16) raise_classes(scratch, c, 16);
        else if (c > 0) raise_classes(scratch, c, width);
        const int64_t *gap = domain->inner_gap + ((size_t)c << b->n_inner_bits);
        class_list *list = &scratch->lists[c];
        combo_sums *sums = &scratch->combos[c];
        bool any = false;
        for (uint32_t j = 0; j < list->n; j++) {
            const uint32_t *counts = list->counts + (size_t)j * width;
            if (list->verdict[j] == UNKNOWN) list->verdict[j] = (int8_t)judge(scratch, counts);
            int why = list->verdict[j];
            if (details) note_class(sums, counts[domain->lattice->has_persons], why < 0);
            if (why < 0) continue;
            any = true;
            sums->rows[why] += counts[0];
            sums->units[why] += (blocks->prices[block] + gap[list->value[j]]) * (int64_t)counts[0];
        }
        /* what holds goes on holding when merged, if the models are monotone */
        if (!any && !details && domain->task->models->monotone) clean |= b->above[c];
    }
}

static void scan(kn_block_histograms *scratch, const kn_blocks *blocks, bool details)
{
    const kn_full_domain *domain = scratch->domain;
    const uint32_t width = domain->blocks->width, persons_at = domain->lattice->has_persons;
    for (uint32_t block = 0; block < blocks->n; block++) {
        uint32_t first = blocks->start[block], end = blocks->start[block + 1];
        uint64_t persons = 0;
        if (end - first == 1) {
            const uint32_t *counts = blocks->counts + (size_t)first * width;
            int why = judge(scratch, counts);
            if (details) note_class(&scratch->always, counts[persons_at], why < 0);
            if (why >= 0) add_always(scratch, counts[0], blocks->inner[first], blocks->prices[block], why);
            continue;
        }
        for (uint32_t e = first; e < end; e++) persons += blocks->counts[(size_t)e * width + persons_at];
        if (details || persons >= domain->task->models->min_persons) {
            mixed_block(scratch, blocks, block, details);
            continue;
        }
        for (uint32_t e = first; e < end; e++)
            add_always(scratch, blocks->counts[(size_t)e * width], blocks->inner[e], blocks->prices[block], 0);
    }
}

static void clear(kn_block_histograms *scratch)
{
    const kn_block_lattice *b = scratch->domain->blocks;
    for (uint32_t c = 0; c < b->n_combos; c++) scratch->combos[c] = (combo_sums){.smallest = UINT64_MAX};
    scratch->always = (combo_sums){.smallest = UINT64_MAX};
    for (int why = 0; why < 2; why++)
        for (uint32_t i = 0; i < b->n_inner; i++)
            memset(scratch->by_position[why][i], 0, sizeof **scratch->by_position[why] << b->inner_bits[i]);
}

/* What the rows suppressed in every combo pay more in the inner columns at this one. */
static int64_t always_inner(const kn_block_histograms *scratch, uint32_t combo, int why)
{
    const kn_full_domain *domain = scratch->domain;
    const kn_block_lattice *b = domain->blocks;
    int64_t units = 0;
    for (uint32_t i = 0; i < b->n_inner; i++) {
        uint32_t q = b->inner[i], level = b->combo_level[combo][i];
        const kn_lattice_column *column = &domain->lattice->columns[q];
        const kn_lattice_level *least = &column->levels[column->min_level];
        for (uint32_t p = 0; p < least->n; p++)
            units += (int64_t)scratch->by_position[why][i][p] *
                     domain->gap[q][level][column->levels[level].of_code[least->first_code[p]]];
    }
    return units;
}

void kn_evaluate_histogram_blocks(kn_node *out, kn_block_histograms *scratch, const kn_blocks *blocks, bool details)
{
    const kn_full_domain *domain = scratch->domain;
    const kn_block_lattice *b = domain->blocks;
    int64_t outer = 0;
    clear(scratch);
    scan(scratch, blocks, details);
    for (uint32_t d = 0; d < b->n_outer; d++) outer += domain->table_sum[b->outer[d]][blocks->levels[b->outer[d]]];
    for (uint32_t c = 0; c < b->n_combos; c++) {
        const combo_sums *sums = &scratch->combos[c], *always = &scratch->always;
        kn_node node = {.n_sure = sums->rows[0] + always->rows[0]};
        node.n_suppressed = node.n_sure + sums->rows[1] + always->rows[1];
        node.feasible = node.n_suppressed <= domain->task->max_suppressed;
        node.sure_units = sums->units[0] + always->units[0] + always_inner(scratch, c, 0);
        node.units = outer + node.sure_units + sums->units[1] + always->units[1] + always_inner(scratch, c, 1);
        for (uint32_t i = 0; i < b->n_inner; i++) node.units += domain->table_sum[b->inner[i]][b->combo_level[c][i]];
        node.loss = kn_full_domain_loss(domain, node.units);
        if (details && blocks->n > 0) {
            node.n_classes = sums->n_classes + always->n_classes;
            node.smallest = sums->smallest < always->smallest ? sums->smallest : always->smallest;
        }
        out[c * KN_LATTICE_LANES] = node;
    }
}
