/* An attack as it would be carried out: a file with names is linked to a release on the quasi-identifiers.
 *
 * In: the release as a table of texts, the attacker's file with its types. Out: how many named persons fit fewer than k
 * rows, and whose sensitive value all rows that fit share. Nothing of the search or the encoding is used, only the text
 * of the released cells and the hierarchies, which are published with a release.
 *
 * Released rows with equal QI cells are one class. Per column, each value that the attacker knows has a bit set over
 * the classes whose cell covers it; a person's candidates are the intersection. Members of sets and leaves of trees are
 * looked up, intervals and masks compared with each value. O(persons * columns * classes / 64), and a pass over
 * distinct values times classes per column. */
#include "base/formula.h"
#include "base/hash.h"
#include "risk/risk.h"

#include <string.h>

#define MIXED KN_NONE

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
    groups classes, persons; /* persons: distinct combinations of known values */
    uint64_t **bits;         /* [column][known spelling * words] */
    uint32_t **value;        /* [sensitive][class]: the one value of its rows, or MIXED (several, or missing) */
    const kn_attack_options *options;
    uint64_t *fits; /* [person]: released rows */
    bool *learned;  /* [person * n_sensitive]: they all have one value */
    size_t n_jobs;
    kn_ticker *ticker;
} attack;

static bool is_missing(const kn_column *column, uint32_t spelling)
{
    return column->has_missing && kn_column_value(column, spelling) == column->n_values - 1;
}

/* The attacker's values of one column, by what they mean: who asks for a member of a set finds them at once instead of
 * comparing it with each. */
typedef struct known_values {
    const kn_column *column;
    kn_cell_reading reading;
    kn_known_value *values; /* per spelling */
    uint32_t *slots, *next; /* spelling + 1; spellings of one value are chained */
    size_t capacity;
} known_values;

static uint64_t value_hash(const kn_known_value *value)
{
    if (value->is_time) return kn_hash_bytes(&value->time, sizeof value->time);
    if (!value->is_number) return kn_hash_bytes(value->text.bytes, value->text.n);
    double number = kn_decimal_double(&value->decimal); /* neighbours that share it are told apart by comparing */
    return kn_hash_bytes(&number, sizeof number);
}

/* The slot of a value: there, or where it belongs. */
static size_t known_slot(const known_values *known, const kn_known_value *value)
{
    size_t slot = value_hash(value) & (known->capacity - 1);
    while (known->slots[slot] != 0 && !kn_known_value_equal(&known->values[known->slots[slot] - 1], value))
        slot = (slot + 1) & (known->capacity - 1);
    return slot;
}

/* The form in which every cell of a column of dates is the date that it was read as; 0: none. */
static kn_date_form date_form(const kn_column *column)
{
    for (unsigned form = 1; form < KN_DATE_ANY; form <<= 1) {
        bool fits = true;
        for (uint32_t s = 0; s < column->n_spellings && fits; s++) {
            size_t n;
            kn_moment moment;
            if (is_missing(column, s)) continue;
            const char *bytes = kn_column_bytes(column, s, &n);
            fits = kn_date_parse(&moment, bytes, n, form) &&
                   kn_moment_number(&moment) == column->number[kn_column_value(column, s)];
        }
        if (fits) return (kn_date_form)form;
    }
    return 0;
}

static kn_status known_values_new(known_values *out, const kn_column *column, const kn_cell_reading *reading,
                                  kn_error *err)
{
    kn_status status = KN_OK;
    *out = (known_values){.column = column, .reading = *reading, .capacity = 16};
    if (reading->type == KN_TYPE_AUTO) out->reading.type = column->type != KN_TYPE_AUTO ? column->type : KN_TYPE_TEXT;
    if (column->type == KN_TYPE_DATE) out->reading.form = date_form(column);
    while (out->capacity < (size_t)column->n_spellings * 2) out->capacity *= 2;
    KN_NEW(out->slots, out->capacity);
    KN_NEW(out->next, (size_t)column->n_spellings + 1);
    KN_NEW(out->values, (size_t)column->n_spellings + 1);
    for (uint32_t v = 0; v < column->n_spellings; v++) {
        size_t n;
        const char *bytes = kn_column_bytes(column, v, &n);
        kn_known_value_read(&out->values[v], &out->reading, bytes, n);
        if (is_missing(column, v)) out->values[v].is_missing = true;
        size_t slot = known_slot(out, &out->values[v]);
        out->next[v] = out->slots[slot];
        out->slots[slot] = v + 1;
    }
done:
    return status;
}

static void known_values_free(known_values *known)
{
    kn_free(known->values);
    kn_free(known->slots);
    kn_free(known->next);
}

static void mark(uint64_t *covered, uint32_t v) { covered[v / 64] |= (uint64_t)1 << (v % 64); }

static bool mark_value(uint64_t *covered, const known_values *known, kn_bytes text)
{
    kn_known_value value;
    kn_known_value_read(&value, &known->reading, text.bytes, text.n);
    uint32_t v = known->slots[known_slot(known, &value)];
    bool found = v != 0;
    for (; v != 0; v = known->next[v - 1]) mark(covered, v - 1);
    return found;
}

/* Every leaf below a node of that label. */
static void mark_label(uint64_t *covered, const known_values *known, kn_bytes cell)
{
    const kn_tree *tree = known->reading.tree;
    for (uint32_t node = 0; node < tree->n_nodes; node++) {
        kn_bytes label;
        label.bytes = kn_tree_label(tree, node, &label.n);
        if (label.n != cell.n || memcmp(label.bytes, cell.bytes, cell.n) != 0) continue;
        for (uint32_t leaf = tree->first[node]; leaf <= tree->last[node]; leaf++) {
            label.bytes = kn_tree_label(tree, leaf, &label.n);
            mark_value(covered, known, label);
        }
    }
}

/* Which of the attacker's values one released cell covers: what kn_released_cell_covers says of each. A word that
 * none of them is may be the label of a hierarchy: *is_strange. */
static kn_cell_kind cell_covered(uint64_t *covered, bool *is_strange, const known_values *known, kn_bytes text,
                                 char *scratch)
{
    kn_released_cell cell;
    kn_bytes member;
    kn_released_cell_read(&cell, &known->reading, text.bytes, text.n);
    bool is_value = mark_value(covered, known, text);
    *is_strange = cell.kind == KN_CELL_WORD && !is_value;
    if (cell.kind == KN_CELL_UNREADABLE && is_value) return KN_CELL_VALUE; /* a value with dots or stars in it */
    if (cell.kind == KN_CELL_LABEL) mark_label(covered, known, text);
    for (size_t at = 1; cell.kind == KN_CELL_SET && kn_released_set_next(&member, &cell, &at, scratch);)
        mark_value(covered, known, member);
    const bool may_be_day = cell.kind == KN_CELL_VALUE && known->reading.type == KN_TYPE_DATE;
    bool by_comparing =
        cell.kind == KN_CELL_ANY || cell.kind == KN_CELL_INTERVAL || cell.kind == KN_CELL_MASK || may_be_day;
    for (uint32_t v = 0; by_comparing && v < known->column->n_spellings; v++)
        if (kn_released_cell_covers(&cell, &known->reading, &known->values[v])) mark(covered, v);
    return cell.kind;
}

/* What every released spelling covers. */
typedef struct coverage {
    const kn_column *released;
    size_t words;
    uint64_t *bits;   /* [released spelling * words] */
    uint32_t strange; /* the first spelling that may be the label of a hierarchy, or KN_NONE */
} coverage;

static kn_status unreadable(const attack *all, const coverage *cover, uint32_t spelling, const char *why, kn_error *err)
{
    char shown[KN_SHOWN_BYTES];
    size_t n;
    const kn_column *column = cover->released;
    const char *bytes = kn_column_bytes(column, spelling, &n);
    unsigned long long line = column->first_line != NULL ? column->first_line[spelling] : 0;
    return kn_error_set_at(err, KN_INPUT, KN_PLACE(.file = all->release->source, .line = line, .column = column->name),
                           "%s, line %llu, column %s: cannot read %s: %s; give the policy or the --hierarchy that the "
                           "release was made with",
                           all->release->source, line, column->name,
                           kn_value_shown(shown, bytes, n, all->options->redact), why);
}

static kn_status cover_spellings(coverage *out, const attack *all, const known_values *known, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_column *released = out->released;
    size_t longest = 0;
    char *scratch = NULL;
    for (uint32_t s = 0; s < released->n_spellings; s++)
        if (released->offset[s + 1] - released->offset[s] > longest)
            longest = released->offset[s + 1] - released->offset[s];
    KN_NEW(out->bits, (size_t)released->n_spellings * out->words + 1);
    KN_NEW(scratch, longest + 1);
    out->strange = KN_NONE;
    for (uint32_t s = 0; s < released->n_spellings; s++) {
        kn_bytes cell;
        bool is_strange;
        uint64_t *row = out->bits + (size_t)s * out->words;
        if (s % 256 == 0) KN_TRY(kn_tick(all->ticker, "attack", -1, err));
        if (is_missing(released, s)) {
            memset(row, 0xff, out->words * sizeof *row);
            continue;
        }
        cell.bytes = kn_column_bytes(released, s, &cell.n);
        if (all->options->guard_formulas) cell.bytes = kn_formula_unguard(cell.bytes, &cell.n);
        if (cell_covered(row, &is_strange, known, cell, scratch) == KN_CELL_UNREADABLE)
            KN_TRY(unreadable(all, out, s, kn_released_cell_why(&known->reading), err));
        if (is_strange && out->strange == KN_NONE) out->strange = s;
    }
done:
    kn_free(scratch);
    return status;
}

/* Where some cell is a word that may be a label, everybody must be found elsewhere: otherwise they may be below it. */
static kn_status refuse_strange_words(const coverage *cover, const attack *all, const kn_column *known, kn_error *err)
{
    for (uint32_t v = 0; cover->strange != KN_NONE && v < known->n_spellings; v++) {
        bool found = is_missing(known, v);
        for (uint32_t s = 0; s < cover->released->n_spellings && !found; s++)
            found = cover->bits[(size_t)s * cover->words + v / 64] >> (v % 64) & 1;
        if (!found)
            return unreadable(all, cover, cover->strange,
                              "it may be a label above values that nothing else covers (or, if it is a value, say "
                              "--hierarchy COL=suppress)",
                              err);
    }
    return KN_OK;
}

static kn_status column_bits(attack *all, size_t c, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_column *column = &all->known->columns[all->columns[c].known];
    known_values known = {0};
    coverage cover = {.released = &all->release->columns[all->columns[c].release],
                      .words = ((size_t)column->n_spellings + 63) / 64};
    KN_NEW(all->bits[c], (size_t)column->n_spellings * all->words + 1);
    KN_TRY(known_values_new(&known, column, &all->columns[c].reading, err));
    KN_TRY(cover_spellings(&cover, all, &known, err));
    KN_TRY(refuse_strange_words(&cover, all, column, err));
    for (uint32_t class_index = 0; class_index < all->classes.n; class_index++) {
        const uint64_t *row =
            cover.bits + (size_t)kn_column_code(cover.released, all->classes.first[class_index]) * cover.words;
        for (uint32_t v = 0; v < column->n_spellings; v++)
            if ((row[v / 64] >> (v % 64) & 1) || known.values[v].is_missing)
                all->bits[c][(size_t)v * all->words + class_index / 64] |= (uint64_t)1 << (class_index % 64);
    }
done:
    known_values_free(&known);
    kn_free(cover.bits);
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

/* One distinct combination of known values. */
static void person_link(attack *all, uint32_t person, uint32_t *learned)
{
    const uint32_t row = all->persons.first[person];
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
    all->fits[person] = fits;
    for (size_t s = 0; s < all->n_sensitive; s++)
        all->learned[person * all->n_sensitive + s] = fits > 0 && learned[s] != MIXED;
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
        person_link(all, (uint32_t)person, learned);
    }
done:
    kn_free(learned);
    return status;
}

static void count_person(kn_attack_result *sum, const attack *all, uint64_t fits, uint32_t n)
{
    sum->n_persons += n;
    if (fits == 0) {
        sum->n_not_found += n;
        return;
    }
    if (fits < all->options->k) sum->n_fewer_than_k += n;
    if (fits == 1) sum->n_unique += n;
    if (sum->smallest == 0 || fits < sum->smallest) sum->smallest = fits;
    sum->expected_hits += (double)n / (double)fits;
}

/* A row is a person. */
static void count_rows(kn_attack_result *sum, const attack *all)
{
    for (uint32_t p = 0; p < all->persons.n; p++) {
        count_person(sum, all, all->fits[p], all->persons.rows[p]);
        for (size_t s = 0; s < all->n_sensitive; s++)
            if (all->learned[p * all->n_sensitive + s]) sum->n_disclosed[s] += all->persons.rows[p];
    }
}

/* Of a person with several rows the one that tells most counts: it is enough for an attacker. */
static kn_status count_people(kn_attack_result *sum, const attack *all, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_column *column = &all->known->columns[all->known->person];
    uint64_t *fits = NULL;
    bool *seen = NULL, *learned = NULL;
    KN_NEW(fits, (size_t)column->n_values + 1);
    KN_NEW(seen, (size_t)column->n_values + 1);
    KN_NEW(learned, (size_t)column->n_values * all->n_sensitive + 1);
    for (uint32_t row = 0; row < all->known->n_rows; row++) {
        const uint32_t who = kn_column_value(column, kn_column_code(column, row)), p = all->persons.of_row[row];
        seen[who] = true;
        if (all->fits[p] > 0 && (fits[who] == 0 || all->fits[p] < fits[who])) fits[who] = all->fits[p];
        for (size_t s = 0; s < all->n_sensitive; s++)
            learned[who * all->n_sensitive + s] |= all->learned[p * all->n_sensitive + s];
    }
    for (uint32_t who = 0; who < column->n_values; who++) {
        if (!seen[who]) continue;
        count_person(sum, all, fits[who], 1);
        for (size_t s = 0; s < all->n_sensitive; s++) sum->n_disclosed[s] += learned[who * all->n_sensitive + s];
    }
done:
    kn_free(fits);
    kn_free(seen);
    kn_free(learned);
    return status;
}

static void attack_free(attack *all)
{
    groups_free(&all->classes);
    groups_free(&all->persons);
    for (size_t c = 0; c < all->n_columns && all->bits != NULL; c++) kn_free(all->bits[c]);
    for (size_t s = 0; s < all->n_sensitive && all->value != NULL; s++) kn_free(all->value[s]);
    kn_free(all->bits);
    kn_free(all->value);
    kn_free(all->fits);
    kn_free(all->learned);
}

kn_status kn_attack_run(kn_attack_result **out, const kn_table *release, const kn_table *known,
                        const kn_attack_column *columns, size_t n_columns, const uint32_t *sensitive,
                        size_t n_sensitive, const kn_attack_options *options, kn_pool *pool, kn_ticker *ticker,
                        kn_error *err)
{
    kn_status status = KN_OK;
    kn_attack_result *result = NULL;
    uint32_t *numbers = NULL;
    attack all = {.release = release,
                  .known = known,
                  .columns = columns,
                  .n_columns = n_columns,
                  .n_sensitive = n_sensitive,
                  .options = options,
                  .n_jobs = 256,
                  .ticker = ticker};
    *out = NULL;
    KN_NEW(result, 1);
    KN_NEW(result->n_disclosed, n_sensitive + 1);
    KN_NEW(numbers, n_columns + 1);
    KN_NEW(all.bits, n_columns + 1);
    KN_NEW(all.value, n_sensitive + 1);
    for (size_t c = 0; c < n_columns; c++) numbers[c] = columns[c].release;
    KN_TRY(groups_new(&all.classes, release, numbers, n_columns, err));
    for (size_t c = 0; c < n_columns; c++) numbers[c] = columns[c].known;
    KN_TRY(groups_new(&all.persons, known, numbers, n_columns, err));
    KN_NEW(all.fits, (size_t)all.persons.n + 1);
    KN_NEW(all.learned, all.persons.n * n_sensitive + 1);
    all.words = ((size_t)all.classes.n + 63) / 64;
    for (size_t c = 0; c < n_columns; c++) KN_TRY(column_bits(&all, c, err));
    for (size_t s = 0; s < n_sensitive; s++)
        KN_TRY(class_values(&all.value[s], &all, &release->columns[sensitive[s]], err));
    KN_TRY(kn_pool_run(pool, all.n_jobs, attack_job, &all, err));
    if (known->person == KN_NONE) count_rows(result, &all);
    else KN_TRY(count_people(result, &all, err));
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
