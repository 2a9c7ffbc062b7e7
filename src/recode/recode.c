/* From a search's answer to a release in codes.
 *
 * In: levels, cut points or classes of rows. Out: classes of rows with equal released cells, the cells, counts per
 * class, and the suppressed rows. Four steps: cells of the answer's classes (classify_*), classes with equal cells
 * become one (merge_equal), classes that break a model are suppressed (suppress_what_breaks), labels made from the data
 * are written for the rows that are left (narrow_labels.c). Narrower labels may be equal or cover fewer people of a
 * population, so the last three go round until nothing changes.
 *
 * Relies on leaves in pre-order: the closure of a class in a tree or an ordered domain follows from its smallest and
 * largest code alone. Cost: a few passes over rows times quasi-identifiers. */
#include "recode/recode.h"

#include "classes/gather.h"
#include "classes/histogram.h"
#include "classes/cells.h"

#include <stdlib.h>
#include <string.h>

/* What rows become, on the threads of the pool. */
typedef struct row_map {
    uint32_t *row_class;
    const uint32_t *from, *map; /* KN_NONE stays */
    uint32_t n_rows;
} row_map;

enum { ROWS_PER_JOB = 1 << 16 };

static kn_status map_some_rows(void *context, size_t job, unsigned worker, kn_error *err)
{
    const row_map *all = context;
    uint32_t begin = (uint32_t)job * ROWS_PER_JOB, rest = all->n_rows - begin;
    for (uint32_t row = begin; row < begin + (rest < ROWS_PER_JOB ? rest : ROWS_PER_JOB); row++)
        all->row_class[row] = all->from[row] != KN_NONE ? all->map[all->from[row]] : KN_NONE;
    return KN_OK;
}

static kn_status map_rows(kn_release *r, const uint32_t *from, const uint32_t *map, const kn_task *task, kn_error *err)
{
    row_map all = {r->row_class, from, map, r->tuples->n_records};
    return kn_pool_run(task->pool, ((size_t)all.n_rows + ROWS_PER_JOB - 1) / ROWS_PER_JOB, map_some_rows, &all, err);
}

/* Global recodings: group the tuples by mapped codes; map[q][code] is a node or a part. */
static kn_status classify_by_maps(kn_release *r, const kn_task *task, uint32_t *const *maps, const uint32_t *n_mapped,
                                  uint32_t **tuple_of_class, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *t = r->tuples;
    kn_group_column *columns = NULL;
    uint32_t *tuple_class = NULL;
    KN_NEW(columns, t->n_qis);
    KN_NEW_RAW(tuple_class, t->n_tuples);
    for (uint32_t q = 0; q < t->n_qis; q++) columns[q] = (kn_group_column){t->codes[q], 4, maps[q], n_mapped[q]};
    KN_TRY(kn_group(tuple_class, &r->n_classes, tuple_of_class, t->n_tuples, columns, t->n_qis, task->pool,
                    task->ticker, err));
    KN_NEW_RAW(r->row_class, t->n_records);
    KN_TRY(map_rows(r, t->row_tuple, tuple_class, task, err));
    KN_NEW(r->cells, (size_t)r->n_classes * t->n_qis);
done:
    kn_free(columns);
    kn_free(tuple_class);
    return status;
}

static kn_status classify_by_levels(kn_release *r, const kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *t = r->tuples;
    uint32_t **maps = NULL, *n_mapped = NULL, *tuple_of_class = NULL;
    KN_NEW(maps, t->n_qis);
    KN_NEW(n_mapped, t->n_qis);
    KN_NEW(r->levels, t->n_qis);
    for (uint32_t q = 0; q < t->n_qis; q++) {
        maps[q] = t->domains[q]->tree->at_level[answer->levels[q]];
        n_mapped[q] = t->domains[q]->tree->n_nodes;
        r->levels[q] = answer->levels[q];
    }
    KN_TRY(classify_by_maps(r, task, maps, n_mapped, &tuple_of_class, err));
    for (uint32_t c = 0; c < r->n_classes; c++)
        for (uint32_t q = 0; q < t->n_qis; q++)
            r->cells[(size_t)c * t->n_qis + q] =
                kn_domain_at_level(t->domains[q], t->codes[q][tuple_of_class[c]], answer->levels[q]);
done:
    kn_free(maps);
    kn_free(n_mapped);
    kn_free(tuple_of_class);
    return status;
}

static kn_status classify_by_cuts(kn_release *r, const kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *t = r->tuples;
    uint32_t *n_mapped = NULL, *tuple_of_class = NULL;
    bool changed = false;
    KN_NEW(n_mapped, t->n_qis);
    for (uint32_t q = 0; q < t->n_qis; q++) n_mapped[q] = t->domains[q]->n_codes;
    KN_TRY(classify_by_maps(r, task, answer->part, n_mapped, &tuple_of_class, err));
    KN_TRY(kn_release_cut_cells(&changed, r, answer, true, err));
done:
    kn_free(n_mapped);
    kn_free(tuple_of_class);
    return status;
}

/* Columns are closed on the threads of the pool, in ranges of classes, each with sets of its own. */
typedef struct closing {
    kn_release *release;
    const uint32_t *start, *members; /* the tuples of each class */
    uint32_t most;                   /* of a class */
    kn_set_pool **sets;              /* [q * N_RANGES + range] */
} closing;

enum { N_RANGES = 8 };

static uint32_t range_begin(const kn_release *r, size_t range)
{
    return (uint32_t)((uint64_t)r->n_classes * range / N_RANGES);
}

static kn_status close_range(void *context, size_t job, unsigned worker, kn_error *err)
{
    kn_status status = KN_OK;
    enum { AHEAD = 32 }; /* a class's tuples are anywhere */
    const closing *all = context;
    const kn_release *r = all->release;
    const kn_tuples *t = r->tuples;
    const uint32_t q = (uint32_t)(job / N_RANGES), range = (uint32_t)(job % N_RANGES), end = range_begin(r, range + 1),
                   last = all->start[end];
    uint32_t *codes = NULL;
    KN_TRY(kn_set_pool_new(&all->sets[job], err));
    KN_NEW_RAW(codes, all->most);
    for (uint32_t c = range_begin(r, range); c < end; c++) {
        const uint32_t *members = all->members + all->start[c], n = all->start[c + 1] - all->start[c];
        if (n == 0) continue; /* dropped with the breaking ones */
        for (uint32_t i = 0; i < n; i++) {
            if (all->start[c] + i + AHEAD < last) __builtin_prefetch(&t->codes[q][members[i + AHEAD]]);
            codes[i] = t->codes[q][members[i]];
        }
        KN_TRY(kn_domain_closure(&r->cells[(size_t)c * t->n_qis + q], t->domains[q], all->sets[job], codes, n, err));
    }
done:
    kn_free(codes);
    return status;
}

/* All sets in one pool, in the order of the columns and their classes. */
static kn_status unite_sets(const closing *all, kn_error *err)
{
    kn_status status = KN_OK;
    kn_release *r = all->release;
    const uint32_t n_qis = r->tuples->n_qis;
    uint32_t *ids = NULL;
    for (uint32_t job = 0; job < n_qis * N_RANGES; job++) {
        const uint32_t q = job / N_RANGES, range = job % N_RANGES;
        const kn_domain *domain = r->tuples->domains[q];
        const uint32_t n_nodes = domain->kind == KN_DOMAIN_TREE ? domain->tree->n_nodes : 0;
        if (domain->kind == KN_DOMAIN_RANGES) continue;
        KN_TRY(kn_set_pool_unite(&ids, r->sets, all->sets[job], err));
        for (uint32_t c = range_begin(r, range); c < range_begin(r, range + 1); c++) {
            uint32_t *id = &r->cells[(size_t)c * n_qis + q].id;
            if (*id != KN_NONE && *id >= n_nodes) *id = n_nodes + ids[*id - n_nodes];
        }
        kn_free(ids);
        ids = NULL;
        kn_set_pool_free(all->sets[job]);
        all->sets[job] = NULL;
    }
done:
    kn_free(ids);
    return status;
}

static kn_status classify_by_rows(kn_release *r, const kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *t = r->tuples;
    uint32_t *start = NULL, *members = NULL;
    kn_set_pool **sets = NULL;
    r->n_classes = answer->n_classes;
    KN_NEW_RAW(r->row_class, t->n_records);
    memcpy(r->row_class, answer->row_class, t->n_records * sizeof *r->row_class);
    KN_NEW(r->cells, (size_t)r->n_classes * t->n_qis);
    if (answer->cells != NULL) {
        memcpy(r->cells, answer->cells, (size_t)r->n_classes * t->n_qis * sizeof *r->cells);
        goto done;
    }
    const kn_group_column tuples = {t->row_tuple, sizeof *t->row_tuple, NULL, t->n_tuples};
    KN_TRY(kn_gather(&start, &members, r->row_class, t->n_records, r->n_classes, &tuples, task->pool, err));
    KN_NEW(sets, (size_t)t->n_qis * N_RANGES);
    closing all = {r, start, members, 0, sets};
    for (uint32_t c = 0; c < r->n_classes; c++)
        if (start[c + 1] - start[c] > all.most) all.most = start[c + 1] - start[c];
    KN_TRY(kn_pool_run(task->pool, (size_t)t->n_qis * N_RANGES, close_range, &all, err));
    KN_TRY(unite_sets(&all, err));
done:
    for (size_t i = 0; sets != NULL && i < (size_t)t->n_qis * N_RANGES; i++) kn_set_pool_free(sets[i]);
    kn_free(sets);
    kn_free(start);
    kn_free(members);
    return status;
}

/* Classes with equal cells are one class to everybody who sees the release. */
static kn_status merge_equal(kn_release *r, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n_qis = r->tuples->n_qis, n_old = r->n_classes;
    uint32_t *merged = NULL, *first = NULL;
    kn_cell *cells = NULL;
    if (n_old == 0) return KN_OK;
    KN_NEW_RAW(merged, n_old);
    KN_TRY(kn_cells_group(merged, &r->n_classes, &first, r->cells, n_old, n_qis, n_qis, NULL, task->pool, task->ticker,
                          err));
    KN_NEW_RAW(cells, (size_t)r->n_classes * n_qis);
    for (uint32_t c = 0; c < r->n_classes; c++)
        memcpy(cells + (size_t)c * n_qis, r->cells + (size_t)first[c] * n_qis, n_qis * sizeof *cells);
    kn_free(r->cells);
    r->cells = cells;
    KN_TRY(map_rows(r, r->row_class, merged, task, err));
done:
    kn_free(merged);
    kn_free(first);
    return status;
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Rows and distinct persons per class; the suppressed rows are class n_classes of `rows` and `persons`. */
static kn_status count_classes(uint64_t *rows, uint64_t *persons, const kn_release *r, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *t = r->tuples;
    uint64_t *keys = NULL;
    uint32_t n_known = 0;
    for (uint32_t row = 0; row < t->n_records; row++)
        rows[r->row_class[row] == KN_NONE ? r->n_classes : r->row_class[row]] += kn_tuples_count(t, row);
    if (t->row_person == NULL) {
        memcpy(persons, rows, (r->n_classes + 1) * sizeof *rows);
        return KN_OK;
    }
    KN_NEW_RAW(keys, t->n_records);
    for (uint32_t row = 0; row < t->n_records; row++) {
        uint32_t c = r->row_class[row] == KN_NONE ? r->n_classes : r->row_class[row];
        if (t->table->person_counts != NULL && t->table->person_counts[row] > 0)
            persons[c] += t->table->person_counts[row]; /* in no other record */
        else keys[n_known++] = (uint64_t)c << 32 | t->row_person[row];
    }
    qsort(keys, n_known, sizeof *keys, compare_keys);
    for (uint32_t i = 0; i < n_known; i++)
        if (i == 0 || keys[i] != keys[i - 1]) persons[keys[i] >> 32]++;
done:
    kn_free(keys);
    return status;
}

static void forget_counts(kn_release *r)
{
    kn_histograms_free(r->histograms, r->tuples->n_sensitive);
    kn_free(r->class_rows);
    kn_free(r->class_persons);
    r->histograms = NULL;
    r->class_rows = r->class_persons = NULL;
}

static kn_status count_release(kn_release *r, bool histograms, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    forget_counts(r);
    KN_NEW(r->class_rows, r->n_classes + 1);
    KN_NEW(r->class_persons, r->n_classes + 1);
    KN_TRY(count_classes(r->class_rows, r->class_persons, r, err));
    r->n_suppressed = r->class_rows[r->n_classes];
    r->n_suppressed_persons = r->class_persons[r->n_classes];
    if (histograms) KN_TRY(kn_release_count(r, task->pool, err));
done:
    return status;
}

/* Renumbers the classes, leaving out those that break a model or have no row. Returns whether any had rows. */
static kn_status drop_breaking_classes(bool *changed, kn_release *r, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t n_qis = r->tuples->n_qis;
    uint32_t *renumbered = NULL, n_kept = 0;
    kn_histogram *buffer = NULL;
    *changed = false;
    KN_NEW(renumbered, r->n_classes);
    KN_NEW(buffer, r->tuples->n_sensitive);
    for (uint32_t c = 0; c < r->n_classes; c++) {
        kn_class_counts counts = kn_release_class(r, c, buffer);
        bool kept =
            counts.n_rows != 0 && kn_models_hold_class(task->models, &counts, r->cells + (size_t)c * n_qis, r->sets);
        if (!kept) *changed = true;
        renumbered[c] = kept ? n_kept : KN_NONE;
        if (kept && n_kept++ != c)
            memcpy(r->cells + (size_t)renumbered[c] * n_qis, r->cells + (size_t)c * n_qis, n_qis * sizeof *r->cells);
    }
    if (*changed) {
        r->n_classes = n_kept;
        KN_TRY(map_rows(r, r->row_class, renumbered, task, err));
    }
done:
    kn_free(renumbered);
    kn_free(buffer);
    return status;
}

static bool root_is_star(const kn_domain *domain, const kn_set_pool *sets)
{
    kn_buffer text = {0};
    kn_cell root = kn_domain_root(domain);
    kn_cell_text(&text, &root, domain, sets);
    bool is_star = text.n == 1 && text.bytes[0] == '*';
    kn_buffer_free(&text);
    return is_star;
}

/* The class whose released text is * in every QI, as the suppressed rows' is, or KN_NONE. */
static uint32_t all_star_class(const kn_release *r)
{
    const kn_tuples *t = r->tuples;
    for (uint32_t q = 0; q < t->n_qis; q++)
        if (!root_is_star(t->domains[q], r->sets)) return KN_NONE;
    for (uint32_t c = 0; c < r->n_classes; c++) {
        uint32_t q = 0;
        while (q < t->n_qis) {
            kn_cell root = kn_domain_root(t->domains[q]);
            if (!kn_cell_equal(&r->cells[(size_t)c * t->n_qis + q], &root)) break;
            q++;
        }
        if (q == t->n_qis) return c;
    }
    return KN_NONE;
}

/* The suppressed rows stay when, as the class that a reader sees, they satisfy every model. */
static kn_status suppressed_may_stay(bool *stay, kn_release *r, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tuples *t = r->tuples;
    kn_histogram *buffer = NULL;
    kn_release joined = {.tuples = t, .n_classes = 1};
    uint64_t rows[2] = {0}, persons[2] = {0};
    const uint32_t star = all_star_class(r);
    KN_NEW(buffer, t->n_sensitive);
    if (star == KN_NONE) {
        kn_class_counts counts = kn_release_class(r, r->n_classes, buffer);
        *stay = kn_models_hold_class(task->models, &counts, NULL, r->sets);
        goto done;
    }
    KN_NEW_RAW(joined.row_class, t->n_records);
    for (uint32_t row = 0; row < t->n_records; row++)
        joined.row_class[row] = r->row_class[row] == KN_NONE || r->row_class[row] == star ? 0 : KN_NONE;
    KN_TRY(count_classes(rows, persons, &joined, err));
    KN_TRY(kn_release_count(&joined, task->pool, err));
    joined.class_rows = rows;
    joined.class_persons = persons;
    r->joined_class = star;
    r->joined_persons = persons[0];
    kn_class_counts counts = kn_release_class(&joined, 0, buffer);
    *stay = kn_models_hold_class(task->models, &counts, NULL, r->sets);
done:
    joined.class_rows = joined.class_persons = NULL;
    forget_counts(&joined);
    kn_free(joined.row_class);
    kn_free(buffer);
    return status;
}

static kn_status suppress_what_breaks(kn_release *r, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    bool changed, stay = true, histograms = (task->models->needs & KN_NEEDS_HISTOGRAM) != 0;
    KN_TRY(count_release(r, histograms, task, err));
    KN_TRY(drop_breaking_classes(&changed, r, task, err));
    if (changed) KN_TRY(count_release(r, true, task, err));
    else if (!histograms) KN_TRY(kn_release_count(r, task->pool, err));
    if (r->n_suppressed > task->max_suppressed)
        KN_FAIL(KN_NOT_MET,
                "%llu of %llu rows would have to be suppressed, and --max-suppressed allows %llu; "
                "allow more, or lower k, or use fewer quasi-identifiers",
                (unsigned long long)r->n_suppressed, (unsigned long long)r->tuples->n_rows,
                (unsigned long long)task->max_suppressed);
    if (r->n_suppressed != 0) KN_TRY(suppressed_may_stay(&stay, r, task, err));
    r->n_removed = stay ? 0 : r->n_suppressed;
    r->suppressed_joined = stay && r->n_suppressed != 0 && all_star_class(r) != KN_NONE;
    if (r->n_removed == r->tuples->n_rows && r->tuples->n_rows != 0)
        KN_FAIL(KN_NOT_MET, "no row can be released: all %llu would have to be removed",
                (unsigned long long)r->tuples->n_rows);
done:
    return status;
}

/* Parts between cut points are written anew for the rows that are left; nodes are narrowed. */
static kn_status narrow(bool *changed, kn_release *r, const kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    const bool by_cuts = answer->recoding == KN_RECODING_CUTS;
    bool parts_changed = false;
    *changed = false;
    if (by_cuts) KN_TRY(kn_release_cut_cells(&parts_changed, r, answer, false, err));
    if (!by_cuts || answer->part_nodes) KN_TRY(kn_release_narrow(changed, r, task, err));
    *changed = *changed || parts_changed;
done:
    return status;
}

/* Labels may become *, the same for several nodes: see kn_cell_narrow. */
static bool has_lowest_levels(const kn_release *r)
{
    for (uint32_t q = 0; q < r->tuples->n_qis; q++)
        if (r->tuples->domains[q]->kind == KN_DOMAIN_TREE && r->tuples->domains[q]->min_level > 0) return true;
    return false;
}

kn_status kn_recode(kn_release **out, const kn_answer *answer, const kn_task *task, kn_error *err)
{
    kn_status status = KN_OK;
    kn_release *r = NULL;
    *out = NULL;
    KN_NEW(r, 1);
    r->tuples = task->tuples;
    KN_TRY(kn_set_pool_new(&r->sets, err));
    switch (answer->recoding) {
    case KN_RECODING_LEVELS: KN_TRY(classify_by_levels(r, answer, task, err)); break;
    case KN_RECODING_CUTS: KN_TRY(classify_by_cuts(r, answer, task, err)); break;
    case KN_RECODING_LOCAL: KN_TRY(classify_by_rows(r, answer, task, err)); break;
    }
    for (bool again = true; again;) {
        KN_TRY(merge_equal(r, task, err));
        KN_TRY(suppress_what_breaks(r, task, err));
        KN_TRY(narrow(&again, r, answer, task, err));
        const bool counts_population = (task->models->needs & KN_NEEDS_POPULATION) != 0;
        if (r->levels != NULL && !counts_population && !has_lowest_levels(r)) break; /* one label per node */
    }
    *out = r;
    r = NULL;
done:
    kn_release_free(r);
    return status;
}

kn_status kn_recode_given(kn_release **out, kn_source *source, const char *name, const kn_task *task,
                          const kn_release_options *options, kn_error *err)
{
    kn_status status = KN_OK;
    kn_release *r = NULL;
    uint64_t n_given = 0;
    *out = NULL;
    KN_TRY(kn_release_read_records(&r, source, name, task->tuples, options, task->pool, task->ticker, err));
    for (uint32_t row = 0; row < r->tuples->n_records; row++)
        if (r->row_class[row] == KN_NONE) n_given += kn_tuples_count(r->tuples, row);
    KN_TRY(suppress_what_breaks(r, task, err));
    if (r->n_suppressed != n_given)
        KN_FAIL(KN_NOT_MET,
                "%s: %llu rows are in classes that break a model; what is given is released as it is, or not at all",
                name, (unsigned long long)(r->n_suppressed - n_given));
    *out = r;
    r = NULL;
done:
    kn_release_free(r);
    return status;
}
