/* An attack as it would be carried out: a file with names is linked to a release on the quasi-identifiers.
 *
 * In: both files as tables of text. Out: how many named persons fit fewer than k rows, and whose sensitive value all
 * rows that fit share. Nothing of the search or the encoding is used, only the text of the released cells and the
 * hierarchies, which are published with a release.
 *
 * Released rows with equal QI cells are one class. Per column, each value that the attacker knows has a bit set over
 * the classes whose cell covers it; a person's candidates are the intersection. Members of sets and leaves of trees are
 * looked up, intervals and masks compared with each value. O(persons * columns * classes / 64), and a pass over
 * distinct values times classes per column. */
#include "base/buffer.h"
#include "base/hash.h"
#include "risk/risk.h"
#include "table/number.h"

#include <stdio.h>
#include <string.h>

#define MIXED KN_NONE

/* --- What a released cell covers ---------------------------------------------------------------------------------- */

typedef struct slice {
    const char *bytes;
    size_t n;
} slice;

static bool slice_equal(slice a, slice b) { return a.n == b.n && memcmp(a.bytes, b.bytes, a.n) == 0; }

enum { MAX_NUMBER_BYTES = 64 };

/* Exact, because long numbers may share a double and still differ. 01234 is a code, not a number. */
static bool slice_number(kn_decimal *out, slice text)
{
    return text.n < MAX_NUMBER_BYTES && kn_decimal_parse(out, text.bytes, text.n, false) != KN_NUMBER_NONE;
}

/* Equal up to the escapes of the released one. */
static bool unescaped_equal(slice released, slice value)
{
    size_t i = 0, j = 0;
    for (; i < released.n; i++, j++) {
        if (released.bytes[i] == '\\' && i + 1 < released.n) i++;
        if (j >= value.n || released.bytes[i] != value.bytes[j]) return false;
    }
    return j == value.n;
}

static bool same_value(slice released, slice value)
{
    kn_decimal a, b;
    if (unescaped_equal(released, value)) return true;
    return slice_number(&a, released) && slice_number(&b, value) && kn_decimal_compare(&a, &b) == 0;
}

/* The place of an unescaped ".." that is not at an end, or 0. */
static size_t interval_dots(slice cell)
{
    for (size_t i = 0; i + 1 < cell.n; i++) {
        if (cell.bytes[i] == '\\') i++;
        else if (i > 0 && cell.bytes[i] == '.' && cell.bytes[i + 1] == '.' && i + 2 < cell.n) return i;
    }
    return 0;
}

/* Numbers by value; dates (and nothing else has intervals) by their bytes, which is their order. */
static bool interval_covers(slice low, slice high, slice value)
{
    kn_decimal a, b, v;
    if (slice_number(&a, low) && slice_number(&b, high))
        return slice_number(&v, value) && kn_decimal_compare(&a, &v) <= 0 && kn_decimal_compare(&v, &b) <= 0;
    size_t n = value.n;
    size_t n_low = low.n < n ? low.n : n, n_high = high.n < n ? high.n : n;
    return memcmp(low.bytes, value.bytes, n_low) <= 0 && memcmp(value.bytes, high.bytes, n_high) <= 0;
}

static bool set_covers(slice cell, slice value)
{
    size_t start = 1;
    for (size_t i = 1; i < cell.n; i++) {
        if (cell.bytes[i] == '\\') {
            i++;
        } else if (cell.bytes[i] == '|' || i + 1 == cell.n) {
            if (same_value((slice){cell.bytes + start, i - start}, value)) return true;
            start = i + 1;
        }
    }
    return false;
}

static size_t character_bytes(slice text, size_t at)
{
    size_t n = 1;
    while (at + n < text.n && ((unsigned char)text.bytes[at + n] & 0xc0) == 0x80) n++;
    return n;
}

/* 48*** covers 48155: every star stands for one character. */
static bool mask_covers(slice cell, slice value)
{
    size_t i = 0, j = 0;
    while (i < cell.n && j < value.n) {
        size_t a = character_bytes(cell, i), b = character_bytes(value, j);
        if (cell.bytes[i] != '*' && (a != b || memcmp(cell.bytes + i, value.bytes + j, a) != 0)) return false;
        i += a;
        j += b;
    }
    return i == cell.n && j == value.n;
}

/* 2024, 2024-Q2 and 2024-05 cover 2024-05-17. */
static bool date_covers(slice cell, slice value)
{
    if (value.n < 10 || value.bytes[4] != '-' || value.bytes[7] != '-') return false;
    if (cell.n == 7 && cell.bytes[4] == '-' && cell.bytes[5] == 'Q') {
        int month = (value.bytes[5] - '0') * 10 + (value.bytes[6] - '0');
        return memcmp(cell.bytes, value.bytes, 4) == 0 && cell.bytes[6] - '1' == (month - 1) / 3;
    }
    return (cell.n == 4 || cell.n == 7) && memcmp(cell.bytes, value.bytes, cell.n) == 0;
}

static bool tree_covers(slice cell, slice value, const kn_tree *tree)
{
    for (uint32_t leaf = 0; leaf < tree->n_leaves; leaf++) {
        slice label;
        label.bytes = kn_tree_label(tree, leaf, &label.n);
        if (!same_value(label, value)) continue;
        for (uint32_t node = leaf;; node = tree->parent[node]) {
            slice above;
            above.bytes = kn_tree_label(tree, node, &above.n);
            if (slice_equal(above, cell)) return true;
            if (tree->parent[node] == node) return false;
        }
    }
    return false;
}

bool kn_attack_covers(const char *cell_bytes, size_t n_cell, const char *value_bytes, size_t n_value,
                      const kn_tree *tree)
{
    slice cell = {cell_bytes, n_cell}, value = {value_bytes, n_value};
    if (n_cell == 0 || n_value == 0 || (n_cell == 1 && cell_bytes[0] == '*')) return true;
    if (same_value(cell, value)) return true;
    if (tree != NULL && tree_covers(cell, value, tree)) return true;
    if (n_cell > 2 && cell_bytes[0] == '{' && cell_bytes[n_cell - 1] == '}') return set_covers(cell, value);
    size_t dots = interval_dots(cell);
    if (dots > 0)
        return interval_covers((slice){cell_bytes, dots}, (slice){cell_bytes + dots + 2, n_cell - dots - 2}, value);
    if (memchr(cell_bytes, '*', n_cell) != NULL) return mask_covers(cell, value);
    return date_covers(cell, value);
}

/* --- Rows with equal cells ---------------------------------------------------------------------------------------- */

typedef struct groups {
    uint32_t n;
    uint32_t *of_row; /* group of each row */
    uint32_t *first;  /* a row of each group */
    uint32_t *rows;   /* rows of each group */
} groups;

static void groups_free(groups *all)
{
    kn_free(all->of_row);
    kn_free(all->first);
    kn_free(all->rows);
}

static bool rows_equal(const kn_table *table, const uint32_t *columns, size_t n_columns, uint32_t a, uint32_t b)
{
    for (size_t c = 0; c < n_columns; c++) {
        const kn_column *column = &table->columns[columns[c]];
        if (kn_column_code(column, a) != kn_column_code(column, b)) return false;
    }
    return true;
}

static kn_status groups_new(groups *out, const kn_table *table, const uint32_t *columns, size_t n_columns,
                            kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *slots = NULL;
    size_t capacity = 16;
    *out = (groups){0};
    while (capacity < (size_t)table->n_rows * 2) capacity *= 2;
    KN_NEW(slots, capacity); /* group + 1 */
    KN_NEW(out->of_row, (size_t)table->n_rows + 1);
    KN_NEW(out->first, (size_t)table->n_rows + 1);
    KN_NEW(out->rows, (size_t)table->n_rows + 1);
    for (uint32_t row = 0; row < table->n_rows; row++) {
        uint64_t hash = 0;
        for (size_t c = 0; c < n_columns; c++)
            hash = kn_hash_combine(hash, kn_column_code(&table->columns[columns[c]], row));
        size_t slot = hash & (capacity - 1);
        while (slots[slot] != 0 && !rows_equal(table, columns, n_columns, out->first[slots[slot] - 1], row))
            slot = (slot + 1) & (capacity - 1);
        if (slots[slot] == 0) {
            out->first[out->n] = row;
            slots[slot] = ++out->n;
        }
        out->of_row[row] = slots[slot] - 1;
        out->rows[slots[slot] - 1]++;
    }
done:
    kn_free(slots);
    return status;
}

/* --- The attack --------------------------------------------------------------------------------------------------- */

typedef struct attack {
    const kn_table *release, *known;
    const kn_attack_column *columns;
    size_t n_columns, n_sensitive, words;
    groups classes, persons;
    uint64_t **bits;  /* [column][known spelling * words] */
    uint32_t **value; /* [sensitive][class]: the one value of its rows, or MIXED (several, or missing) */
    uint64_t k;
    kn_attack_result *parts; /* one per job; n_disclosed inside `disclosed` */
    uint64_t *disclosed;     /* [job * n_sensitive] */
    size_t n_jobs;
    kn_ticker *ticker;
} attack;

static bool is_missing(const kn_column *column, uint32_t spelling)
{
    return column->has_missing && kn_column_value(column, spelling) == column->n_values - 1;
}

/* The attacker's values of one column by their text, numbers by value: who asks for a member of a set finds them at
 * once instead of comparing it with each. */
typedef struct known_values {
    const kn_column *column;
    uint32_t *slots, *next; /* spelling + 1; spellings of one value are chained */
    size_t capacity;
} known_values;

enum { CANONICAL_BYTES = MAX_NUMBER_BYTES + 16 };

/* A number is written as its digits and the power of ten, everything else as it is. */
static slice canonical(char buffer[CANONICAL_BYTES], slice text)
{
    kn_decimal number;
    if (!slice_number(&number, text)) return text;
    size_t n = 0;
    if (number.negative) buffer[n++] = '-';
    for (uint32_t i = 0, at = 0; i < number.n_digits; at++)
        if (number.digits[at] != '.') buffer[n++] = number.digits[at], i++;
    n += (size_t)snprintf(buffer + n, CANONICAL_BYTES - n, "e%d", (int)number.exponent);
    return (slice){buffer, n};
}

static slice known_text(const known_values *known, uint32_t spelling)
{
    slice text;
    text.bytes = kn_column_bytes(known->column, spelling, &text.n);
    return text;
}

/* The slot of a text: there, or where it belongs. */
static size_t known_slot(const known_values *known, slice text)
{
    char a[CANONICAL_BYTES], b[CANONICAL_BYTES];
    slice key = canonical(a, text);
    size_t slot = kn_hash_bytes(key.bytes, key.n) & (known->capacity - 1);
    while (known->slots[slot] != 0 && !slice_equal(canonical(b, known_text(known, known->slots[slot] - 1)), key))
        slot = (slot + 1) & (known->capacity - 1);
    return slot;
}

static kn_status known_values_new(known_values *out, const kn_column *column, kn_error *err)
{
    kn_status status = KN_OK;
    *out = (known_values){.column = column, .capacity = 16};
    while (out->capacity < (size_t)column->n_spellings * 2) out->capacity *= 2;
    KN_NEW(out->slots, out->capacity);
    KN_NEW(out->next, column->n_spellings + 1);
    for (uint32_t v = 0; v < column->n_spellings; v++) {
        size_t slot = known_slot(out, known_text(out, v));
        out->next[v] = out->slots[slot];
        out->slots[slot] = v + 1;
    }
done:
    return status;
}

static void known_values_free(known_values *known)
{
    kn_free(known->slots);
    kn_free(known->next);
}

static void mark_value(uint64_t *covered, const known_values *known, slice text)
{
    for (uint32_t v = known->slots[known_slot(known, text)]; v != 0; v = known->next[v - 1])
        covered[(v - 1) / 64] |= (uint64_t)1 << ((v - 1) % 64);
}

static void mark_set(uint64_t *covered, const known_values *known, slice cell, char *scratch)
{
    size_t n = 0;
    for (size_t i = 1; i < cell.n; i++) {
        if (cell.bytes[i] == '\\' && i + 1 < cell.n) {
            scratch[n++] = cell.bytes[++i];
        } else if (cell.bytes[i] == '|' || i + 1 == cell.n) {
            mark_value(covered, known, (slice){scratch, n});
            n = 0;
        } else {
            scratch[n++] = cell.bytes[i];
        }
    }
}

/* Every leaf below a node of that label. */
static void mark_tree(uint64_t *covered, const known_values *known, slice cell, const kn_tree *tree)
{
    for (uint32_t node = 0; node < tree->n_nodes; node++) {
        slice label;
        label.bytes = kn_tree_label(tree, node, &label.n);
        if (!slice_equal(label, cell)) continue;
        for (uint32_t leaf = tree->first[node]; leaf <= tree->last[node]; leaf++) {
            label.bytes = kn_tree_label(tree, leaf, &label.n);
            mark_value(covered, known, label);
        }
    }
}

/* Which of the attacker's values one released cell covers: what kn_attack_covers says of each. */
static void cell_covered(uint64_t *covered, const known_values *known, slice cell, const kn_tree *tree, char *scratch)
{
    uint32_t n = known->column->n_spellings;
    bool is_set = cell.n > 2 && cell.bytes[0] == '{' && cell.bytes[cell.n - 1] == '}';
    if (is_set) {
        mark_set(covered, known, cell, scratch);
        mark_value(covered, known, cell);
        mark_value(covered, known, (slice){"", 0}); /* the attacker does not know it */
        if (tree != NULL) mark_tree(covered, known, cell, tree);
        return;
    }
    if (tree != NULL) mark_tree(covered, known, cell, tree);
    for (uint32_t v = 0; v < n; v++) {
        slice value = known_text(known, v);
        if (kn_attack_covers(cell.bytes, cell.n, value.bytes, value.n, NULL))
            covered[v / 64] |= (uint64_t)1 << (v % 64);
    }
}

static kn_status column_bits(attack *all, size_t c, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_column *released = &all->release->columns[all->columns[c].release];
    const kn_column *column = &all->known->columns[all->columns[c].known];
    known_values known = {0};
    size_t words = ((size_t)column->n_spellings + 63) / 64, longest = 0;
    uint64_t *covered = NULL; /* [released spelling * words] */
    char *scratch = NULL;
    for (uint32_t s = 0; s < released->n_spellings; s++)
        if (released->offset[s + 1] - released->offset[s] > longest)
            longest = released->offset[s + 1] - released->offset[s];
    KN_NEW(covered, (size_t)released->n_spellings * words + 1);
    KN_NEW(scratch, longest + 1);
    KN_NEW(all->bits[c], (size_t)column->n_spellings * all->words + 1);
    KN_TRY(known_values_new(&known, column, err));
    for (uint32_t s = 0; s < released->n_spellings; s++) {
        slice cell;
        cell.bytes = kn_column_bytes(released, s, &cell.n);
        uint64_t *row = covered + (size_t)s * words;
        if (is_missing(released, s)) memset(row, 0xff, words * sizeof *row);
        else cell_covered(row, &known, cell, all->columns[c].tree, scratch);
        if (s % 256 == 0) KN_TRY(kn_tick(all->ticker, "attack", -1, err));
    }
    for (uint32_t class_index = 0; class_index < all->classes.n; class_index++) {
        const uint64_t *row = covered + (size_t)kn_column_code(released, all->classes.first[class_index]) * words;
        for (uint32_t v = 0; v < column->n_spellings; v++)
            if ((row[v / 64] >> (v % 64) & 1) || is_missing(column, v))
                all->bits[c][(size_t)v * all->words + class_index / 64] |= (uint64_t)1 << (class_index % 64);
    }
done:
    known_values_free(&known);
    kn_free(covered);
    kn_free(scratch);
    return status;
}

static kn_status class_values(uint32_t **out, const attack *all, const kn_column *column, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *value = NULL;
    KN_NEW(value, all->classes.n + 1);
    for (uint32_t c = 0; c < all->classes.n; c++) {
        uint32_t spelling = kn_column_code(column, all->classes.first[c]);
        value[c] = is_missing(column, spelling) ? MIXED : kn_column_value(column, spelling);
    }
    for (uint32_t row = 0; row < all->release->n_rows; row++)
        if (value[all->classes.of_row[row]] != kn_column_value(column, kn_column_code(column, row)))
            value[all->classes.of_row[row]] = MIXED;
done:
    *out = value;
    return status;
}

/* One distinct combination of known values, with all the persons who have it. */
static void person_link(const attack *all, uint32_t person, kn_attack_result *sum, uint64_t *disclosed,
                        uint32_t *learned)
{
    uint32_t row = all->persons.first[person], n_persons = all->persons.rows[person];
    uint64_t fits = 0;
    for (size_t s = 0; s < all->n_sensitive; s++) learned[s] = KN_NONE - 1; /* nothing yet */
    for (size_t w = 0; w < all->words; w++) {
        uint64_t left = UINT64_MAX;
        for (size_t c = 0; c < all->n_columns && left != 0; c++) {
            uint32_t spelling = kn_column_code(&all->known->columns[all->columns[c].known], row);
            left &= all->bits[c][(size_t)spelling * all->words + w];
        }
        for (; left != 0; left &= left - 1) {
            size_t class_index = w * 64 + (size_t)__builtin_ctzll(left);
            if (class_index >= all->classes.n) break; /* without columns every bit is set */
            fits += all->classes.rows[class_index];
            for (size_t s = 0; s < all->n_sensitive; s++) {
                uint32_t value = all->value[s][class_index];
                learned[s] = learned[s] == KN_NONE - 1 || learned[s] == value ? value : MIXED;
            }
        }
    }
    sum->n_persons += n_persons;
    if (fits == 0) {
        sum->n_not_found += n_persons;
        return;
    }
    if (fits < all->k) sum->n_fewer_than_k += n_persons;
    if (fits == 1) sum->n_unique += n_persons;
    if (sum->smallest == 0 || fits < sum->smallest) sum->smallest = fits;
    sum->expected_hits += (double)n_persons / (double)fits;
    for (size_t s = 0; s < all->n_sensitive; s++)
        if (learned[s] != MIXED) disclosed[s] += n_persons;
}

static kn_status attack_job(void *context, size_t job, unsigned worker, kn_error *err)
{
    attack *all = context;
    kn_status status = KN_OK;
    uint32_t *learned = NULL;
    KN_NEW(learned, all->n_sensitive + 1);
    size_t from = all->persons.n * job / all->n_jobs, to = all->persons.n * (job + 1) / all->n_jobs;
    for (size_t person = from; person < to; person++) {
        if (person % 64 == 0) KN_TRY(kn_tick(all->ticker, "attack", (double)job / (double)all->n_jobs, err));
        person_link(all, (uint32_t)person, &all->parts[job], all->disclosed + job * all->n_sensitive, learned);
    }
done:
    kn_free(learned);
    return status;
}

static void parts_sum(kn_attack_result *result, const attack *all)
{
    for (size_t job = 0; job < all->n_jobs; job++) {
        const kn_attack_result *part = &all->parts[job];
        result->n_persons += part->n_persons;
        result->n_not_found += part->n_not_found;
        result->n_fewer_than_k += part->n_fewer_than_k;
        result->n_unique += part->n_unique;
        result->expected_hits += part->expected_hits;
        if (part->smallest > 0 && (result->smallest == 0 || part->smallest < result->smallest))
            result->smallest = part->smallest;
        for (size_t s = 0; s < all->n_sensitive; s++)
            result->n_disclosed[s] += all->disclosed[job * all->n_sensitive + s];
    }
}

static void attack_free(attack *all)
{
    groups_free(&all->classes);
    groups_free(&all->persons);
    for (size_t c = 0; c < all->n_columns && all->bits != NULL; c++) kn_free(all->bits[c]);
    for (size_t s = 0; s < all->n_sensitive && all->value != NULL; s++) kn_free(all->value[s]);
    kn_free(all->bits);
    kn_free(all->value);
    kn_free(all->parts);
    kn_free(all->disclosed);
}

kn_status kn_attack_run(kn_attack_result **out, const kn_table *release, const kn_table *known,
                        const kn_attack_column *columns, size_t n_columns, const uint32_t *sensitive,
                        size_t n_sensitive, uint64_t k, kn_pool *pool, kn_ticker *ticker, kn_error *err)
{
    kn_status status = KN_OK;
    kn_attack_result *result = NULL;
    uint32_t *numbers = NULL;
    attack all = {.release = release,
                  .known = known,
                  .columns = columns,
                  .n_columns = n_columns,
                  .n_sensitive = n_sensitive,
                  .k = k,
                  .n_jobs = 256,
                  .ticker = ticker};
    *out = NULL;
    KN_NEW(result, 1);
    KN_NEW(result->n_disclosed, n_sensitive + 1);
    KN_NEW(numbers, n_columns + 1);
    KN_NEW(all.bits, n_columns + 1);
    KN_NEW(all.value, n_sensitive + 1);
    KN_NEW(all.parts, all.n_jobs);
    KN_NEW(all.disclosed, all.n_jobs * n_sensitive + 1);
    for (size_t c = 0; c < n_columns; c++) numbers[c] = columns[c].release;
    KN_TRY(groups_new(&all.classes, release, numbers, n_columns, err));
    for (size_t c = 0; c < n_columns; c++) numbers[c] = columns[c].known;
    KN_TRY(groups_new(&all.persons, known, numbers, n_columns, err));
    all.words = ((size_t)all.classes.n + 63) / 64;
    for (size_t c = 0; c < n_columns; c++) KN_TRY(column_bits(&all, c, err));
    for (size_t s = 0; s < n_sensitive; s++)
        KN_TRY(class_values(&all.value[s], &all, &release->columns[sensitive[s]], err));
    KN_TRY(kn_pool_run(pool, all.n_jobs, attack_job, &all, err));
    parts_sum(result, &all);
    *out = result;
    result = NULL;
done:
    attack_free(&all);
    kn_free(numbers);
    kn_attack_result_free(result);
    return status;
}

void kn_attack_result_free(kn_attack_result *result)
{
    if (result == NULL) return;
    kn_free(result->n_disclosed);
    kn_free(result);
}
