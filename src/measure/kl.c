/* KL: how far the released distribution of QI tuples is from the original one.
 *
 * Kifer and Gehrke 2006, [SC] 3: the Kullback-Leibler divergence, in bits, from the original distribution of tuples to
 * the released one, in which every class's rows are spread evenly over all tuples of its closure; suppressed rows,
 * kept or removed, over all tuples there could be. 0 when nothing was generalized. Under local recoding a tuple also
 * gets a share of every other class that covers it.
 *
 * Monotone under global recoding only: a coarser class can cover tuples that were too thinly covered. Only a whole
 * release can be priced. Cost: an index over the tuples, then the classes that overlap each part of it (box_tree.h).
 * Classes are summed in a fixed number of chunks, so the figure does not depend on the number of threads. */
#include "measure/measure.h"
#include "partition/box_tree.h"

#include <math.h>

enum { N_CHUNKS = 4 };

typedef struct spread {
    const kn_release *release;
    const kn_box_tree *tree;
    struct {
        double *by_part, *by_place;
        kn_box_side *box;
    } chunks[N_CHUNKS];
} spread;

static kn_status spread_classes(void *context, size_t chunk, unsigned worker, kn_error *err)
{
    spread *s = context;
    const kn_release *release = s->release;
    const kn_tuples *tuples = release->tuples;
    uint32_t begin = (uint32_t)((uint64_t)release->n_classes * chunk / N_CHUNKS);
    uint32_t end = (uint32_t)((uint64_t)release->n_classes * (chunk + 1) / N_CHUNKS);
    for (uint32_t c = begin; c < end; c++) {
        const kn_cell *cells = &release->cells[(size_t)c * tuples->n_qis];
        double density = release->class_rows[c];
        for (uint32_t q = 0; q < tuples->n_qis; q++) {
            s->chunks[chunk].box[q] = kn_cell_side(&cells[q], tuples->domains[q], release->sets);
            density /= kn_cell_size(&cells[q], tuples->domains[q], release->sets);
        }
        kn_box_tree_add(s->tree, s->chunks[chunk].box, density, s->chunks[chunk].by_part, s->chunks[chunk].by_place);
    }
    kn_box_tree_settle(s->tree, s->chunks[chunk].by_part, s->chunks[chunk].by_place);
    return KN_OK;
}

static kn_status prepare(void **out, const kn_tuples *tuples, const kn_args *args, kn_error *err)
{
    return kn_box_tree_new((kn_box_tree **)out, tuples->n_tuples, tuples->n_qis, tuples->codes, tuples->rows, err);
}

static void discard(void *state) { kn_box_tree_free(state); }

static kn_status price_release(double *loss, const void *state, const kn_release *release, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = release->tuples;
    const kn_box_tree *tree = state;
    spread s = {.release = release, .tree = tree};
    *loss = 0;
    for (int chunk = 0; chunk < N_CHUNKS; chunk++) {
        KN_NEW(s.chunks[chunk].by_part, tree->parts.n);
        KN_NEW(s.chunks[chunk].by_place, tuples->n_tuples);
        KN_NEW(s.chunks[chunk].box, tuples->n_qis);
    }
    KN_TRY(kn_pool_run(pool, N_CHUNKS, spread_classes, &s, err));
    double everywhere = release->n_suppressed;
    for (uint32_t q = 0; q < tuples->n_qis; q++) everywhere /= tuples->domains[q]->n_codes;
    for (uint32_t place = 0; place < tuples->n_tuples; place++) {
        double rows = tuples->rows[tree->order[place]], released = everywhere;
        for (int chunk = 0; chunk < N_CHUNKS; chunk++) released += s.chunks[chunk].by_place[place];
        *loss += rows * log2(rows / released);
    }
    if (tuples->n_rows > 0) *loss /= tuples->n_rows;
done:
    for (int chunk = 0; chunk < N_CHUNKS; chunk++) {
        kn_free(s.chunks[chunk].by_part);
        kn_free(s.chunks[chunk].by_place);
        kn_free(s.chunks[chunk].box);
    }
    return status;
}

const kn_measure kn_measure_kl = {
    .name = "kl",
    .summary = "Kullback-Leibler divergence of the released from the original tuples, bits",
    .citation = "Kifer, Gehrke, Injecting utility into anonymized datasets, 2006",
    .prepare = prepare,
    .discard = discard,
    .price_release = price_release,
};
