/* Clusters of items, and the merging of small ones.
 *
 * Merging keeps for every small cluster its nearest small cluster and their distance. After a union the new cluster is
 * joined with all others by one scan, which tells its own nearest and who is now nearer to it than to anybody else. A
 * cluster whose nearest has gone keeps its old distance as a lower bound and looks again only when that bound is the
 * least of all, so that few look again. No matrix; n clusters cost about 2n to 4n scans of the small clusters left. */
#include "engine/closure/class_members.h"

#include "base/bits.h"
#include "base/hash.h"
#include "engine/closure/value_scan.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL_DOMAIN = 64 };

void kn_class_members_free(kn_class_members *c)
{
    if (c == NULL) return;
    kn_owner_free(&c->memory);
    kn_growing_free(&c->growing);
    kn_free(c);
}

bool kn_class_members_can_price(const kn_objective *objective, const kn_items *items)
{
    if (objective->type->price_class == NULL) return false;
    if ((objective->type->needs & KN_MEASURE_NEEDS_CLASS_COLUMN) && items->sensitive == NULL) return false;
    for (uint32_t q = 0; q < items->tuples->n_qis; q++)
        if (items->tuples->domains[q]->kind == KN_DOMAIN_SETS && items->tuples->domains[q]->subsets == NULL)
            return false;
    return true;
}

kn_status kn_class_members_new(kn_class_members **out, const kn_task *task, const kn_items *items,
                               const kn_pricer *pricer, uint32_t capacity, kn_error *err)
{
    kn_status status = KN_OK;
    kn_class_members *c = NULL;
    *out = NULL;
    KN_NEW(c, 1);
    c->task = task;
    c->items = items;
    c->pricer = pricer;
    c->capacity = capacity;
    KN_OWN_RAW(&c->memory, c->head, capacity);
    KN_OWN(&c->memory, c->rows, capacity);
    KN_OWN(&c->memory, c->persons, capacity);
    KN_OWN(&c->memory, c->price, capacity);
    KN_OWN(&c->memory, c->cost, capacity);
    KN_OWN(&c->memory, c->closure, capacity);
    KN_OWN(&c->memory, c->widened, items->tuples->n_qis);
    KN_OWN(&c->memory, c->cells, items->tuples->n_qis);
    KN_OWN(&c->memory, c->spans, (size_t)capacity * items->tuples->n_qis);
    KN_OWN(&c->memory, c->active, items->tuples->n_qis);
    KN_OWN_RAW(&c->memory, c->next, items->n);
    KN_OWN_RAW(&c->memory, c->prev, items->n);
    KN_OWN_RAW(&c->memory, c->of_item, items->n);
    memset(c->head, 0xFF, capacity * sizeof *c->head);
    memset(c->of_item, 0xFF, items->n * sizeof *c->of_item);
    KN_TRY(kn_growing_init(&c->growing, pricer, items->tuples, err));
    if (items->sensitive != NULL) {
        KN_OWN_RAW(&c->memory, c->values, 2 * (size_t)items->tuples->n_rows * items->tuples->n_sensitive);
        KN_OWN_RAW(&c->memory, c->counts, (size_t)items->tuples->n_rows * items->tuples->n_sensitive);
        KN_OWN(&c->memory, c->histograms, items->tuples->n_sensitive);
        KN_OWN(&c->memory, c->dense, SMALL_DOMAIN);
    }
    c->by_class = kn_class_members_can_price(task->objective, items);
    c->by_value = kn_value_scan_can_price(task->objective, items);
    *out = c;
    c = NULL;
done:
    kn_class_members_free(c);
    return status;
}

void kn_class_members_add(kn_class_members *c, uint32_t cluster, uint32_t item)
{
    assert(c->of_item[item] == KN_NONE);
    uint32_t head = c->head[cluster];
    c->of_item[item] = cluster;
    c->next[item] = head;
    c->prev[item] = KN_NONE;
    if (head != KN_NONE) c->prev[head] = item;
    c->head[cluster] = item;
    c->rows[cluster] += kn_items_rows(c->items, item);
    c->persons[cluster] += c->items->persons[item];
}

void kn_class_members_remove(kn_class_members *c, uint32_t item)
{
    uint32_t cluster = c->of_item[item], next = c->next[item], prev = c->prev[item];
    if (next != KN_NONE) c->prev[next] = prev;
    if (prev != KN_NONE) c->next[prev] = next;
    else c->head[cluster] = next;
    c->of_item[item] = KN_NONE;
    c->rows[cluster] -= kn_items_rows(c->items, item);
    c->persons[cluster] -= c->items->persons[item];
}

void kn_class_members_unite(kn_class_members *c, uint32_t into, uint32_t from)
{
    for (uint32_t item = c->head[from], next; item != KN_NONE; item = next) {
        next = c->next[item];
        kn_class_members_remove(c, item);
        kn_class_members_add(c, into, item);
    }
}

/* --- Counts and models ---------------------------------------------------------------------------------------- */

static uint32_t push_entries(const kn_histograms *histograms, uint32_t item, uint32_t *pairs, uint32_t n)
{
    for (uint32_t e = histograms->start[item]; e < histograms->start[item + 1]; e++, n++) {
        pairs[2 * n] = histograms->values[e];
        pairs[2 * n + 1] = (uint32_t)histograms->counts[e]; /* there are fewer rows than 2^32 */
    }
    return n;
}

/* Sums the pairs of a domain that is no larger than a class, value by value. */
static uint32_t sum_dense(uint32_t *dense, uint32_t n_domain, uint32_t *pairs, uint32_t n, uint64_t *counts)
{
    uint32_t n_values = 0;
    for (uint32_t i = 0; i < n; i++) dense[pairs[2 * i]] += pairs[2 * i + 1];
    for (uint32_t value = 0; value < n_domain; value++) {
        if (dense[value] == 0) continue;
        pairs[n_values] = value;
        counts[n_values++] = dense[value];
        dense[value] = 0;
    }
    return n_values;
}

/* The histogram of sensitive column s, from the members (of both clusters, when there is an `other`): sorted pairs, so
 * that a domain of any size costs the same; small domains are counted directly. */
static kn_histogram count_values(kn_class_members *c, uint32_t s, uint32_t cluster, uint32_t other, uint32_t without,
                                 uint32_t with)
{
    const kn_histograms *histogram = &c->items->sensitive[s];
    const size_t n_rows = c->items->tuples->n_rows;
    uint32_t n = 0, n_values = 0, *pairs = c->values + 2 * n_rows * s;
    uint64_t *counts = c->counts + n_rows * s;
    for (uint32_t item = c->head[cluster]; item != KN_NONE; item = c->next[item])
        if (item != without) n = push_entries(histogram, item, pairs, n);
    for (uint32_t item = other != KN_NONE ? c->head[other] : KN_NONE; item != KN_NONE; item = c->next[item])
        n = push_entries(histogram, item, pairs, n);
    if (with != KN_NONE) n = push_entries(histogram, with, pairs, n);
    uint32_t n_domain = c->items->tuples->sensitive[s].n_values;
    if (n_domain <= SMALL_DOMAIN) return (kn_histogram){sum_dense(c->dense, n_domain, pairs, n, counts), pairs, counts};
    qsort(pairs, n, 2 * sizeof *pairs, kn_compare_u32);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t value = pairs[2 * i], count = pairs[2 * i + 1];
        if (n_values > 0 && pairs[n_values - 1] == value) {
            counts[n_values - 1] += count;
        } else {
            counts[n_values] = count;
            pairs[n_values++] = value; /* never ahead of the pair that is read */
        }
    }
    return (kn_histogram){n_values, pairs, counts};
}

static kn_class_counts count_sizes(const kn_class_members *c, uint32_t cluster, uint32_t without, uint32_t with)
{
    kn_class_counts counts = {.n_rows = c->rows[cluster], .n_persons = c->persons[cluster]};
    if (without != KN_NONE) {
        counts.n_rows -= kn_items_rows(c->items, without);
        counts.n_persons -= c->items->persons[without];
    }
    if (with != KN_NONE) {
        counts.n_rows += kn_items_rows(c->items, with);
        counts.n_persons += c->items->persons[with];
    }
    return counts;
}

static void count_histograms(kn_class_members *c, kn_class_counts *counts, uint32_t cluster, uint32_t other,
                             uint32_t without, uint32_t with)
{
    for (uint32_t s = 0; s < c->items->tuples->n_sensitive && c->histograms != NULL; s++)
        c->histograms[s] = count_values(c, s, cluster, other, without, with);
    counts->sensitive = c->histograms;
}

bool kn_class_members_hold(kn_class_members *c, uint32_t cluster, uint32_t without, uint32_t with, bool sizes)
{
    const kn_models *models = c->task->models;
    kn_class_counts counts = count_sizes(c, cluster, without, with);
    if (sizes && counts.n_persons < models->min_persons) return false;
    if (models->counts_only) return true;
    count_histograms(c, &counts, cluster, KN_NONE, without, with);
    for (size_t i = 0; i < models->n; i++) {
        const kn_model *model = &models->items[i];
        if ((sizes || !model->type->counts_only) && !kn_model_holds(model, &counts)) return false;
    }
    return true;
}

/* --- Prices ---------------------------------------------------------------------------------------------------- */

/* What the objective says of a class with these counts and spans. */
static double price_class(kn_class_members *c, const kn_class_counts *counts, const kn_span *spans)
{
    const kn_objective *objective = c->task->objective;
    const kn_tuples *tuples = c->items->tuples;
    for (uint32_t q = 0; q < tuples->n_qis; q++) c->cells[q] = kn_pricer_cell(c->pricer, q, &spans[q]);
    return objective->type->price_class(objective->state, tuples, counts, c->cells, c->pricer->sets, false);
}

/* What the cluster, so changed, costs with these spans; `price` is the pricer's. */
static double cost_of(kn_class_members *c, uint32_t cluster, uint32_t without, uint32_t with, const kn_span *spans,
                      double price)
{
    kn_class_counts counts = count_sizes(c, cluster, without, with);
    if (!c->by_class || counts.n_rows == 0) return (double)counts.n_rows * price;
    count_histograms(c, &counts, cluster, KN_NONE, without, with);
    return price_class(c, &counts, spans);
}

static uint64_t hash_closure(const kn_class_members *c, const kn_span *spans)
{
    const kn_tuples *tuples = c->items->tuples;
    uint64_t hash = 0;
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        kn_cell cell = kn_pricer_cell(c->pricer, q, &spans[q]);
        hash = kn_hash_combine(hash, (uint64_t)cell.first << 32 | cell.last);
        hash = kn_hash_combine(hash, cell.id);
    }
    return hash;
}

/* Cost and closure of a cluster whose members, spans and price are up to date. */
static void set_cost(kn_class_members *c, uint32_t cluster)
{
    const kn_span *spans = &c->spans[(size_t)cluster * c->items->tuples->n_qis];
    c->cost[cluster] = cost_of(c, cluster, KN_NONE, KN_NONE, spans, c->price[cluster]);
    if (c->by_class && c->rows[cluster] > 0) c->closure[cluster] = hash_closure(c, spans);
}

static bool meets(uint64_t *closure, const kn_class_members *c, uint32_t cluster, const kn_span *spans)
{
    *closure = hash_closure(c, spans);
    if (*closure == c->closure[cluster]) return false;
    for (uint32_t other = 0; other < c->n; other++)
        if (c->closure[other] == *closure && c->head[other] != KN_NONE) return true;
    return false;
}

bool kn_class_members_meets_without(uint64_t *closure, const kn_class_members *c, uint32_t cluster)
{
    return meets(closure, c, cluster, c->growing.spans);
}

bool kn_class_members_meets_with(uint64_t *closure, const kn_class_members *c, uint32_t cluster)
{
    return meets(closure, c, cluster, c->widened);
}

typedef struct looks {
    uint64_t closure;
    uint32_t cluster;
} looks;

static int compare_looks(const void *a, const void *b)
{
    const looks *x = a, *y = b;
    if (x->closure != y->closure) return x->closure < y->closure ? -1 : 1;
    return x->cluster < y->cluster ? -1 : x->cluster > y->cluster;
}

kn_status kn_class_members_unite_alike(kn_class_members *c, kn_error *err)
{
    kn_status status = KN_OK;
    looks *sorted = NULL;
    uint32_t n = 0;
    KN_NEW_RAW(sorted, c->n);
    for (uint32_t cluster = 0; cluster < c->n; cluster++) {
        kn_class_members_refresh(c, cluster);
        if (c->head[cluster] != KN_NONE) sorted[n++] = (looks){c->closure[cluster], cluster};
    }
    qsort(sorted, n, sizeof *sorted, compare_looks);
    for (uint32_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && sorted[end].closure == sorted[i].closure; end++) {
            kn_class_members_unite(c, sorted[i].cluster, sorted[end].cluster);
            kn_class_members_refresh(c, sorted[end].cluster);
        }
        if (end > i + 1) kn_class_members_refresh(c, sorted[i].cluster);
    }
done:
    kn_free(sorted);
    return status;
}

void kn_class_members_refresh(kn_class_members *c, uint32_t cluster)
{
    uint32_t n_qis = c->items->tuples->n_qis;
    kn_growing_clear(&c->growing);
    for (uint32_t item = c->head[cluster]; item != KN_NONE; item = c->next[item])
        kn_growing_add(&c->growing, c->items->tuple[item]);
    c->price[cluster] = kn_growing_price(&c->growing);
    memcpy(&c->spans[(size_t)cluster * n_qis], c->growing.spans, n_qis * sizeof *c->spans);
    set_cost(c, cluster);
}

static bool same_closure(const kn_domain *domain, const kn_span *a, const kn_span *b)
{
    if (a->first == b->first && a->last == b->last && a->n_values == b->n_values) return true;
    if (domain->subsets != NULL) return a->member == b->member;
    return domain->kind == KN_DOMAIN_TREE &&
           kn_closure_node(domain->tree, a->first, a->last) == kn_closure_node(domain->tree, b->first, b->last);
}

/* A column needs no further look once the members seen span what the whole cluster spans, which is soon. */
static double price_without(kn_class_members *c, uint32_t cluster, uint32_t item)
{
    const kn_tuples *tuples = c->items->tuples;
    const kn_span *whole = &c->spans[(size_t)cluster * tuples->n_qis];
    kn_growing *growing = &c->growing;
    uint32_t n_active = 0;
    kn_growing_clear(growing);
    for (uint32_t q = 0; q < tuples->n_qis; q++) c->active[n_active++] = q;
    for (uint32_t member = c->head[cluster]; member != KN_NONE && n_active > 0; member = c->next[member]) {
        if (member == item) continue;
        for (uint32_t a = 0; a < n_active; a++) {
            uint32_t q = c->active[a];
            if (kn_growing_add_code(growing, q, tuples->codes[q][c->items->tuple[member]]) &&
                same_closure(tuples->domains[q], &growing->spans[q], &whole[q]))
                c->active[a--] = c->active[--n_active];
        }
    }
    return kn_growing_price(growing);
}

static bool has_code(const kn_class_members *c, uint32_t cluster, uint32_t q, uint32_t code)
{
    const uint32_t *codes = c->items->tuples->codes[q];
    for (uint32_t item = c->head[cluster]; item != KN_NONE; item = c->next[item])
        if (codes[c->items->tuple[item]] == code) return true;
    return false;
}

static void widen(const kn_class_members *c, uint32_t cluster, uint32_t q, uint32_t item, kn_span *span)
{
    uint32_t code = c->items->tuples->codes[q][c->items->tuple[item]];
    if (c->items->tuples->domains[q]->kind == KN_DOMAIN_SETS && !has_code(c, cluster, q, code))
        kn_span_add_value(span, &c->pricer->columns[q], code);
    if (code < span->first) span->first = code;
    if (code > span->last) span->last = code;
}

static double price_with(kn_class_members *c, uint32_t cluster, uint32_t item)
{
    uint32_t n_qis = c->items->tuples->n_qis;
    double price = 0;
    for (uint32_t q = 0; q < n_qis; q++) {
        c->widened[q] = c->spans[(size_t)cluster * n_qis + q];
        widen(c, cluster, q, item, &c->widened[q]);
        price += kn_pricer_price(c->pricer, q, &c->widened[q]);
    }
    return price;
}

double kn_class_members_cost_without(kn_class_members *c, uint32_t cluster, uint32_t item)
{
    double price = price_without(c, cluster, item);
    return cost_of(c, cluster, item, KN_NONE, c->growing.spans, price);
}

double kn_class_members_cost_with(kn_class_members *c, uint32_t cluster, uint32_t item)
{
    double price = price_with(c, cluster, item);
    return cost_of(c, cluster, KN_NONE, item, c->widened, price);
}

/* The spans then hold only the members looked at: enough, since they have the closure of all. */
void kn_class_members_leave(kn_class_members *c, uint32_t item)
{
    uint32_t cluster = c->of_item[item], n_qis = c->items->tuples->n_qis;
    c->price[cluster] = price_without(c, cluster, item);
    memcpy(&c->spans[(size_t)cluster * n_qis], c->growing.spans, n_qis * sizeof *c->spans);
    kn_class_members_remove(c, item);
    set_cost(c, cluster);
}

void kn_class_members_join(kn_class_members *c, uint32_t cluster, uint32_t item)
{
    uint32_t n_qis = c->items->tuples->n_qis;
    c->price[cluster] = price_with(c, cluster, item);
    memcpy(&c->spans[(size_t)cluster * n_qis], c->widened, n_qis * sizeof *c->spans);
    kn_class_members_add(c, cluster, item);
    set_cost(c, cluster);
}

/* --- Merging small clusters ------------------------------------------------------------------------------------ */

static void probe_members(const kn_class_members *c, kn_probe *probe, uint32_t cluster)
{
    kn_probe_clear(probe);
    for (uint32_t item = c->head[cluster]; item != KN_NONE; item = c->next[item]) kn_probe_add(probe, c->items, item);
}

void kn_class_members_load(const kn_class_members *c, kn_probe *probe, uint32_t cluster)
{
    if (!kn_probe_load(probe, &c->spans[(size_t)cluster * c->items->tuples->n_qis], c->rows[cluster])) {
        probe_members(c, probe, cluster);
        return;
    }
    if (!kn_probe_needs_values(probe)) return;
    for (uint32_t item = c->head[cluster]; item != KN_NONE; item = c->next[item])
        kn_probe_add_values(probe, c->items, item);
}

/* Enough persons for a class. Should it still break a model, small clusters are no help to it: merge_last finds it a
 * partner among all. */
static bool is_large(kn_class_members *c, uint32_t cluster)
{
    return c->persons[cluster] >= c->task->models->min_persons;
}

typedef struct merger {
    kn_class_members *clusters;
    kn_scan *scan;
    kn_probe **probes;        /* one per thread */
    uint32_t n_slots, n_open; /* slots, and those that are still small clusters */
    uint32_t *cluster;        /* [slot] */
    uint32_t *nearest;        /* [slot]: a slot; KN_NONE: it has gone, look again */
    int32_t *distance;        /* [slot]: to it; INT32_MAX for closed slots */
    uint32_t *moved;          /* [slot]: scratch of compact */
    const char *stage;
    double n_start;
} merger;

enum { SLOTS_PER_JOB = 256, FAR = INT32_MAX - 1 /* open, but the only one left */ };

/* From the probe's join, the slot itself struck out. */
static void set_nearest(merger *m, kn_probe *probe, uint32_t slot, const int32_t *deltas, int32_t cost)
{
    uint32_t nearest = kn_probe_least(probe);
    m->nearest[slot] = nearest;
    m->distance[slot] = nearest == KN_NONE ? FAR : deltas[nearest] - cost;
}

static void look_for_nearest(merger *m, kn_probe *probe, uint32_t slot)
{
    probe_members(m->clusters, probe, m->cluster[slot]);
    int32_t *deltas = kn_probe_join(probe, m->scan, m->n_slots);
    kn_probe_strike(probe, slot);
    set_nearest(m, probe, slot, deltas, kn_probe_cost(probe));
}

/* The time limit, not a request to stop: that ends the run. */
static bool time_is_over(const kn_class_members *c)
{
    return !kn_ticker_cancelled(c->task->ticker) && kn_ticker_out_of_time(c->task->ticker);
}

static kn_status job_nearest(void *context, size_t job, unsigned worker, kn_error *err)
{
    merger *m = context;
    uint32_t begin = (uint32_t)job * SLOTS_PER_JOB, end = begin + SLOTS_PER_JOB;
    for (uint32_t slot = begin; slot < end && slot < m->n_slots; slot++) {
        m->nearest[slot] = KN_NONE;
        m->distance[slot] = FAR;
        if (!time_is_over(m->clusters)) look_for_nearest(m, m->probes[worker], slot);
    }
    return kn_tick(m->clusters->task->ticker, m->stage, -1, err);
}

/* Closed slots cost as much as open ones: leave them behind when they are the most. */
static void compact(merger *m)
{
    uint32_t n = 0;
    for (uint32_t slot = 0; slot < m->n_slots; slot++) {
        m->moved[slot] = KN_NONE;
        if (m->distance[slot] == INT32_MAX) continue;
        m->moved[slot] = n;
        if (n != slot) {
            kn_scan_copy(m->scan, n, slot);
            m->cluster[n] = m->cluster[slot];
            m->nearest[n] = m->nearest[slot];
            m->distance[n] = m->distance[slot];
        }
        n++;
    }
    for (uint32_t slot = n; slot < m->n_slots; slot++) kn_scan_close(m->scan, slot);
    for (uint32_t slot = 0; slot < n; slot++)
        if (m->nearest[slot] != KN_NONE) m->nearest[slot] = m->moved[m->nearest[slot]];
    m->n_slots = n;
}

static void close_slot(merger *m, uint32_t slot)
{
    kn_scan_close(m->scan, slot);
    m->distance[slot] = INT32_MAX;
    m->n_open--;
}

/* Unites the clusters of two slots; a union that is large enough leaves the small ones. */
static void unite_slots(merger *m, uint32_t a, uint32_t b)
{
    kn_probe *probe = m->probes[0];
    kn_class_members_unite(m->clusters, m->cluster[a], m->cluster[b]);
    bool done = is_large(m->clusters, m->cluster[a]);
    close_slot(m, b);
    if (done) close_slot(m, a);
    for (uint32_t slot = 0; slot < m->n_slots; slot++)
        if (m->nearest[slot] == a || m->nearest[slot] == b) m->nearest[slot] = KN_NONE;
    if (done) return;
    probe_members(m->clusters, probe, m->cluster[a]);
    kn_scan_store(m->scan, a, probe);
    int32_t *deltas = kn_probe_join(probe, m->scan, m->n_slots), cost = kn_probe_cost(probe);
    kn_probe_strike(probe, a);
    for (uint32_t slot = 0; slot < m->n_slots; slot++) {
        if (deltas[slot] == INT32_MAX || deltas[slot] - cost >= m->distance[slot]) continue;
        m->distance[slot] = deltas[slot] - cost;
        m->nearest[slot] = a;
    }
    set_nearest(m, probe, a, deltas, cost);
}

/* Without time for distances: small clusters are united as they stand, until each is large enough. */
static void merge_in_order(merger *m)
{
    uint32_t growing = KN_NONE;
    for (uint32_t slot = 0; slot < m->n_slots; slot++) {
        if (m->distance[slot] == INT32_MAX) continue;
        if (growing == KN_NONE) {
            growing = slot;
            continue;
        }
        kn_class_members_unite(m->clusters, m->cluster[growing], m->cluster[slot]);
        close_slot(m, slot);
        if (!is_large(m->clusters, m->cluster[growing])) continue;
        close_slot(m, growing);
        growing = KN_NONE;
    }
    m->clusters->out_of_time = true;
}

static kn_status merge_pairs(merger *m, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    KN_TRY(kn_pool_run(pool, (m->n_slots + SLOTS_PER_JOB - 1) / SLOTS_PER_JOB, job_nearest, m, err));
    while (m->n_open > 1) {
        if (time_is_over(m->clusters)) {
            merge_in_order(m);
            break;
        }
        uint32_t slot = kn_least(m->distance, m->n_slots);
        if (m->nearest[slot] == KN_NONE) look_for_nearest(m, m->probes[0], slot);
        else unite_slots(m, slot, m->nearest[slot]);
        if (m->n_slots > 1024 && m->n_open < m->n_slots / 4 * 3) compact(m);
        KN_TRY(kn_tick(m->clusters->task->ticker, m->stage, 1 - m->n_open / m->n_start, err));
    }
done:
    return status;
}

/* Cost of the two as one cluster, by the price that the scan follows. */
static double union_cost(kn_class_members *c, uint32_t a, uint32_t b)
{
    kn_class_counts counts = {.n_rows = c->rows[a] + c->rows[b], .n_persons = c->persons[a] + c->persons[b]};
    kn_growing_clear(&c->growing);
    for (uint32_t item = c->head[a]; item != KN_NONE; item = c->next[item])
        kn_growing_add(&c->growing, c->items->tuple[item]);
    for (uint32_t item = c->head[b]; item != KN_NONE; item = c->next[item])
        kn_growing_add(&c->growing, c->items->tuple[item]);
    if (!c->by_value) return (double)counts.n_rows * kn_growing_price(&c->growing);
    count_histograms(c, &counts, a, b, KN_NONE, KN_NONE);
    return price_class(c, &counts, c->growing.spans);
}

static bool union_holds(kn_class_members *c, uint32_t a, uint32_t b)
{
    kn_class_counts counts = {.n_rows = c->rows[a] + c->rows[b], .n_persons = c->persons[a] + c->persons[b]};
    if (c->task->models->counts_only) return counts.n_persons >= c->task->models->min_persons;
    count_histograms(c, &counts, a, b, KN_NONE, KN_NONE);
    return kn_models_hold(c->task->models, &counts);
}

/* Unites a cluster with the closest one that makes it hold, by true prices; while there is none, with the closest. */
static void merge_last(kn_class_members *c, uint32_t small)
{
    while (!kn_class_members_hold(c, small, KN_NONE, KN_NONE, true)) {
        uint32_t closest = KN_NONE, fitting = KN_NONE;
        double least = INFINITY, least_fitting = INFINITY;
        for (uint32_t other = 0; other < c->n; other++) {
            if (other == small || c->head[other] == KN_NONE) continue;
            double both = union_cost(c, small, other);
            kn_class_members_refresh(c, other);
            double alone = c->by_value ? c->cost[other] : (double)c->rows[other] * c->price[other];
            double distance = both - alone;
            if (closest == KN_NONE || distance < least) {
                least = distance;
                closest = other;
            }
            if (distance < least_fitting && union_holds(c, small, other)) {
                least_fitting = distance;
                fitting = other;
            }
        }
        if (closest == KN_NONE) return;
        kn_class_members_unite(c, small, fitting != KN_NONE ? fitting : closest);
    }
}

/* Slots for the small clusters. */
static kn_status merger_init(merger *m, kn_class_members *c, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    KN_NEW_RAW(m->cluster, c->n);
    for (uint32_t cluster = 0; cluster < c->n; cluster++)
        if (c->head[cluster] != KN_NONE && !is_large(c, cluster)) m->cluster[m->n_slots++] = cluster;
    m->n_open = m->n_slots;
    m->n_start = m->n_slots + 1.0;
    KN_NEW_RAW(m->nearest, m->n_slots);
    KN_NEW_RAW(m->distance, m->n_slots);
    KN_NEW_RAW(m->moved, m->n_slots);
    KN_TRY(kn_scan_new(&m->scan, c->pricer, c->items, m->n_slots, 4 * c->task->models->min_persons, err));
    KN_NEW(m->probes, kn_pool_threads(pool));
    for (unsigned i = 0; i < kn_pool_threads(pool); i++) KN_TRY(kn_probe_new(&m->probes[i], m->scan, err));
    for (uint32_t slot = 0; slot < m->n_slots; slot++) {
        probe_members(c, m->probes[0], m->cluster[slot]);
        kn_scan_store(m->scan, slot, m->probes[0]);
    }
done:
    return status;
}

kn_status kn_class_members_merge_small(kn_class_members *c, kn_pool *pool, const char *stage, kn_error *err)
{
    kn_status status = KN_OK;
    merger m = {.clusters = c, .stage = stage};
    KN_TRY(merger_init(&m, c, pool, err));
    KN_TRY(merge_pairs(&m, pool, err));
    for (uint32_t cluster = 0; cluster < c->n; cluster++) {
        if (c->head[cluster] == KN_NONE || kn_class_members_hold(c, cluster, KN_NONE, KN_NONE, true)) continue;
        merge_last(c, cluster);
        KN_TRY(kn_tick(c->task->ticker, stage, -1, err));
    }
done:
    for (unsigned i = 0; m.probes != NULL && i < kn_pool_threads(pool); i++) kn_probe_free(m.probes[i]);
    kn_free(m.probes);
    kn_scan_free(m.scan);
    kn_free(m.cluster);
    kn_free(m.nearest);
    kn_free(m.distance);
    kn_free(m.moved);
    return status;
}

kn_status kn_class_members_answer(kn_answer *answer, const kn_class_members *c, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *number = NULL, *item_class = NULL, n_classes = 0;
    KN_NEW_RAW(number, c->n);
    KN_NEW_RAW(item_class, c->items->n);
    for (uint32_t cluster = 0; cluster < c->n; cluster++)
        number[cluster] = c->head[cluster] != KN_NONE ? n_classes++ : KN_NONE;
    for (uint32_t i = 0; i < c->items->n; i++)
        item_class[i] = c->of_item[i] != KN_NONE ? number[c->of_item[i]] : KN_NONE;
    KN_TRY(kn_items_answer(answer, c->items, item_class, n_classes, err));
    if (c->out_of_time) answer->stopped = KN_STOPPED_TIME;
done:
    kn_free(number);
    kn_free(item_class);
    return status;
}
