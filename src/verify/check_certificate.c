/* Does a certificate prove its bound? Recounted from the original, the hierarchies and the definition, with nothing
 * that found it.
 *
 * A certificate has a value for each row of the original. If among the rows below any choice of one node per column, at
 * least k persons together, the k largest values come to at most k times what such a row pays, then no release loses
 * less than the sum of the values: a class lies below its nodes, and its rows' values average no more than its price.
 * Where rows may be suppressed, no value may be above the price of the whole domain by more than the surplus, which is
 * paid for as many rows as may go.
 *
 * Every choice of nodes is looked at, column by column: rows are split by the column's node at each level, and what has
 * too few rows, or costs as much as the largest value already, needs no further look. Prices are rounded down to whole
 * units, sums are exact. Cost: the rows below all those choices. */
#include "verify/certificate.h"

#include "base/buffer.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_COLUMNS = 1024, TICK_STEPS = 1 << 22 };
static const uint64_t MOST_VALUE = (uint64_t)1 << 36; /* sixty times the whole domain ... */
static const uint64_t MOST_K = (uint64_t)1 << 27;     /* ... so that sums of k of them are exact */
static const double ROUNDING = 1e-3;                  /* in units: far more than doubles are off */

typedef struct claimed_column {
    uint32_t index; /* of the original */
    char *tree;     /* digest */
    double weight;
} claimed_column;

/* What the file says. */
typedef struct claim_file {
    char *text; /* the file */
    char *measure, *leaves;
    uint64_t k, max_suppressed, n_rows, surplus;
    double unit, bound;
    claimed_column columns[MOST_COLUMNS];
    uint32_t n_columns;
    uint64_t *values; /* n_rows */
} claim_file;

typedef struct split_column {
    const kn_domain *domain;
    uint32_t *leaf;         /* [row] */
    uint64_t *units;        /* [node] */
    uint32_t *buffer;       /* rows, split */
    uint32_t *start, *size; /* [node] */
    uint32_t *seen;         /* nodes of the split under way */
} split_column;

typedef struct search {
    const kn_recount *recount;
    const claim_file *claim;
    split_column *columns;
    uint32_t *person, *mark; /* [row], [person]: the group that saw it last; NULL: a row is a person */
    uint32_t n_groups;
    uint64_t *scratch; /* values of a group */
    uint64_t most;     /* the largest value */
    uint64_t n_steps;
    bool is_broken;
} search;

/* --- The file ---------------------------------------------------------------------------------------------------- */

static kn_status read_text(char **out, const kn_verify_request *request, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer text = {0};
    char block[1 << 16];
    int file = -1;
    KN_TRY(kn_files_open(&file, request->files, request->certificate_path, err));
    if (file < 0)
        KN_FAIL_AT(KN_INPUT, KN_PLACE(.option = "certificate", .file = request->certificate_path), "%s: %s",
                   request->certificate_name, strerror(errno));
    for (ssize_t n; (n = read(file, block, sizeof block)) != 0;) {
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) KN_FAIL(KN_INPUT, "%s: %s", request->certificate_name, strerror(errno));
        kn_buffer_append(&text, block, (size_t)n);
        KN_TRY(kn_tick(request->ticker, "verify", -1, err));
    }
    KN_TRY(kn_buffer_finish(out, &text, err));
done:
    if (file >= 0) close(file);
    kn_buffer_free(&text);
    return status;
}

/* The next line after `key`, or NULL where another one stands there. */
static char *take(char **at, const char *key)
{
    const size_t n = strlen(key);
    char *line = *at, *end = strchr(line, '\n');
    if (end == NULL || strncmp(line, key, n) != 0) return NULL;
    *end = '\0';
    *at = end + 1;
    return line + n;
}

static bool take_count(uint64_t *out, char **at, const char *key)
{
    const char *digits = take(at, key);
    char *end;
    if (digits == NULL || digits[0] < '0' || digits[0] > '9') return false;
    errno = 0;
    *out = strtoull(digits, &end, 10);
    return *end == '\0' && errno == 0;
}

static bool take_real(double *out, char **at, const char *key)
{
    char *text = take(at, key), *end;
    if (text == NULL || text[0] == '\0') return false;
    *out = strtod(text, &end);
    return *end == '\0' && isfinite(*out);
}

static bool take_column(claimed_column *out, char **at)
{
    char *line = take(at, "column: "), *end;
    if (line == NULL || line[0] < '0' || line[0] > '9') return false;
    const unsigned long long index = strtoull(line, &end, 10);
    if (*end != ' ' || index >= KN_NONE) return false;
    out->index = (uint32_t)index;
    out->weight = strtod(end + 1, &end);
    if (*end != ' ') return false;
    out->tree = end + 1;
    return true;
}

/* False: this is no certificate. */
static bool parse(claim_file *out, uint32_t n_rows)
{
    char *at = out->text;
    uint64_t n_columns;
    if (take(&at, KN_CERTIFICATE_TITLE) == NULL || (out->measure = take(&at, "measure: ")) == NULL) return false;
    if (!take_count(&out->k, &at, "k: ") || !take_count(&out->max_suppressed, &at, "suppressed: ")) return false;
    if (!take_count(&out->n_rows, &at, "rows: ") || (out->leaves = take(&at, "data: ")) == NULL) return false;
    if (!take_real(&out->unit, &at, "unit: ") || !take_real(&out->bound, &at, "bound: ")) return false;
    if (!take_count(&out->surplus, &at, "surplus: ") || !take_count(&n_columns, &at, "columns: ")) return false;
    if (!(out->unit > 0) || n_columns > MOST_COLUMNS || out->surplus > MOST_VALUE || out->k > MOST_K) return false;
    for (; out->n_columns < n_columns; out->n_columns++)
        if (!take_column(&out->columns[out->n_columns], &at)) return false;
    for (uint64_t row = 0; row < out->n_rows && row < n_rows; row++)
        if (!take_count(&out->values[row], &at, "") || out->values[row] > MOST_VALUE) return false;
    return out->n_rows != n_rows || strcmp(at, "end\n") == 0;
}

/* --- Is it about this table and these rules? ---------------------------------------------------------------------- */

/* A number among "k=5,column=a"; 0 where it is not there. */
static double parameter(const char *params, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = params; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, n) == 0 && at[n] == '=') return atof(at + n + 1);
    }
    return 0;
}

/* The persons that every class must have, as far as it is plain to see; *all: no other model could ask for more. */
static uint64_t least_persons(const kn_verify_request *request, bool *all)
{
    double least = 1;
    *all = true;
    for (size_t i = 0; i < request->n_models; i++) {
        const char *name = request->models[i].name, *params = request->models[i].params;
        double here = strcmp(name, "k-anonymity") == 0 ? parameter(params, "k") : 0;
        /* so many rows; where persons have several, fewer persons may do */
        if (strcmp(name, "l-diversity") == 0 && !request->counts_persons) here = ceil(parameter(params, "l") - 1e-9);
        if (strcmp(name, "p-sensitive") == 0 && !request->counts_persons) here = parameter(params, "p");
        if (here > least) least = here;
        if (here == 0) *all = false;
    }
    return (uint64_t)least;
}

/* A quasi-identifier with a tree. */
static bool is_provable(const kn_verify_request *request, uint32_t c)
{
    const kn_verify_column *about = c < request->n_columns ? &request->columns[c] : NULL;
    return about != NULL && about->role == KN_ROLE_QUASI && about->domain != NULL && about->domain->tree != NULL;
}

static bool same_real(double a, double b) { return fabs(a - b) <= 1e-12 * (fabs(a) + fabs(b)); }

/* What about the table or the rules is other than the certificate says; nothing: they are those. *unsure: it cannot be
 * told. */
static void compare_rules(kn_buffer *problem, bool *unsure, const kn_recount *recount, const claim_file *claim)
{
    const kn_verify_request *request = recount->request;
    char digest[KN_SHA256_HEX], shown[KN_SHOWN_BYTES];
    bool all;
    const uint64_t least = least_persons(request, &all);
    const uint64_t max_suppressed = request->max_suppressed > 0 ? (uint64_t)request->max_suppressed : 0;
    *unsure = claim->k > least && !all;
    if (strcmp(claim->measure, request->measure) != 0) *problem = kn_said(KN_SAY_CERTIFICATE_MEASURE);
    else if (claim->k != least)
        *problem = KN_SAID(KN_SAY_CERTIFICATE_K, kn_piece_number("%llu", (unsigned long long)claim->k),
                           kn_piece_number("%llu", (unsigned long long)least));
    else if (claim->max_suppressed != max_suppressed) *problem = kn_said(KN_SAY_CERTIFICATE_SUPPRESSED);
    else if (claim->n_rows != recount->original->n_rows) *problem = kn_said(KN_SAY_CERTIFICATE_DATA);
    for (uint32_t i = 0; problem->n == 0 && i < claim->n_columns; i++) {
        const claimed_column *this = &claim->columns[i];
        bool is_again = false;
        for (uint32_t j = 0; j < i; j++) is_again |= this->index == claim->columns[j].index;
        if (is_again || !is_provable(request, this->index)) {
            *problem = kn_said(KN_SAY_CERTIFICATE_COLUMNS);
            break;
        }
        const kn_domain *domain = request->columns[this->index].domain;
        kn_tree_digest(digest, domain->tree);
        if (strcmp(digest, this->tree) != 0)
            *problem = KN_SAID(KN_SAY_CERTIFICATE_HIERARCHY,
                               kn_piece_name(kn_recount_column_shown(shown, recount, this->index)));
        else if (!same_real(this->weight, domain->weight))
            *problem =
                KN_SAID(KN_SAY_CERTIFICATE_WEIGHT, kn_piece_name(kn_recount_column_shown(shown, recount, this->index)));
    }
}

/* --- Prices ------------------------------------------------------------------------------------------------------ */

typedef struct pricing {
    const kn_domain *domain;
    const char *measure;
    double n_rows;
    double *rows_before, *n_log_n_before; /* [leaf + 1] */
} pricing;

static double n_log_n(double n) { return n > 0 ? n * log2(n) : 0; }

static double entropy_below(const pricing *p, uint32_t first, uint32_t last)
{
    const double rows = p->rows_before[last + 1] - p->rows_before[first];
    if (first == last || rows == 0) return 0;
    return fmax(0, log2(rows) - (p->n_log_n_before[last + 1] - p->n_log_n_before[first]) / rows);
}

/* What a cell with this node costs, by the measure's definition. -1: this measure is no sum over cells of a tree. */
static double price_of(const pricing *p, uint32_t node)
{
    const kn_tree *tree = p->domain->tree;
    /* a missing cell that may be any value is released as the root */
    if (p->domain->missing_is_wildcard && tree->first[node] == p->domain->missing &&
        tree->last[node] == p->domain->missing)
        node = tree->root;
    const uint32_t first = tree->first[node], last = tree->last[node];
    const double rows = p->rows_before[last + 1] - p->rows_before[first];
    const double lm = tree->n_leaves > 1 ? (last - first) / (tree->n_leaves - 1.0) : 0;
    const double level = tree->level[tree->root] > 0 ? (double)tree->level[node] / tree->level[tree->root] : 0;
    const char *measure = p->measure;
    if (strcmp(measure, "lm") == 0) return lm;
    if (strcmp(measure, "tree") == 0) return level;
    if (strcmp(measure, "hybrid") == 0) return p->domain->column->type == KN_TYPE_TEXT ? level : lm;
    if (strcmp(measure, "entropy") == 0) return entropy_below(p, first, last);
    if (strcmp(measure, "monotone-entropy") == 0) return rows / p->n_rows * entropy_below(p, first, last);
    if (strcmp(measure, "suppressed-cells") == 0) return node == tree->root && tree->n_nodes > 1;
    if (strcmp(measure, "non-uniform-entropy") == 0 || strcmp(measure, "mi") == 0) return rows > 0 ? log2(rows) : 0;
    return -1;
}

/* What a row pays less than its cell's price, for its own value. */
static double discount_of(const pricing *p, uint32_t leaf)
{
    if (strcmp(p->measure, "non-uniform-entropy") != 0 && strcmp(p->measure, "mi") != 0) return 0;
    return log2(p->rows_before[leaf + 1] - p->rows_before[leaf]);
}

/* Labels that are written for the rows of a release may be narrower than their node: the outermost intervals of a grid.
 * Of sets, ends, and masks of values of different lengths, no node tells the price: false. */
static bool is_priced(const kn_domain *domain)
{
    uint32_t n_characters = 0;
    if (domain->naming == KN_NAMES_FIXED || domain->naming == KN_NAMES_GRID) return true;
    if (domain->naming != KN_NAMES_PREFIX && domain->naming != KN_NAMES_SUFFIX) return false;
    for (uint32_t code = 0; code < domain->n_codes; code++) {
        if (code == domain->missing || domain->spelling_of_code[code] == KN_NONE) continue;
        const uint32_t n = kn_domain_characters(domain, code);
        if (n_characters > 0 && n != n_characters) return false;
        n_characters = n;
    }
    return true;
}

static bool may_be_narrower(const kn_domain *domain, uint32_t node)
{
    const kn_tree *tree = domain->tree;
    const uint32_t after = tree->last[node] + 1;
    return domain->naming == KN_NAMES_GRID && node >= tree->n_leaves && node != tree->root &&
           (tree->first[node] == 0 || after == tree->n_leaves || after == domain->missing);
}

/* Units of every node; *root and *discount grow by the column's. */
static kn_status price_column(split_column *out, const search *s, const char *measure, double weight, double *root,
                              double *discount, bool *is_known, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tree *tree = out->domain->tree;
    const uint32_t n_rows = s->recount->original->n_rows;
    pricing p = {.domain = out->domain, .measure = measure, .n_rows = n_rows};
    KN_NEW(p.rows_before, (size_t)tree->n_leaves + 1);
    KN_NEW(p.n_log_n_before, (size_t)tree->n_leaves + 1);
    KN_NEW(out->units, tree->n_nodes);
    for (uint32_t row = 0; row < n_rows; row++) p.rows_before[out->leaf[row] + 1]++;
    for (uint32_t leaf = 0; leaf < tree->n_leaves; leaf++) {
        p.n_log_n_before[leaf + 1] = p.n_log_n_before[leaf] + n_log_n(p.rows_before[leaf + 1]);
        p.rows_before[leaf + 1] += p.rows_before[leaf];
    }
    *is_known = price_of(&p, tree->root) >= 0 && is_priced(out->domain);
    if (!*is_known) goto done;
    for (uint32_t node = 0; node < tree->n_nodes; node++) {
        double price = price_of(&p, node);
        for (uint32_t leaf = tree->first[node]; may_be_narrower(out->domain, node) && leaf <= tree->last[node]; leaf++)
            price = fmin(price, price_of(&p, leaf));
        const double units = floor(weight * price / s->claim->unit - ROUNDING);
        out->units[node] = units > 0 ? (uint64_t)fmin(units, (double)MOST_VALUE) : 0;
    }
    *root += (double)out->units[tree->root];
    for (uint32_t row = 0; row < n_rows; row++) *discount += weight * discount_of(&p, out->leaf[row]);
done:
    kn_free(p.rows_before);
    kn_free(p.n_log_n_before);
    return status;
}

/* --- Rows -------------------------------------------------------------------------------------------------------- */

/* The leaf of every row; *is_known: every cell is one. */
static kn_status place_rows(split_column *out, search *s, uint32_t c, bool *is_known, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_recount *recount = s->recount;
    const kn_sheet_column *cells = &recount->original->columns[recount->in_original[c]];
    uint32_t *leaves = NULL;
    out->domain = recount->request->columns[c].domain;
    const kn_tree *tree = out->domain->tree;
    *is_known = true;
    KN_TRY(kn_leaves_of_texts(&leaves, cells, tree, &recount->readings[c], recount->request->trim, err));
    KN_NEW(out->leaf, recount->original->n_rows);
    KN_NEW(out->buffer, recount->original->n_rows);
    KN_NEW(out->start, tree->n_nodes);
    KN_NEW(out->size, tree->n_nodes);
    KN_NEW(out->seen, tree->n_nodes);
    for (uint32_t row = 0; row < recount->original->n_rows; row++) {
        const uint32_t text = kn_sheet_code(cells, row);
        size_t n_bytes;
        const char *bytes = kn_text(cells, text, &n_bytes);
        out->leaf[row] =
            kn_text_is_missing(&recount->readings[c], bytes, n_bytes) ? out->domain->missing : leaves[text];
        if (out->leaf[row] >= tree->n_leaves) *is_known = false;
    }
done:
    kn_free(leaves);
    return status;
}

typedef struct fingerprint {
    uint64_t person;
    uint32_t row;
} fingerprint;

static int by_person(const void *a, const void *b)
{
    const fingerprint *x = a, *y = b;
    return (x->person > y->person) - (x->person < y->person);
}

/* Persons numbered, where the rows of one must not count twice. */
static kn_status number_persons(search *s, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_sheet *original = s->recount->original;
    fingerprint *all = NULL;
    uint32_t person = 0;
    while (person < s->recount->request->n_columns && !s->recount->request->columns[person].is_person) person++;
    if (person == s->recount->request->n_columns) goto done;
    KN_NEW(all, original->n_rows);
    KN_NEW(s->person, original->n_rows);
    KN_NEW(s->mark, original->n_rows);
    for (uint32_t row = 0; row < original->n_rows; row++)
        all[row] = (fingerprint){kn_sheet_fingerprint(&original->columns[person], row), row};
    qsort(all, original->n_rows, sizeof *all, by_person);
    for (uint32_t i = 0, n = 0; i < original->n_rows; i++) {
        n += i > 0 && all[i].person != all[i - 1].person;
        s->person[all[i].row] = n;
    }
done:
    kn_free(all);
    return status;
}

static bool has_enough(search *s, const uint32_t *rows, uint32_t n)
{
    uint64_t n_persons = 0;
    if (n < s->claim->k || s->person == NULL) return n >= s->claim->k;
    s->n_groups++;
    for (uint32_t i = 0; i < n; i++) {
        n_persons += s->mark[s->person[rows[i]]] != s->n_groups;
        s->mark[s->person[rows[i]]] = s->n_groups;
    }
    return n_persons >= s->claim->k;
}

/* --- Every group ------------------------------------------------------------------------------------------------- */

/* The k largest to the front. */
static void select_largest(uint64_t *values, int64_t n, int64_t k)
{
    int64_t low = 0, high = n - 1;
    while (low < high) {
        const uint64_t pivot = values[low + (high - low) / 2];
        int64_t i = low, j = high;
        while (i <= j) {
            while (values[i] > pivot) i++;
            while (values[j] < pivot) j--;
            if (i > j) break;
            const uint64_t moved = values[i];
            values[i++] = values[j];
            values[j--] = moved;
        }
        if (k - 1 <= j) high = j;
        else if (k - 1 >= i) low = i;
        else return;
    }
}

static void judge(search *s, const uint32_t *rows, uint32_t n, uint64_t price)
{
    uint64_t most = 0, sum = 0;
    const uint64_t k = s->claim->k;
    for (uint32_t i = 0; i < n; i++) {
        s->scratch[i] = s->claim->values[rows[i]];
        if (s->scratch[i] > most) most = s->scratch[i];
    }
    if (most <= price) return;
    select_largest(s->scratch, n, (int64_t)k);
    for (uint64_t i = 0; i < k; i++) sum += s->scratch[i];
    if (sum > k * price) s->is_broken = true;
}

/* Rows below one node of each column before c, at this price together. */
static kn_status visit(search *s, const uint32_t *rows, uint32_t n, uint32_t c, uint64_t price, kn_error *err)
{
    kn_status status = KN_OK;
    if (price >= s->most || s->is_broken) return KN_OK; /* no value is above it */
    if (c == s->claim->n_columns) {
        judge(s, rows, n, price);
        return KN_OK;
    }
    split_column *own = &s->columns[c];
    const kn_tree *tree = own->domain->tree;
    for (uint32_t level = 0; level < tree->n_levels; level++) {
        const uint32_t *node = tree->at_level[level];
        uint32_t n_seen = 0, n_placed = 0;
        s->n_steps += n;
        if (s->n_steps % TICK_STEPS < n) KN_TRY(kn_tick(s->recount->request->ticker, "verify", -1, err));
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t v = node[own->leaf[rows[i]]];
            if (own->size[v]++ == 0) own->seen[n_seen++] = v;
        }
        for (uint32_t i = 0; i < n_seen; i++) {
            own->start[own->seen[i]] = n_placed;
            n_placed += own->size[own->seen[i]];
        }
        for (uint32_t i = 0; i < n; i++) own->buffer[own->start[node[own->leaf[rows[i]]]]++] = rows[i];
        for (uint32_t i = 0, start = 0; i < n_seen; i++) {
            const uint32_t v = own->seen[i], size = own->size[v];
            own->size[v] = 0;
            if (has_enough(s, own->buffer + start, size))
                KN_TRY(visit(s, own->buffer + start, size, c + 1, price + own->units[v], err));
            start += size;
        }
    }
done:
    return status;
}

/* --- The whole --------------------------------------------------------------------------------------------------- */

/* The columns, priced; *problem where the certificate is about something else. */
static kn_status prepare(kn_buffer *problem, search *s, double *root, double *discount, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_recount *recount = s->recount;
    const claim_file *claim = s->claim;
    bool is_known = true;
    KN_NEW(s->columns, claim->n_columns);
    KN_NEW(s->scratch, recount->original->n_rows);
    KN_TRY(number_persons(s, err));
    kn_sha256 hash;
    char digest[KN_SHA256_HEX];
    kn_sha256_begin(&hash);
    for (uint32_t i = 0; is_known && i < claim->n_columns; i++) {
        KN_TRY(place_rows(&s->columns[i], s, claim->columns[i].index, &is_known, err));
        if (is_known) kn_sha256_add(&hash, s->columns[i].leaf, recount->original->n_rows * sizeof(uint32_t));
    }
    kn_sha256_end(digest, &hash);
    if (!is_known || strcmp(digest, claim->leaves) != 0) {
        *problem = kn_said(KN_SAY_CERTIFICATE_DATA);
        goto done;
    }
    for (uint32_t i = 0; is_known && i < claim->n_columns; i++) {
        const double weight = strcmp(claim->measure, "suppressed-cells") != 0 ? claim->columns[i].weight : 1;
        KN_TRY(price_column(&s->columns[i], s, claim->measure, weight, root, discount, &is_known, err));
    }
    if (!is_known) *problem = kn_said(KN_SAY_CERTIFICATE_PRICES);
done:
    return status;
}

/* What the values prove: the loss as reported. */
static double proven(const search *s, double discount)
{
    const kn_verify_request *request = s->recount->request;
    const claim_file *claim = s->claim;
    double sum = 0, weights = 0;
    for (uint64_t row = 0; row < claim->n_rows; row++) sum += (double)claim->values[row];
    sum -= (double)claim->surplus * (double)claim->max_suppressed;
    for (uint32_t c = 0; c < request->n_columns; c++)
        if (request->columns[c].role == KN_ROLE_QUASI && request->columns[c].domain != NULL)
            weights += request->columns[c].domain->weight;
    const double loss = fmax(0, sum * claim->unit - discount);
    if (strcmp(claim->measure, "suppressed-cells") == 0) return loss;
    return weights > 0 && claim->n_rows > 0 ? loss / weights / (double)claim->n_rows : 0;
}

static kn_status check_values(kn_check_state *state, kn_buffer *found, const kn_recount *recount,
                              const claim_file *claim, kn_error *err)
{
    kn_status status = KN_OK;
    search s = {.recount = recount, .claim = claim};
    uint32_t *rows = NULL;
    double root = 0, discount = 0;
    *state = KN_CHECK_BROKEN;
    KN_TRY(prepare(found, &s, &root, &discount, err));
    if (found->n > 0) goto done;
    KN_NEW(rows, claim->n_rows);
    for (uint32_t row = 0; row < claim->n_rows; row++) {
        rows[row] = row;
        if (claim->values[row] > s.most) s.most = claim->values[row];
    }
    if (claim->max_suppressed > 0 && (double)s.most > root + (double)claim->surplus) s.is_broken = true;
    if (has_enough(&s, rows, (uint32_t)claim->n_rows)) KN_TRY(visit(&s, rows, (uint32_t)claim->n_rows, 0, 0, err));
    const double loss = proven(&s, discount);
    if (s.is_broken || !(claim->bound <= loss + 1e-9 * fabs(loss))) {
        *found = kn_said(s.is_broken ? KN_SAY_CERTIFICATE_VALUES : KN_SAY_CERTIFICATE_BOUND);
        goto done;
    }
    *state = KN_CHECK_HOLDS;
    *found = KN_SAID(KN_SAY_CERTIFICATE_PROVES, kn_piece_number("%llu", (unsigned long long)claim->k),
                     kn_piece_text(claim->measure), kn_piece_number("%.6g", claim->bound));
done:
    for (uint32_t i = 0; s.columns != NULL && i < claim->n_columns; i++) {
        kn_free(s.columns[i].leaf);
        kn_free(s.columns[i].units);
        kn_free(s.columns[i].buffer);
        kn_free(s.columns[i].start);
        kn_free(s.columns[i].size);
        kn_free(s.columns[i].seen);
    }
    kn_free(s.columns);
    kn_free(s.person);
    kn_free(s.mark);
    kn_free(s.scratch);
    kn_free(rows);
    return status;
}

kn_status kn_recount_certificate(kn_recount *recount, size_t slot, kn_error *err)
{
    kn_status status = KN_OK;
    claim_file *claimed = NULL;
    kn_buffer found = {0};
    kn_check_state state = KN_CHECK_BROKEN;
    bool unsure = false;
    if (recount->original == NULL)
        return kn_recount_note(recount, slot, KN_CHECK_NOT_MADE, kn_said(KN_SAY_NO_ORIGINAL), err);
    KN_NEW(claimed, 1);
    KN_TRY(read_text(&claimed->text, recount->request, err));
    KN_NEW(claimed->values, recount->original->n_rows);
    if (!parse(claimed, recount->original->n_rows)) found = kn_said(KN_SAY_CERTIFICATE_FORM);
    else compare_rules(&found, &unsure, recount, claimed);
    if (found.n > 0 && unsure) state = KN_CHECK_NOT_MADE;
    if (found.n == 0 && !found.failed) KN_TRY(check_values(&state, &found, recount, claimed, err));
    KN_TRY(kn_recount_note(recount, slot, state, found, err));
    found = (kn_buffer){0};
done:
    if (claimed != NULL) {
        kn_free(claimed->text);
        kn_free(claimed->values);
    }
    kn_free(claimed);
    kn_buffer_free(&found);
    return status;
}
