/* Exact search over the levels of some columns; see the header. Cost: a nanosecond or two per entry and step. Memory:
 * per searched column 24 bytes for each distinct tuple of the searched columns. */
#include "engine/lattice/column_search.h"

#include "base/hash.h"

#include <string.h>

enum { BREATHE_WORK = 1 << 18, SPARE_CELLS = 1 << 14, CELLS_PER_ENTRY = 4 };

/* Rows that are in one class and agree in the undecided columns, which are those of a tuple. */
typedef struct entry {
    uint32_t class_of, tuple, rows;
} entry;

/* All rows, by class and undecided columns. Class 0: those that are suppressed. */
typedef struct partition {
    uint32_t n, n_classes;
    entry *entries;
    int64_t *gap; /* [class]: what a row of it pays more once it is suppressed */
    uint64_t n_suppressed;
    int64_t penalty; /* what suppressed rows pay more, in units */
} partition;

struct kn_column_search {
    kn_owner memory; /* the arrays by column */
    const kn_full_domain *domain;
    const kn_lattice *lattice;
    kn_roller *roller;
    kn_groups groups;
    uint32_t *levels;
    /* What is set up. */
    uint32_t n_columns;
    uint32_t *columns;
    int64_t fixed_price; /* of the columns that stay where they are */
    uint32_t **code;     /* [i][tuple]: a code of its value in the i-th column at its least level */
    uint32_t **same;     /* [i][tuple]: number of its values in the columns from the i-th on; equal means equal */
    partition start, *parts;
    uint32_t *in_vain; /* [i]: merges in a row before the i-th column that hardly made a difference */
    /* Scratch of a step: rows by class and value, then the number of the class that is made of them. */
    uint32_t *cells, *cell_of;
    int64_t *gap;
    uint32_t n_classes;
    uint64_t n_suppressed;
    int64_t penalty;
    bool dense;
    uint64_t *keys;
    uint32_t *slots;
    uint32_t slot_bits;
    /* The search under way. */
    uint32_t first, *best;
    const int64_t *least;
    const kn_column_hooks *hooks;
    int64_t limit;
    bool whole, stopped;
    uint64_t work;
};

/* --- Setting up ------------------------------------------------------------------------------------------------ */

kn_status kn_column_search_new(kn_column_search **out, const kn_full_domain *domain, kn_error *err)
{
    kn_status status = KN_OK;
    kn_column_search *search = NULL;
    const size_t n = domain->task->tuples->n_qis;
    *out = NULL;
    KN_NEW(search, 1);
    search->domain = domain;
    search->lattice = domain->lattice;
    KN_TRY(kn_roller_new(&search->roller, domain->lattice, err));
    KN_OWN(&search->memory, search->columns, n);
    KN_OWN(&search->memory, search->levels, n);
    KN_OWN(&search->memory, search->code, n);
    KN_OWN(&search->memory, search->same, n + 1);
    KN_OWN(&search->memory, search->parts, n + 1);
    KN_OWN(&search->memory, search->in_vain, n + 1);
    *out = search;
    search = NULL;
done:
    kn_column_search_free(search);
    return status;
}

static void partition_free(partition *part)
{
    kn_free(part->entries);
    kn_free(part->gap);
}

static kn_status partition_reserve(partition *part, uint32_t n, kn_error *err)
{
    kn_status status = KN_OK;
    KN_ROOM(part->entries, n);
    KN_ROOM(part->gap, (size_t)n + 2);
done:
    return status;
}

void kn_column_search_free(kn_column_search *search)
{
    if (search == NULL) return;
    const uint32_t n_qis = search->lattice->tuples->n_qis;
    for (uint32_t i = 0; search->code != NULL && i < n_qis; i++) kn_free(search->code[i]);
    for (uint32_t i = 0; search->same != NULL && i <= n_qis; i++) kn_free(search->same[i]);
    for (uint32_t i = 0; search->parts != NULL && i <= n_qis; i++) partition_free(&search->parts[i]);
    partition_free(&search->start);
    void *const scratch[] = {search->cells, search->cell_of, search->gap, search->keys, search->slots};
    for (size_t i = 0; i < sizeof scratch / sizeof *scratch; i++) kn_free(scratch[i]);
    kn_groups_free(&search->groups, search->lattice);
    kn_roller_free(search->roller);
    kn_owner_free(&search->memory);
    kn_free(search);
}

static void empty_slots(kn_column_search *search, uint32_t n)
{
    search->slot_bits = 4;
    while (1ull << search->slot_bits < 2ull * n) search->slot_bits++;
    memset(search->slots, 0xff, sizeof *search->slots << search->slot_bits);
}

/* The number of the key among those seen since empty_slots; *n counts them. */
static inline uint32_t number_of(kn_column_search *search, uint64_t key, uint32_t *n)
{
    const uint64_t last = (1ull << search->slot_bits) - 1;
    uint64_t slot = (key * kn_hash_key[0]) >> (64 - search->slot_bits);
    while (search->slots[slot] != KN_NONE && search->keys[search->slots[slot]] != key) slot = (slot + 1) & last;
    if (search->slots[slot] == KN_NONE) {
        search->slots[slot] = *n;
        search->keys[(*n)++] = key;
    }
    return search->slots[slot];
}

static kn_status reserve(kn_column_search *search, uint32_t n, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t bits = 4;
    while (1ull << bits < 2ull * n) bits++;
    KN_ROOM(search->slots, (size_t)1 << bits);
    KN_ROOM(search->keys, (size_t)n + 1);
    KN_ROOM(search->cell_of, n);
    KN_ROOM(search->cells, (size_t)n * CELLS_PER_ENTRY + SPARE_CELLS);
    KN_ROOM(search->gap, (size_t)n + 2);
    for (uint32_t i = 0; i < search->n_columns; i++) KN_ROOM(search->code[i], n);
    for (uint32_t i = 0; i <= search->n_columns; i++) KN_ROOM(search->same[i], n);
    KN_TRY(partition_reserve(&search->start, n, err));
done:
    return status;
}

/* Values of the searched columns, and which tuples agree from some column on. */
static void number_tuples(kn_column_search *search)
{
    const kn_groups *groups = &search->groups;
    const uint32_t m = search->n_columns;
    memset(search->same[m], 0, groups->n * sizeof **search->same);
    for (uint32_t i = m; i-- > 0;) {
        const kn_lattice_column *column = &search->lattice->columns[search->columns[i]];
        const uint32_t *first_code = column->levels[column->min_level].first_code;
        uint32_t n = 0;
        empty_slots(search, groups->n);
        for (uint32_t g = 0; g < groups->n; g++) {
            search->code[i][g] = first_code[kn_groups_position(search->lattice, groups, g, search->columns[i])];
            search->same[i][g] = number_of(search, (uint64_t)search->same[i + 1][g] << 32 | search->code[i][g], &n);
        }
    }
}

/* The classes before anything is decided: by the columns that stay where they are. */
static void first_classes(kn_column_search *search, bool fixed)
{
    const kn_full_domain *domain = search->domain;
    const kn_groups *groups = &search->groups;
    partition *start = &search->start;
    uint32_t *rows = search->cells; /* of a class; more room than groups */
    start->n = groups->n;
    start->n_classes = 2;
    start->n_suppressed = 0;
    start->penalty = start->gap[0] = start->gap[1] = 0;
    for (uint32_t g = 0; g < groups->n; g++)
        start->entries[g] =
            (entry){1, g, (uint32_t)kn_groups_rows(search->lattice, groups, g)}; /* below 2^32 rows: optimal.c */
    for (uint32_t q = 0; fixed && q < domain->task->tuples->n_qis; q++) {
        uint32_t i = 0, n = 0;
        while (i < search->n_columns && search->columns[i] != q) i++;
        if (i < search->n_columns) continue;
        empty_slots(search, groups->n);
        for (uint32_t g = 0; g < groups->n; g++) {
            uint32_t position = kn_groups_position(search->lattice, groups, g, q);
            uint32_t *class_of = &start->entries[g].class_of;
            int64_t gap = start->gap[*class_of] + domain->gap[q][groups->levels[q]][position];
            *class_of = 1 + number_of(search, (uint64_t)*class_of << 32 | position, &n);
            search->gap[*class_of] = gap;
        }
        start->n_classes = n + 1;
        memcpy(start->gap + 1, search->gap + 1, n * sizeof *start->gap);
    }
    memset(rows, 0, start->n_classes * sizeof *rows);
    for (uint32_t g = 0; g < groups->n; g++) rows[start->entries[g].class_of] += start->entries[g].rows;
    for (entry *own = start->entries; own < start->entries + groups->n; own++) {
        if (rows[own->class_of] >= domain->task->models->min_persons) continue;
        start->n_suppressed += own->rows;
        start->penalty += (int64_t)own->rows * start->gap[own->class_of];
        own->class_of = 0;
    }
}

kn_status kn_column_search_set(bool *fits, kn_column_search *search, const uint32_t *columns, uint32_t n_columns,
                               const uint32_t *levels, size_t memory_bytes, kn_error *err)
{
    enum { BYTES_PER_TUPLE = 64, BYTES_PER_COLUMN = 24 };
    kn_status status = KN_OK;
    const kn_lattice *lattice = search->lattice;
    memset(search->in_vain, 0, ((size_t)lattice->tuples->n_qis + 1) * sizeof *search->in_vain);
    search->fixed_price = 0;
    for (uint32_t q = 0; q < lattice->tuples->n_qis; q++) {
        search->levels[q] = levels != NULL ? levels[q] : lattice->columns[q].max_level;
        search->fixed_price += search->domain->table_sum[q][search->levels[q]];
    }
    memcpy(search->columns, columns, n_columns * sizeof *columns);
    for (uint32_t i = 0; i < n_columns; i++) {
        search->fixed_price -= search->domain->table_sum[columns[i]][search->levels[columns[i]]];
        search->levels[columns[i]] = lattice->columns[columns[i]].min_level;
    }
    KN_TRY(kn_groups_roll(&search->groups, &lattice->base, search->levels, search->roller, err));
    size_t needed = (size_t)search->groups.n * (BYTES_PER_TUPLE + (size_t)n_columns * BYTES_PER_COLUMN);
    *fits = memory_bytes == 0 || needed <= memory_bytes;
    if (!*fits) goto done;
    search->n_columns = n_columns;
    KN_TRY(reserve(search, search->groups.n, err));
    number_tuples(search);
    first_classes(search, levels != NULL);
done:
    return status;
}

/* --- Steps ----------------------------------------------------------------------------------------------------- */

/* Entries of the same class that agree in all columns from the depth-th on become one. */
static void merge(kn_column_search *search, partition *part, uint32_t depth)
{
    uint32_t n = 0;
    const uint32_t *same = search->same[depth];
    empty_slots(search, part->n);
    for (uint32_t i = 0; i < part->n; i++) {
        const entry own = part->entries[i];
        const uint32_t before = n, at = number_of(search, (uint64_t)own.class_of << 32 | same[own.tuple], &n);
        if (n == before) part->entries[at].rows += own.rows;
        else part->entries[at] = own;
    }
    search->work += part->n;
    part->n = n;
}

/* What becomes of the rows of a class with one value: *cell turns from rows into the class. */
static inline void number_cell(kn_column_search *search, uint32_t *cell, const partition *from, uint32_t class_of,
                               int64_t value_gap, uint64_t min_rows)
{
    uint32_t rows = *cell;
    *cell = 0;
    if (class_of == 0) {
        search->penalty += (int64_t)rows * value_gap;
    } else if (rows > 0 && rows < min_rows) {
        search->n_suppressed += rows;
        search->penalty += (int64_t)rows * (from->gap[class_of] + value_gap);
    } else if (rows > 0) {
        search->gap[search->n_classes] = from->gap[class_of] + value_gap;
        *cell = search->n_classes++;
    }
}

/* Rows by class and value where few classes have few of the values. */
static void count_sparse(kn_column_search *search, const partition *from, const uint32_t *code,
                         const uint32_t *position_of, const int64_t *gap, uint64_t min_rows)
{
    uint32_t n = 0;
    empty_slots(search, from->n);
    for (uint32_t i = 0; i < from->n; i++) {
        uint32_t before = n;
        const entry own = from->entries[i];
        uint64_t key = (uint64_t)own.class_of << 32 | position_of[code[own.tuple]];
        uint32_t cell = search->cell_of[i] = number_of(search, key, &n);
        if (n > before) search->cells[cell] = 0;
        search->cells[cell] += own.rows;
    }
    for (uint32_t cell = 0; cell < n; cell++)
        number_cell(search, &search->cells[cell], from, (uint32_t)(search->keys[cell] >> 32),
                    gap[(uint32_t)search->keys[cell]], min_rows);
}

/* The classes when the depth-th column gets this level; false when too many rows are suppressed. */
static bool count(kn_column_search *search, const partition *from, uint32_t depth, uint32_t level)
{
    const uint32_t q = search->columns[depth], n_values = search->lattice->columns[q].levels[level].n;
    const uint32_t *code = search->code[depth], *position_of = search->lattice->columns[q].levels[level].of_code;
    const int64_t *gap = search->domain->gap[q][level];
    const uint64_t min_rows = search->domain->task->models->min_persons;
    const uint64_t n_cells = (uint64_t)from->n_classes * n_values;
    uint32_t *cells = search->cells;
    search->n_classes = 1;
    search->gap[0] = 0;
    search->n_suppressed = from->n_suppressed;
    search->penalty = from->penalty;
    search->dense = n_cells <= (uint64_t)from->n * CELLS_PER_ENTRY + SPARE_CELLS;
    if (n_values == 1) { /* nothing to count */
        search->penalty += (int64_t)from->n_suppressed * gap[0];
        for (uint32_t c = 0; c < from->n_classes; c++) cells[c] = c;
        for (uint32_t c = 1; c < from->n_classes; c++) search->gap[c] = from->gap[c] + gap[0];
        search->n_classes = from->n_classes;
        search->dense = true;
    } else if (search->dense) {
        memset(cells, 0, n_cells * sizeof *cells);
        for (uint32_t i = 0; i < from->n; i++)
            cells[from->entries[i].class_of * n_values + position_of[code[from->entries[i].tuple]]] +=
                from->entries[i].rows;
        for (uint32_t c = 0; c < from->n_classes; c++)
            for (uint32_t v = 0; v < n_values; v++)
                number_cell(search, &cells[c * n_values + v], from, c, gap[v], min_rows);
        search->work += from->n;
    } else {
        count_sparse(search, from, code, position_of, gap, min_rows);
        search->work += 2 * (uint64_t)from->n;
    }
    return search->n_suppressed <= search->domain->task->max_suppressed;
}

/* What count found, as the partition of the next column. */
static kn_status take(kn_column_search *search, const partition *from, uint32_t depth, uint32_t level, kn_error *err)
{
    enum { FEW_COLUMNS = 2, WORTH_IT = 4, RETRY = 16 }; /* otherwise merging costs more than it saves */
    kn_status status = KN_OK;
    const uint32_t q = search->columns[depth], n_values = search->lattice->columns[q].levels[level].n;
    const uint32_t *code = search->code[depth], *position_of = search->lattice->columns[q].levels[level].of_code;
    partition *next = &search->parts[depth + 1];
    KN_TRY(partition_reserve(next, from->n, err));
    for (uint32_t i = 0; i < from->n; i++) {
        const entry own = from->entries[i];
        uint32_t cell = search->dense ? own.class_of * n_values + position_of[code[own.tuple]] : search->cell_of[i];
        next->entries[i] = (entry){search->cells[cell], own.tuple, own.rows};
    }
    memcpy(next->gap, search->gap, search->n_classes * sizeof *next->gap);
    next->n = from->n;
    next->n_classes = search->n_classes;
    next->n_suppressed = search->n_suppressed;
    next->penalty = search->penalty;
    search->work += from->n;
    if (search->n_columns - depth - 1 > FEW_COLUMNS && search->in_vain[depth + 1]++ % RETRY == 0) {
        merge(search, next, depth + 1);
        if (next->n < from->n - from->n / WORTH_IT) search->in_vain[depth + 1] = 0;
    }
done:
    return status;
}

static kn_status breathe(kn_column_search *search, kn_error *err)
{
    kn_status status = KN_OK;
    if (search->work < BREATHE_WORK) return KN_OK;
    uint64_t work = search->work;
    search->work = 0;
    KN_TRY(search->hooks->breathe(search->hooks->context, work, &search->limit, &search->stopped, err));
done:
    return status;
}

/* Decides the columns from the depth-th on, the most specific level first: it is the cheapest. */
static kn_status decide(kn_column_search *search, uint32_t depth, int64_t price, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t q = search->columns[depth];
    const kn_lattice_column *column = &search->lattice->columns[q];
    const partition *from = &search->parts[depth];
    for (uint32_t l = column->min_level; l <= column->max_level && !search->stopped; l++) {
        int64_t cost = price + search->domain->table_sum[q][l] + search->least[depth + 1];
        if (cost + from->penalty > search->limit || !count(search, from, depth, l)) continue;
        cost += search->penalty;
        if (cost > search->limit) continue;
        search->levels[q] = l;
        if (depth + 1 < search->n_columns) {
            KN_TRY(take(search, from, depth, l, err));
            KN_TRY(breathe(search, err));
            KN_TRY(decide(search, depth + 1, price + search->domain->table_sum[q][l], err));
        } else if (search->whole) {
            KN_TRY(search->hooks->found(search->hooks->context, search->levels, &search->limit, err));
        } else {
            search->limit = cost - 1;
            for (uint32_t i = search->first; search->best != NULL && i < search->n_columns; i++)
                search->best[search->columns[i]] = search->levels[search->columns[i]];
        }
    }
    if (!search->stopped) KN_TRY(breathe(search, err));
done:
    return status;
}

/* The first partition: all rows, before the first-th column is decided. */
static kn_status begin(kn_column_search *search, uint32_t first, const int64_t *least, const kn_column_hooks *hooks,
                       kn_error *err)
{
    kn_status status = KN_OK;
    partition *part = &search->parts[first];
    const partition *start = &search->start;
    KN_TRY(partition_reserve(part, start->n, err));
    memcpy(part->entries, start->entries, start->n * sizeof *part->entries);
    memcpy(part->gap, start->gap, start->n_classes * sizeof *part->gap);
    part->n = start->n;
    part->n_classes = start->n_classes;
    part->n_suppressed = start->n_suppressed;
    part->penalty = start->penalty;
    merge(search, part, first);
    search->first = first;
    search->least = least;
    search->hooks = hooks;
    search->stopped = false;
done:
    return status;
}

kn_status kn_column_search_least(int64_t *cost, uint32_t *levels, bool *stopped, kn_column_search *search,
                                 uint32_t first, const int64_t *least, const kn_column_hooks *hooks, kn_error *err)
{
    kn_status status = KN_OK;
    const uint32_t q = search->columns[first];
    const kn_lattice_column *column = &search->lattice->columns[q];
    const uint32_t top = column->max_level;
    *cost = KN_COST_INFINITE;
    *stopped = false;
    KN_TRY(begin(search, first, least, hooks, err));
    partition *part = &search->parts[first];
    part->penalty = 0;
    memset(part->gap, 0, part->n_classes * sizeof *part->gap);
    if (part->n_suppressed > search->domain->task->max_suppressed) goto done;
    /* The best of the columns after it goes well with a column that makes no difference. */
    if (column->levels[top].n == 1 && search->domain->gap[q][top][0] == 0 && least[first + 1] < KN_COST_INFINITE)
        *cost = least[first + 1] + search->domain->table_sum[q][top];
    if (levels != NULL) levels[q] = top;
    search->limit = *cost - 1;
    search->whole = false;
    search->best = levels;
    KN_TRY(decide(search, first, 0, err));
    *cost = search->limit + 1;
    *stopped = search->stopped;
done:
    return status;
}

kn_status kn_column_search_all(bool *stopped, kn_column_search *search, int64_t limit, const int64_t *least,
                               const kn_column_hooks *hooks, kn_error *err)
{
    kn_status status = KN_OK;
    *stopped = false;
    KN_TRY(begin(search, 0, least, hooks, err));
    if (search->start.n_suppressed > search->domain->task->max_suppressed) goto done;
    search->limit = limit;
    search->whole = true;
    KN_TRY(decide(search, 0, search->fixed_price, err));
    *stopped = search->stopped;
done:
    return status;
}
