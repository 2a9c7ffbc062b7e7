/* What a released text stands for.
 *
 *   *          everything
 *   a value    the bytes of an original text, or a number or date equal to it
 *   a label    with a tree: every node of that label; a node stands for the leaves below it. Of a collection of
 *              subsets the lines are such a tree; there a text is a value, a label or nothing
 *   a..b       an interval, both ends included, of numbers, dates, or the order that the domain gives to texts
 *   a..<b      the same without its upper end; a.. and ..b have one end
 *   {a|b}      the values a and b; \N in a set is the missing cell
 * and what automatic trees write for the rows of a release, which need be no label of the tree itself:
 *   2024-Q1    a period of the calendar, alone or as the end of an interval
 *   [a,b)      an old way to write a..<b
 *   130**      a mask: values that agree outside the stars and are no longer
 * In intervals and sets '\' takes the next character literally. A missing cell is a value of its own: it is never
 * inside an interval; where it may be any value, only * and the root stand for it. With a tree, labels decide; only a
 * text that is no label at all is read as an interval (of leaves in tree order, or of numbers) or a set. Without one, a
 * text that an original cell has is that value and nothing else.
 *
 * The tree, and the order that the domain gives to texts, are taken as definitions; numbers, dates and the syntax are
 * parsed here. */
#include "verify/meaning.h"

#include "base/formula.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- Labels of a tree ------------------------------------------------------------------------------------------ */

typedef struct label {
    const char *bytes;
    size_t n_bytes;
    uint32_t node;
} label;

typedef struct numbered_leaf {
    double number;
    uint32_t leaf;
} numbered_leaf;

typedef struct label_index {
    label *labels; /* all nodes by label, then by node */
    uint32_t n_labels;
    numbered_leaf *numbers; /* leaves whose label is a number, by number */
    uint32_t n_numbers;
    const kn_reading *reading;
} label_index;

static int compare_labels(const label *x, const label *y)
{
    int order = memcmp(x->bytes, y->bytes, x->n_bytes < y->n_bytes ? x->n_bytes : y->n_bytes);
    return order != 0 ? order : (x->n_bytes > y->n_bytes) - (x->n_bytes < y->n_bytes);
}

static int by_label(const void *a, const void *b)
{
    const label *x = a, *y = b;
    int order = compare_labels(x, y);
    return order != 0 ? order : (x->node > y->node) - (x->node < y->node);
}

static int by_number(const void *a, const void *b)
{
    const numbered_leaf *x = a, *y = b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return (x->leaf > y->leaf) - (x->leaf < y->leaf);
}

/* Equal doubles may be different decimals: two long identifiers are not one value. */
static bool same_number(const kn_reading *reading, const char *a, size_t n_a, const char *b, size_t n_b)
{
    char x[KN_CANONICAL_BYTES] = "", y[KN_CANONICAL_BYTES] = "";
    double number;
    return kn_text_read(&number, x, reading, a, n_a) == KN_TEXT_NUMBER &&
           kn_text_read(&number, y, reading, b, n_b) == KN_TEXT_NUMBER && strcmp(x, y) == 0;
}

static void index_free(label_index *index)
{
    kn_free(index->labels);
    kn_free(index->numbers);
}

static void trim_blanks(const char **bytes, size_t *n_bytes)
{
    while (*n_bytes > 0 && (**bytes == ' ' || **bytes == '\t')) ++*bytes, --*n_bytes;
    while (*n_bytes > 0 && ((*bytes)[*n_bytes - 1] == ' ' || (*bytes)[*n_bytes - 1] == '\t')) --*n_bytes;
}

static kn_status index_labels(label_index *index, const kn_tree *tree, const kn_reading *reading, bool trim,
                              kn_error *err)
{
    kn_status status = KN_OK;
    *index = (label_index){.n_labels = tree->n_nodes, .reading = reading};
    KN_NEW_RAW(index->labels, tree->n_nodes);
    KN_NEW_RAW(index->numbers, tree->n_leaves);
    for (uint32_t node = 0; node < tree->n_nodes; node++) {
        label *at = &index->labels[node];
        at->bytes = kn_tree_label(tree, node, &at->n_bytes);
        at->node = node;
        if (trim) trim_blanks(&at->bytes, &at->n_bytes);
        double number;
        if (node < tree->n_leaves && kn_text_read(&number, NULL, reading, at->bytes, at->n_bytes) == KN_TEXT_NUMBER)
            index->numbers[index->n_numbers++] = (numbered_leaf){number, node};
    }
    qsort(index->labels, index->n_labels, sizeof *index->labels, by_label);
    qsort(index->numbers, index->n_numbers, sizeof *index->numbers, by_number);
done:
    if (status != KN_OK) {
        index_free(index);
        *index = (label_index){0};
    }
    return status;
}

/* The first of the nodes with this label in `labels`; n_labels when there is none. */
static uint32_t find_label(const label_index *index, const char *bytes, size_t n_bytes)
{
    label wanted = {bytes, n_bytes, 0};
    uint32_t low = 0, high = index->n_labels;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare_labels(&index->labels[middle], &wanted) < 0) low = middle + 1;
        else high = middle;
    }
    return low < index->n_labels && compare_labels(&index->labels[low], &wanted) == 0 ? low : index->n_labels;
}

/* The leaf that a text of the data is: by its bytes, otherwise by its number. */
static uint32_t find_leaf(const label_index *index, const kn_tree *tree, const char *bytes, size_t n_bytes,
                          double number)
{
    const label wanted = {bytes, n_bytes, 0};
    uint32_t first = find_label(index, bytes, n_bytes); /* leaves come before inner nodes, so a leaf stands first */
    for (uint32_t at = first; at < index->n_labels && compare_labels(&index->labels[at], &wanted) == 0; at++) {
        size_t n; /* of several that are equal but for blanks, the one without them */
        kn_tree_label(tree, index->labels[at].node, &n);
        if (index->labels[at].node < tree->n_leaves && n == n_bytes) return index->labels[at].node;
    }
    if (first < index->n_labels && index->labels[first].node < tree->n_leaves) return index->labels[first].node;
    if (isnan(number)) return KN_NONE;
    uint32_t low = 0, high = index->n_numbers;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (index->numbers[middle].number < number) low = middle + 1;
        else high = middle;
    }
    for (; low < index->n_numbers && index->numbers[low].number == number; low++) {
        size_t n;
        const char *name = kn_tree_label(tree, index->numbers[low].leaf, &n);
        if (same_number(index->reading, name, n, bytes, n_bytes)) return index->numbers[low].leaf;
    }
    return KN_NONE;
}

/* The leaf of the missing value: the one that some spelling of it names. */
static uint32_t find_missing_leaf(const label_index *index, const kn_tree *tree, const kn_reading *reading)
{
    uint32_t leaf = find_leaf(index, tree, "", 0, NAN);
    for (size_t i = 0; i < reading->n_null_values && leaf == KN_NONE; i++)
        leaf = find_leaf(index, tree, reading->null_values[i], strlen(reading->null_values[i]), NAN);
    return leaf;
}

kn_status kn_leaves_of_texts(uint32_t **out, const kn_sheet_column *column, const kn_tree *tree,
                             const kn_reading *reading, bool trim, kn_error *err)
{
    kn_status status = KN_OK;
    label_index index = {0};
    *out = NULL;
    KN_TRY(index_labels(&index, tree, reading, trim, err));
    KN_NEW_RAW(*out, column->n_texts);
    for (uint32_t i = 0; i < column->n_texts; i++) {
        size_t n_bytes;
        double number;
        const char *bytes = kn_text(column, i, &n_bytes);
        kn_text_kind kind = kn_text_read(&number, NULL, reading, bytes, n_bytes);
        (*out)[i] = find_leaf(&index, tree, bytes, n_bytes, number);
        if ((*out)[i] == KN_NONE && kind == KN_TEXT_MISSING) (*out)[i] = find_missing_leaf(&index, tree, reading);
    }
done:
    index_free(&index);
    return status;
}

/* --- Original texts -------------------------------------------------------------------------------------------- */

/* The domain's own order of texts. */
static double domain_position(const kn_meaning *meaning, const char *bytes, size_t n_bytes)
{
    const kn_domain *domain = meaning->domain;
    const kn_column *column = domain->column;
    for (uint32_t s = 0; column != NULL && s < column->n_spellings; s++) {
        size_t n;
        const char *spelling = kn_column_bytes(column, s, &n);
        if (n != n_bytes || memcmp(spelling, bytes, n) != 0) continue;
        uint32_t code = domain->code_of_spelling[s];
        return code == domain->missing ? (double)NAN : (double)code;
    }
    return NAN;
}

/* Text in an order of its own: the domain says which value follows which. Numbers and dates of which somebody says the
 * order have intervals where that is their own. */
static bool is_ordered(const kn_meaning *meaning)
{
    const bool is_text = meaning->reading.type == KN_TYPE_TEXT || meaning->reading.type == KN_TYPE_AUTO;
    return is_text && (meaning->domain->naming == KN_NAMES_ENDS || meaning->domain->kind == KN_DOMAIN_RANGES);
}

static kn_status rank_long_numbers(kn_meaning *meaning, kn_error *err)
{
    const kn_sheet_column *column = meaning->original_column;
    kn_type type = meaning->reading.type;
    bool any = false;
    for (uint32_t i = 0; (type == KN_TYPE_INT || type == KN_TYPE_DECIMAL) && i < column->n_texts && !any; i++) {
        char canonical[KN_CANONICAL_BYTES];
        double number;
        size_t n_bytes;
        const char *bytes = kn_text(column, i, &n_bytes);
        any = n_bytes > DBL_DIG &&
              kn_text_read(&number, canonical, &meaning->reading, bytes, n_bytes) == KN_TEXT_NUMBER &&
              kn_canonical_is_long(canonical);
    }
    return any ? kn_values_make(&meaning->ranks, column, &meaning->reading, err) : KN_OK;
}

/* kn_text_read for comparing: where numbers are ranked, `number` is a rank. */
static kn_text_kind read_text(double *number, const kn_meaning *meaning, const kn_reading *reading, const char *bytes,
                              size_t n_bytes)
{
    char ours[KN_CANONICAL_BYTES], theirs[KN_CANONICAL_BYTES];
    double ignored;
    kn_text_kind kind = kn_text_read(number, ours, reading, bytes, n_bytes);
    if (meaning->ranks == NULL || kind != KN_TEXT_NUMBER) return kind;
    uint32_t low = 0, high = meaning->ranks->n_values;
    int order = 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        size_t n;
        const char *text = kn_text(meaning->original_column, meaning->ranks->text_of_value[middle], &n);
        bool is_number = kn_text_read(&ignored, theirs, &meaning->reading, text, n) == KN_TEXT_NUMBER;
        order = is_number ? kn_canonical_compare(theirs, strlen(theirs), ours, strlen(ours)) : 1; /* others: last */
        if (order == 0) {
            *number = middle;
            return kind;
        }
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    *number = low - 0.5;
    return kind;
}

static kn_status read_originals(kn_meaning *meaning, const label_index *index, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_sheet_column *column = meaning->original_column;
    const kn_domain *domain = meaning->domain;
    KN_TRY(rank_long_numbers(meaning, err));
    KN_NEW_RAW(meaning->originals, column->n_texts);
    for (uint32_t i = 0; i < column->n_texts; i++) {
        size_t n_bytes;
        const char *bytes = kn_text(column, i, &n_bytes);
        kn_original_text *text = &meaning->originals[i];
        text->missing = kn_text_read(&text->number, NULL, &meaning->reading, bytes, n_bytes) == KN_TEXT_MISSING;
        text->leaf = KN_NONE;
        if (meaning->tree != NULL)
            text->leaf = text->missing && domain->missing != KN_NONE
                             ? domain->missing
                             : find_leaf(index, meaning->tree, bytes, n_bytes, text->number);
        if (meaning->ranks != NULL && !isnan(text->number)) text->number = meaning->ranks->of_text[i];
        text->position = text->number;
        if (domain->kind == KN_DOMAIN_TREE) {
            if (isnan(text->position) || is_ordered(meaning))
                text->position = text->leaf != KN_NONE ? (double)text->leaf : (double)NAN;
        } else if (is_ordered(meaning)) {
            text->position = domain_position(meaning, bytes, n_bytes);
        }
        if (text->missing) text->position = NAN;
    }
done:
    return status;
}

/* --- Released texts -------------------------------------------------------------------------------------------- */

/* Copies up to the next unescaped stop ('|' and '}' in a set, ".." in an interval) into `to`, without escapes. Returns
 * where it stopped: at the stop, or at the end. */
static const char *take_member(char *to, size_t *n_to, const char *at, const char *end, bool in_set)
{
    *n_to = 0;
    for (; at < end; at++) {
        if (*at == '\\' && at + 1 < end) at++;
        else if (in_set && (*at == '|' || *at == '}')) break;
        else if (!in_set && *at == '.' && at + 1 < end && at[1] == '.') break;
        to[(*n_to)++] = *at;
    }
    return at;
}

/* Where the end of an interval stands in the order of its column; NAN when it is no value. */
static double end_position(const kn_meaning *meaning, const label_index *index, const char *bytes, size_t n_bytes)
{
    double number;
    bool is_tree = meaning->domain->kind == KN_DOMAIN_TREE;
    const kn_reading reading = kn_reading_of_ends(&meaning->reading);
    if (read_text(&number, meaning, &reading, bytes, n_bytes) == KN_TEXT_MISSING) return NAN;
    if (is_ordered(meaning) && !is_tree) return domain_position(meaning, bytes, n_bytes);
    if (!isnan(number) && !is_ordered(meaning)) return number;
    if (!is_tree) return NAN;
    uint32_t leaf = find_leaf(index, meaning->domain->tree, bytes, n_bytes, NAN);
    return leaf == KN_NONE ? (double)NAN : (double)leaf;
}

/* Where an end of an interval lies: a value, or a period of which `high` takes the last moment. A day is one, too,
 * where cells have a time of day. */
static double interval_end(const kn_meaning *meaning, const label_index *index, const char *bytes, size_t n_bytes,
                           bool high)
{
    double position = end_position(meaning, index, bytes, n_bytes), start, end;
    if (meaning->reading.type != KN_TYPE_DATE) return position;
    const bool is_day = !isnan(position) && !is_ordered(meaning) && kn_text_is_day(&meaning->reading, bytes, n_bytes);
    if (is_day && high) return nextafter(position + 1, position);
    if (!isnan(position)) return position;
    if (!kn_period_read(&start, &end, bytes, n_bytes)) return NAN;
    return high ? nextafter(end, start) : start;
}

/* [a,b): from a up to but without b, as automatic trees write intervals of decimals. */
static bool read_half_open(kn_meaning *meaning, kn_released_text *text, const label_index *index, const char *bytes,
                           size_t n_bytes)
{
    const char *comma = memchr(bytes, ',', n_bytes);
    if (n_bytes < 5 || bytes[0] != '[' || bytes[n_bytes - 1] != ')' || comma == NULL) return false;
    double low = end_position(meaning, index, bytes + 1, (size_t)(comma - bytes) - 1);
    double high = end_position(meaning, index, comma + 1, (size_t)(bytes + n_bytes - comma) - 2);
    if (isnan(low) || isnan(high)) return false;
    text->low = low;
    text->high = nextafter(high, -INFINITY);
    return true;
}

static void read_interval(kn_meaning *meaning, kn_released_text *text, const label_index *index, char *scratch,
                          const char *bytes, size_t n_bytes)
{
    size_t n;
    const char *end = bytes + n_bytes, *stop = take_member(scratch, &n, bytes, end, false);
    if (stop == end) {
        double low, past;
        if (read_half_open(meaning, text, index, bytes, n_bytes)) return;
        if (meaning->reading.type != KN_TYPE_DATE || !kn_period_read(&low, &past, bytes, n_bytes)) return;
        text->low = low; /* a day, too, where no original cell is written so */
        text->high = nextafter(past, low);
        return;
    }
    bool has_low = stop > bytes, has_high = stop + 2 < end, without_high = has_high && stop[2] == '<';
    double low = has_low ? interval_end(meaning, index, scratch, n, false) : -INFINITY;
    if (take_member(scratch, &n, stop + 2 + without_high, end, false) != end) return;
    double high = has_high ? interval_end(meaning, index, scratch, n, !without_high) : INFINITY;
    if (isnan(low) || isnan(high) || !(has_low || has_high)) return;
    text->low = low;
    text->high = without_high ? nextafter(high, -INFINITY) : high;
}

static int by_code(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* All spellings of the missing cell; where it may be any value, a set does not hold it. */
static kn_status add_missing(kn_meaning *meaning, bool *missing, kn_error *err)
{
    kn_status status = KN_OK;
    *missing = true;
    for (uint32_t i = 0; !meaning->domain->missing_is_wildcard && i < meaning->original_column->n_texts; i++)
        if (meaning->originals[i].missing) KN_PUSH(&meaning->members, i);
done:
    return status;
}

/* The other original texts of the same number or date. */
static kn_status add_equal(kn_meaning *meaning, uint32_t found, const char *bytes, size_t n_bytes, kn_error *err)
{
    kn_status status = KN_OK;
    double number;
    if (read_text(&number, meaning, &meaning->reading, bytes, n_bytes) != KN_TEXT_NUMBER) goto done;
    for (uint32_t i = 0; i < meaning->original_column->n_texts; i++) {
        size_t n;
        if (i == found || meaning->originals[i].number != number) continue;
        const char *text = kn_text(meaning->original_column, i, &n);
        if (same_number(&meaning->reading, text, n, bytes, n_bytes)) KN_PUSH(&meaning->members, i);
    }
done:
    return status;
}

static kn_status read_set(kn_meaning *meaning, kn_released_text *text, char *scratch, const char *bytes, size_t n_bytes,
                          kn_error *err)
{
    kn_status status = KN_OK;
    const char *at = bytes + 1, *end = bytes + n_bytes;
    uint32_t first = (uint32_t)meaning->members.n;
    bool missing = false;
    for (;;) {
        size_t n;
        double number;
        const char *raw = at;
        at = take_member(scratch, &n, at, end, true);
        if (at == raw + 2 && raw[0] == '\\' && raw[1] == 'N' && at < end) { /* the missing cell */
            KN_TRY(add_missing(meaning, &missing, err));
            if (*at++ == '}') {
                if (at == end) break;
                meaning->members.n = first;
                goto done;
            }
            continue;
        }
        if (at == end || (*at == '}' && at + 1 != end)) { /* not closed, or text behind it: no set */
            meaning->members.n = first;
            goto done;
        }
        uint32_t code = kn_text_find(meaning->original_column, scratch, n);
        bool any_value = code != KN_NONE && meaning->originals[code].missing && meaning->domain->missing_is_wildcard;
        if (code != KN_NONE && !any_value) KN_PUSH(&meaning->members, code);
        if (meaning->reading.type != KN_TYPE_TEXT) KN_TRY(add_equal(meaning, code, scratch, n, err));
        if (kn_text_read(&number, NULL, &meaning->reading, scratch, n) == KN_TEXT_MISSING) missing = true;
        if (*at++ == '}') break;
    }
    text->missing = missing;
    text->first_member = first;
    text->n_members = (uint32_t)meaning->members.n - first;
    if (text->n_members > 0) qsort(meaning->members.items + first, text->n_members, sizeof(uint32_t), by_code);
done:
    return status;
}

static kn_status read_labels(kn_meaning *meaning, kn_released_text *text, const label_index *index, const char *bytes,
                             size_t n_bytes, kn_error *err)
{
    kn_status status = KN_OK;
    label wanted = {bytes, n_bytes, 0};
    text->first_node = (uint32_t)meaning->nodes.n;
    for (uint32_t at = find_label(index, bytes, n_bytes);
         at < index->n_labels && compare_labels(&index->labels[at], &wanted) == 0; at++)
        if (!meaning->domain->missing_is_wildcard || index->labels[at].node != meaning->domain->missing)
            KN_PUSH(&meaning->nodes, index->labels[at].node);
    text->n_nodes = (uint32_t)meaning->nodes.n - text->first_node;
done:
    return status;
}

static kn_status read_released(kn_meaning *meaning, kn_released_text *text, const label_index *index, char *scratch,
                               const char *bytes, size_t n_bytes, kn_error *err)
{
    kn_status status = KN_OK;
    *text = (kn_released_text){.bytes = bytes, .n_bytes = n_bytes, .low = NAN, .high = NAN, .number = NAN};
    text->same = kn_text_find(meaning->original_column, bytes, n_bytes);
    text->everything = n_bytes == 1 && bytes[0] == '*';
    text->missing = read_text(&text->number, meaning, &meaning->reading, bytes, n_bytes) == KN_TEXT_MISSING;
    text->position = text->number;
    if (meaning->tree == NULL && is_ordered(meaning)) text->position = domain_position(meaning, bytes, n_bytes);
    if (meaning->tree != NULL) {
        KN_TRY(read_labels(meaning, text, index, bytes, n_bytes, err));
        /* a label that happens to be a word for nothing is the label */
        if (text->n_nodes > 0) text->missing = text->missing && kn_text_is_null(&meaning->reading, bytes, n_bytes);
        if (text->n_nodes > 0) goto done;
    }
    if (text->same != KN_NONE || text->everything || text->missing) goto done;
    if (meaning->tree != NULL && meaning->tree->is_collection) goto done; /* what is no label is no member */
    if (n_bytes >= 2 && bytes[0] == '{') KN_TRY(read_set(meaning, text, scratch, bytes, n_bytes, err));
    else read_interval(meaning, text, index, scratch, bytes, n_bytes);
    text->masked = text->n_members == 0 && n_bytes > 1 && (bytes[0] == '*' || bytes[n_bytes - 1] == '*');
done:
    return status;
}

/* Nothing at all that the text could mean. */
static bool says_nothing(const kn_released_text *text)
{
    return !text->everything && !text->missing && text->same == KN_NONE && isnan(text->number) && isnan(text->low) &&
           text->n_nodes == 0 && text->n_members == 0 && !text->masked;
}

static kn_status read_releaseds(kn_meaning *meaning, const label_index *index, const kn_meaning_options *options,
                                kn_error *err)
{
    kn_status status = KN_OK;
    const kn_sheet_column *column = meaning->released_column;
    char *scratch = NULL;
    size_t longest = 0, n_bytes;
    for (uint32_t i = 0; i < column->n_texts; i++) {
        kn_text(column, i, &n_bytes);
        if (n_bytes > longest) longest = n_bytes;
    }
    KN_NEW_RAW(scratch, longest + 1);
    KN_NEW(meaning->releaseds, column->n_texts);
    for (uint32_t i = 0; i < column->n_texts; i++) {
        const char *bytes = kn_text(column, i, &n_bytes);
        kn_released_text *text = &meaning->releaseds[i];
        if (options->trim) trim_blanks(&bytes, &n_bytes);
        size_t n_plain = n_bytes;
        const char *plain = options->guard_formulas ? kn_formula_unguard(bytes, &n_plain) : bytes;
        KN_TRY(read_released(meaning, text, index, scratch, plain, n_plain, err));
        /* others guard negative numbers too */
        bool unguarded = plain > bytes;
        if (options->guard_formulas && !unguarded && (says_nothing(text) || text->masked) && n_plain >= 2 &&
            plain[0] == '\'' && memchr("=+-@", plain[1], 4) != NULL)
            KN_TRY(read_released(meaning, text, index, scratch, plain + 1, n_plain - 1, err));
        if (!meaning->domain->missing_is_wildcard) continue; /* otherwise * alone stands for a missing cell */
        text->missing = false;
        if (text->same != KN_NONE && meaning->originals[text->same].missing) text->same = KN_NONE;
    }
done:
    kn_free(scratch);
    return status;
}

bool kn_meaning_is_strange_group(const kn_meaning *meaning, uint32_t released)
{
    static const char middle[] = " group ";
    const kn_released_text *text = &meaning->releaseds[released];
    const char *name = meaning->domain->column->name + strspn(meaning->domain->column->name, " ");
    const size_t n_name = strlen(name);
    return says_nothing(text) && text->n_bytes > n_name + strlen(middle) && memcmp(text->bytes, name, n_name) == 0 &&
           memcmp(text->bytes + n_name, middle, strlen(middle)) == 0;
}

/* --- Pairs ----------------------------------------------------------------------------------------------------- */

kn_status kn_meaning_make(kn_meaning **out, const kn_sheet_column *original, const kn_sheet_column *released,
                          const kn_domain *domain, const kn_reading *reading, const kn_meaning_options *options,
                          kn_error *err)
{
    kn_status status = KN_OK;
    kn_meaning *meaning = NULL;
    label_index index = {0};
    *out = NULL;
    KN_NEW(meaning, 1);
    *meaning =
        (kn_meaning){.original_column = original, .released_column = released, .domain = domain, .reading = *reading};
    meaning->tree = domain->kind == KN_DOMAIN_TREE ? domain->tree
                    : domain->subsets != NULL      ? domain->subsets->lines
                                                   : domain->groups;
    if (meaning->tree != NULL) KN_TRY(index_labels(&index, meaning->tree, reading, options->trim, err));
    KN_TRY(read_originals(meaning, &index, err));
    KN_TRY(read_releaseds(meaning, &index, options, err));
    *out = meaning;
    meaning = NULL;
done:
    index_free(&index);
    kn_meaning_free(meaning);
    return status;
}

void kn_meaning_free(kn_meaning *meaning)
{
    if (meaning == NULL) return;
    kn_free(meaning->originals);
    kn_free(meaning->releaseds);
    kn_free(meaning->nodes.items);
    kn_free(meaning->members.items);
    kn_values_free(meaning->ranks);
    kn_free(meaning);
}

static bool is_same_number(const kn_meaning *meaning, uint32_t original, uint32_t released)
{
    size_t n;
    const char *bytes = kn_text(meaning->original_column, original, &n);
    const kn_released_text *text = &meaning->releaseds[released];
    return same_number(&meaning->reading, bytes, n, text->bytes, text->n_bytes);
}

static size_t count_characters(const char *bytes, size_t n_bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < n_bytes; i++) n += ((unsigned char)bytes[i] & 0xC0) != 0x80;
    return n;
}

/* What is not masked begins (ends) the text, and the stars are at least as many as the characters of the rest. */
static bool mask_fits(const kn_released_text *released, const char *bytes, size_t n)
{
    size_t n_mask = released->n_bytes, n_before = 0, n_after = 0;
    const char *mask = released->bytes;
    while (n_before < n_mask && mask[n_before] == '*') n_before++;
    while (n_after < n_mask && mask[n_mask - 1 - n_after] == '*') n_after++;
    size_t n_end = n_mask - n_before, n_start = n_mask - n_after; /* what is left of it on the other side */
    return (n_before > 0 && n >= n_end && memcmp(bytes + n - n_end, mask + n_before, n_end) == 0 &&
            count_characters(bytes, n - n_end) <= n_before) ||
           (n_after > 0 && n >= n_start && memcmp(bytes, mask, n_start) == 0 &&
            count_characters(bytes + n_start, n - n_start) <= n_after);
}

/* A number that is spelled in several ways, 1 and 1.0, is masked in the spelling of its leaf. */
static bool mask_covers(const kn_meaning *meaning, const kn_original_text *value, uint32_t original, uint32_t released)
{
    size_t n;
    const char *bytes = kn_text(meaning->original_column, original, &n);
    if (mask_fits(&meaning->releaseds[released], bytes, n)) return true;
    if (isnan(value->number) || meaning->tree == NULL || value->leaf == KN_NONE) return false;
    bytes = kn_tree_label(meaning->tree, value->leaf, &n);
    return mask_fits(&meaning->releaseds[released], bytes, n);
}

bool kn_meaning_covers(const kn_meaning *meaning, uint32_t original, uint32_t released)
{
    const kn_released_text *general = &meaning->releaseds[released];
    const kn_original_text *value = &meaning->originals[original];
    if (general->everything || general->same == original) return true;
    for (uint32_t i = 0; i < general->n_nodes; i++) { /* a value that the tree does not know is below the root only */
        const kn_tree *tree = meaning->tree;
        uint32_t node = meaning->nodes.items[general->first_node + i];
        if (node == tree->root || (tree->first[node] <= value->leaf && value->leaf <= tree->last[node])) return true;
    }
    if (value->missing) return general->missing && !meaning->domain->missing_is_wildcard;
    if (meaning->domain->kind == KN_DOMAIN_TREE && value->leaf == KN_NONE) return false;
    if (general->low <= value->position && value->position <= general->high) return true;
    if (general->masked && mask_covers(meaning, value, original, released)) return true;
    if (general->number == value->number && is_same_number(meaning, original, released)) return true;
    return general->n_members > 0 && bsearch(&original, meaning->members.items + general->first_member,
                                             general->n_members, sizeof(uint32_t), by_code) != NULL;
}
