/* KL: how far the released distribution of QI tuples is from the original one.
 *
 * Kifer and Gehrke 2006, [SC] 3: the Kullback-Leibler divergence, in bits, from the original distribution of tuples to
 * the released one, in which every class's rows are spread evenly over all tuples of its closure; suppressed rows,
 * kept or removed, over all tuples there could be. 0 when nothing was generalized. Under local recoding a tuple also
 * gets a share of every other class that covers it.
 *
 * Monotone under global recoding only: a coarser class can cover tuples that were too thinly covered. Only a whole
 * release can be priced. Cost: one pass over the rows when no two classes cover a common tuple (release_overlap.h);
 * otherwise an index over the tuples and the classes that overlap each part of it (box_tree.h), in a fixed number of
 * chunks, so that the figure does not depend on the number of threads. Wide classes overlap most of it: how much work
 * that is some classes tell beforehand, for whoever wants to be brief. */
#include "measure/measure.h"
#include "classes/box_tree.h"
#include "classes/release_overlap.h"

#include <math.h>

/* Brief: beyond so many tuples the index alone takes a fifth of a run with mondrian, the fastest local search; a part
 * that is visited takes some 10 ns. */
enum { N_CHUNKS = 4, BRIEF_TUPLES = 200000, BRIEF_VISITS = 20000000, BRIEF_VISITS_PER_ROW = 30, N_SAMPLED = 64 };

static double class_density(const kn_release *release, uint32_t c)
{
    const kn_tuples *tuples = release->tuples;
    double density = (double)release->class_rows[c];
    for (uint32_t q = 0; q < tuples->n_qis; q++)
        density /= kn_cell_size(&release->cells[(size_t)c * tuples->n_qis + q], tuples->domains[q], release->sets);
    return density;
}

/* What the suppressed rows give to every tuple. */
static double density_everywhere(const kn_release *release)
{
    double density = (double)release->n_suppressed;
    for (uint32_t q = 0; q < release->tuples->n_qis; q++) density /= release->tuples->domains[q]->n_codes;
    return density;
}

/* --- Classes that are apart ----------------------------------------------------------------------------------------
 */

/* A tuple of a class is covered by no other. One whose rows are all suppressed is covered by none where that is known:
 * when whole groups were suppressed (`levels`), or nothing was. Missing cells that may be any value cover the others'
 * tuples, too. */
static bool knows_coverage(const kn_release *release)
{
    for (uint32_t q = 0; q < release->tuples->n_qis; q++) {
        const kn_domain *domain = release->tuples->domains[q];
        if (domain->missing_is_wildcard && domain->missing != KN_NONE) return false;
    }
    return release->row_class != NULL && (release->n_suppressed == 0 || release->levels != NULL);
}

static kn_status price_apart(double *loss, const kn_release *release, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = release->tuples;
    double *density = NULL, everywhere = density_everywhere(release);
    uint32_t *class_of = NULL;
    KN_NEW_RAW(density, release->n_classes);
    KN_NEW_RAW(class_of, tuples->n_tuples);
    for (uint32_t c = 0; c < release->n_classes; c++) density[c] = class_density(release, c);
    for (uint32_t row = 0; row < tuples->n_records; row++) class_of[tuples->row_tuple[row]] = release->row_class[row];
    for (uint32_t t = 0; t < tuples->n_tuples; t++) {
        double rows = (double)tuples->rows[t],
               released = everywhere + (class_of[t] != KN_NONE ? density[class_of[t]] : 0);
        *loss += rows * log2(rows / released);
    }
done:
    kn_free(density);
    kn_free(class_of);
    return status;
}

/* --- Classes that overlap ------------------------------------------------------------------------------------------
 */

typedef struct spread {
    const kn_release *release;
    const kn_box_tree *tree;
    struct {
        double *by_part, *by_place;
        kn_box_side *box;
    } chunks[N_CHUNKS];
} spread;

static void class_box(kn_box_side *box, const kn_release *release, uint32_t c)
{
    const kn_tuples *tuples = release->tuples;
    for (uint32_t q = 0; q < tuples->n_qis; q++)
        box[q] = kn_cell_side(&release->cells[(size_t)c * tuples->n_qis + q], tuples->domains[q], release->sets);
}

/* As many parts as some of the classes visit, all of them are taken to visit. */
static bool takes_long(const kn_box_tree *tree, const kn_release *release, kn_box_side *box)
{
    const uint32_t n = release->n_classes, n_sampled = n < N_SAMPLED ? n : N_SAMPLED;
    const double most = fmax(BRIEF_VISITS, (double)BRIEF_VISITS_PER_ROW * (double)release->tuples->n_rows);
    double n_visits = 0;
    for (uint32_t i = 0; i < n_sampled && n_visits * n <= most * n_sampled; i++) {
        class_box(box, release, (uint32_t)((uint64_t)n * i / n_sampled));
        n_visits += (double)kn_box_tree_visits(tree, box);
    }
    return n_visits * n > most * n_sampled;
}

static kn_status spread_classes(void *context, size_t chunk, unsigned worker, kn_error *err)
{
    spread *s = context;
    const kn_release *release = s->release;
    uint32_t begin = (uint32_t)((uint64_t)release->n_classes * chunk / N_CHUNKS);
    uint32_t end = (uint32_t)((uint64_t)release->n_classes * (chunk + 1) / N_CHUNKS);
    for (uint32_t c = begin; c < end; c++) {
        class_box(s->chunks[chunk].box, release, c);
        kn_box_tree_add(s->tree, s->chunks[chunk].box, class_density(release, c), s->chunks[chunk].by_part,
                        s->chunks[chunk].by_place);
    }
    kn_box_tree_spread(s->tree, s->chunks[chunk].by_part, s->chunks[chunk].by_place);
    return KN_OK;
}

static kn_status price_overlapping(double *loss, const kn_release *release, bool brief, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *tuples = release->tuples;
    kn_box_tree *tree = NULL;
    spread s = {.release = release};
    KN_TRY(kn_box_tree_new(&tree, tuples->n_tuples, tuples->n_qis, tuples->codes, tuples->rows, err));
    s.tree = tree;
    for (int chunk = 0; chunk < N_CHUNKS; chunk++) {
        KN_NEW(s.chunks[chunk].by_part, tree->parts.n);
        KN_NEW(s.chunks[chunk].by_place, tuples->n_tuples);
        KN_NEW(s.chunks[chunk].box, tuples->n_qis);
    }
    if (brief && takes_long(tree, release, s.chunks[0].box)) {
        *loss = NAN;
        goto done;
    }
    KN_TRY(kn_pool_run(pool, N_CHUNKS, spread_classes, &s, err));
    const double everywhere = density_everywhere(release);
    for (uint32_t place = 0; place < tuples->n_tuples; place++) {
        double rows = (double)tuples->rows[tree->order[place]], released = everywhere;
        for (int chunk = 0; chunk < N_CHUNKS; chunk++) released += s.chunks[chunk].by_place[place];
        *loss += rows * log2(rows / released);
    }
done:
    for (int chunk = 0; chunk < N_CHUNKS; chunk++) {
        kn_free(s.chunks[chunk].by_part);
        kn_free(s.chunks[chunk].by_place);
        kn_free(s.chunks[chunk].box);
    }
    kn_box_tree_free(tree);
    return status;
}

static kn_status price_release(double *loss, const void *state, const kn_release *release, bool brief, kn_pool *pool,
                               kn_error *err)
{
    kn_status status = KN_OK;
    bool overlaps = true;
    *loss = brief && release->levels == NULL && release->tuples->n_tuples > BRIEF_TUPLES ? NAN : 0;
    if (isnan(*loss)) return KN_OK;
    if (knows_coverage(release)) KN_TRY(kn_release_overlaps(&overlaps, release, pool, err));
    KN_TRY(overlaps ? price_overlapping(loss, release, brief, pool, err) : price_apart(loss, release, err));
    if (release->tuples->n_rows > 0) *loss /= (double)release->tuples->n_rows;
done:
    return status;
}

const kn_measure kn_measure_kl = {
    .name = "kl",
    .summary = "Kullback-Leibler divergence of the released from the original tuples, bits",
    .citation = "Kifer, Gehrke, Injecting utility into anonymized datasets, 2006",
    .price_release = price_release,
};
