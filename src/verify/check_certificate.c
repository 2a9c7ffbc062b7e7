/* Does a certificate prove its bound? Recounted from the original, the hierarchies and the definition, with nothing
 * that found it.
 *
 * A certificate has a value for each row of the original. If among the rows in any choice of one cell per column, at
 * least k persons together, the k largest values come to at most k times what such a row pays, then no release loses
 * less than the sum of the values: a class lies in its cells, and its rows' values average no more than its price.
 * Where rows may be suppressed, no value may be above the price of the whole domain by more than the surplus, which is
 * paid for as many rows as may go. Rows with fewer different sensitive values than the models ask of a class hold no
 * class: about those nothing is asked.
 *
 * This file reads the certificate and compares its rules with those of the request; certificate_column.c works out the
 * rows' values and the prices of cells, certificate_groups.c looks at every group. */
#include "verify/certificate.h"

#include "base/buffer.h"
#include "verify/certificate_groups.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_COLUMNS = 1024 };
static const uint64_t MOST_VALUE = (uint64_t)1 << 36; /* sixty times the whole domain ... */
static const uint64_t MOST_K = (uint64_t)1 << 27;     /* ... so that sums of k of them are exact */

typedef struct claimed_need {
    uint32_t column;
    uint64_t least;
} claimed_need;

/* What the file says. */
typedef struct claim_file {
    char *text; /* the file */
    char *measure, *data;
    uint64_t k, max_suppressed, n_rows, surplus;
    double unit, bound;
    claimed_need needs[MOST_COLUMNS];
    kn_claimed_column columns[MOST_COLUMNS];
    uint32_t n_needs, n_columns;
    uint64_t *values; /* n_rows */
} claim_file;

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

static bool read_count(uint64_t *out, const char *digits)
{
    char *end;
    if (digits == NULL || digits[0] < '0' || digits[0] > '9') return false;
    errno = 0;
    *out = strtoull(digits, &end, 10);
    return *end == '\0' && errno == 0;
}

static bool take_count(uint64_t *out, char **at, const char *key) { return read_count(out, take(at, key)); }

static bool take_real(double *out, char **at, const char *key)
{
    char *text = take(at, key), *end;
    if (text == NULL || text[0] == '\0') return false;
    *out = strtod(text, &end);
    return *end == '\0' && isfinite(*out);
}

/* A line that begins with the number of a column; *rest: what is behind it. */
static bool take_index(uint32_t *out, char **rest, char **at, const char *key)
{
    char *line = take(at, key), *end;
    if (line == NULL || line[0] < '0' || line[0] > '9') return false;
    const unsigned long long index = strtoull(line, &end, 10);
    if (*end != ' ' || index >= KN_NONE) return false;
    *out = (uint32_t)index;
    *rest = end + 1;
    return true;
}

/* "need: 5 3": of column 5 every class has three values. */
static bool take_need(claimed_need *out, char **at)
{
    char *least;
    return take_index(&out->column, &least, at, "need: ") && read_count(&out->least, least);
}

/* "column: 2 0x1p+0 nodes DIGEST", or "intervals 60", "sets 2". */
static bool take_column(kn_claimed_column *out, char **at)
{
    char *end;
    if (!take_index(&out->index, &end, at, "column: ")) return false;
    out->weight = strtod(end, &end);
    if (*end++ != ' ') return false;
    if (strncmp(end, "nodes ", 6) == 0) {
        out->cells = KN_PROOF_NODES;
        out->tree = end + 6;
        return true;
    }
    out->cells = strncmp(end, "intervals ", 10) == 0 ? KN_PROOF_INTERVALS : KN_PROOF_SETS;
    if (out->cells == KN_PROOF_SETS && strncmp(end, "sets ", 5) != 0) return false;
    return read_count(&out->n_parts, strchr(end, ' ') + 1);
}

/* False: this is no certificate. */
static bool parse(claim_file *out, uint32_t n_rows)
{
    char *at = out->text;
    uint64_t n_columns, n_needs;
    if (take(&at, KN_CERTIFICATE_TITLE) == NULL || (out->measure = take(&at, "measure: ")) == NULL) return false;
    if (!take_count(&out->k, &at, "k: ") || !take_count(&out->max_suppressed, &at, "suppressed: ")) return false;
    if (!take_count(&out->n_rows, &at, "rows: ") || (out->data = take(&at, "data: ")) == NULL) return false;
    if (!take_real(&out->unit, &at, "unit: ") || !take_real(&out->bound, &at, "bound: ")) return false;
    if (!take_count(&out->surplus, &at, "surplus: ") || !take_count(&n_needs, &at, "needs: ")) return false;
    for (; out->n_needs < n_needs; out->n_needs++)
        if (out->n_needs == MOST_COLUMNS || !take_need(&out->needs[out->n_needs], &at)) return false;
    if (!take_count(&n_columns, &at, "columns: ")) return false;
    if (!(out->unit > 0) || n_columns > MOST_COLUMNS || out->surplus > MOST_VALUE || out->k > MOST_K) return false;
    for (; out->n_columns < n_columns; out->n_columns++)
        if (!take_column(&out->columns[out->n_columns], &at)) return false;
    for (uint64_t row = 0; row < out->n_rows && row < n_rows; row++)
        if (!take_count(&out->values[row], &at, "") || out->values[row] > MOST_VALUE) return false;
    return out->n_rows != n_rows || strcmp(at, "end\n") == 0;
}

/* --- Is it about this table and these rules? ---------------------------------------------------------------------- */

static bool same_real(double a, double b) { return fabs(a - b) <= 1e-12 * (fabs(a) + fabs(b)); }

/* What about the table or the rules is other than the certificate says; nothing: they are those. *unsure: it cannot be
 * told. */
static kn_status compare_rules(kn_buffer *problem, bool *unsure, kn_recount *recount, const claim_file *claim,
                               kn_error *err)
{
    kn_status status = KN_OK;
    const kn_verify_request *request = recount->request;
    char digest[KN_SHA256_HEX], shown[KN_SHOWN_BYTES];
    bool all;
    uint64_t least, *values = NULL;
    KN_NEW(values, request->n_columns);
    KN_TRY(kn_recount_least(&least, values, &all, recount, err));
    const uint64_t max_suppressed = request->max_suppressed > 0 ? (uint64_t)request->max_suppressed : 0;
    *unsure = claim->k > least && !all;
    if (strcmp(claim->measure, request->measure) != 0) *problem = kn_said(KN_SAY_CERTIFICATE_MEASURE);
    else if (claim->k != least)
        *problem = KN_SAID(KN_SAY_CERTIFICATE_K, kn_piece_number("%llu", (unsigned long long)claim->k),
                           kn_piece_number("%llu", (unsigned long long)least));
    else if (claim->max_suppressed != max_suppressed) *problem = kn_said(KN_SAY_CERTIFICATE_SUPPRESSED);
    else if (claim->n_rows != recount->original->n_rows) *problem = kn_said(KN_SAY_CERTIFICATE_DATA);
    for (uint32_t i = 0; problem->n == 0 && i < claim->n_needs; i++) {
        const claimed_need *this = &claim->needs[i];
        if (this->column >= request->n_columns || this->least == 0 || this->least > values[this->column])
            *problem = kn_said(KN_SAY_CERTIFICATE_NEEDS);
    }
    for (uint32_t i = 0; problem->n == 0 && i < claim->n_columns; i++) {
        const kn_claimed_column *this = &claim->columns[i];
        bool is_again = false;
        for (uint32_t j = 0; j < i; j++) is_again |= this->index == claim->columns[j].index;
        if (is_again || !kn_proof_is_possible(request, this->index, this->cells)) {
            *problem = kn_said(KN_SAY_CERTIFICATE_COLUMNS);
            break;
        }
        const kn_domain *domain = request->columns[this->index].domain;
        if (this->cells == KN_PROOF_NODES) kn_tree_digest(digest, domain->tree);
        if (this->cells == KN_PROOF_NODES && strcmp(digest, this->tree) != 0)
            *problem = KN_SAID(KN_SAY_CERTIFICATE_HIERARCHY,
                               kn_piece_name(kn_recount_column_shown(shown, recount, this->index)));
        else if (!same_real(this->weight, domain->weight))
            *problem =
                KN_SAID(KN_SAY_CERTIFICATE_WEIGHT, kn_piece_name(kn_recount_column_shown(shown, recount, this->index)));
    }
done:
    kn_free(values);
    return status;
}

/* --- The whole --------------------------------------------------------------------------------------------------- */

/* The columns, priced; *problem where the certificate is about something else. */
static kn_status prepare(kn_buffer *problem, kn_proof_column *columns, const kn_recount *recount,
                         const claim_file *claim, double *root, double *discount, kn_error *err)
{
    kn_status status = KN_OK;
    bool is_known = true;
    kn_sha256 hash;
    char digest[KN_SHA256_HEX];
    kn_sha256_begin(&hash);
    for (uint32_t i = 0; is_known && i < claim->n_columns; i++) {
        KN_TRY(kn_proof_place_rows(&columns[i], recount, &claim->columns[i], &is_known, err));
        if (is_known) kn_sha256_add(&hash, columns[i].value, recount->original->n_rows * sizeof *columns[i].value);
    }
    kn_sha256_end(digest, &hash);
    if (!is_known || strcmp(digest, claim->data) != 0) {
        *problem = kn_said(KN_SAY_CERTIFICATE_DATA);
        goto done;
    }
    for (uint32_t i = 0; is_known && i < claim->n_columns; i++)
        KN_TRY(kn_proof_price(&columns[i], recount, &claim->columns[i], claim->unit, root, discount, &is_known, err));
    if (!is_known) *problem = kn_said(KN_SAY_CERTIFICATE_PRICES);
done:
    return status;
}

/* The sensitive values of the rows. */
static kn_status prepare_needs(kn_proof *proof, const kn_recount *recount, const claim_file *claim, kn_error *err)
{
    kn_status status = KN_OK;
    kn_values *values = NULL;
    KN_NEW(proof->needs, claim->n_needs);
    for (; proof->n_needs < claim->n_needs; proof->n_needs++) {
        const uint32_t c = claim->needs[proof->n_needs].column;
        const kn_sheet_column *cells = &recount->original->columns[recount->in_original[c]];
        kn_proof_need *need = &proof->needs[proof->n_needs];
        kn_values_free(values);
        values = NULL;
        KN_TRY(kn_values_make(&values, cells, &recount->readings[c], err));
        need->least = claim->needs[proof->n_needs].least;
        need->n_values = values->n_values;
        KN_NEW(need->value, recount->original->n_rows);
        for (uint32_t row = 0; row < recount->original->n_rows; row++)
            need->value[row] = values->of_text[kn_sheet_code(cells, row)];
    }
done:
    kn_values_free(values);
    return status;
}

/* What the values prove: the loss as reported. */
static double proven(const kn_recount *recount, const claim_file *claim, double discount)
{
    const kn_verify_request *request = recount->request;
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
    kn_proof proof = {.n_columns = claim->n_columns, .values = claim->values, .k = claim->k};
    double root = 0, discount = 0;
    uint64_t most = 0;
    bool holds;
    *state = KN_CHECK_BROKEN;
    KN_NEW(proof.columns, claim->n_columns);
    KN_TRY(prepare(found, proof.columns, recount, claim, &root, &discount, err));
    if (found->n > 0) goto done;
    KN_TRY(prepare_needs(&proof, recount, claim, err));
    KN_TRY(kn_proof_holds(&holds, recount, &proof, err));
    for (uint64_t row = 0; row < claim->n_rows; row++)
        if (claim->values[row] > most) most = claim->values[row];
    if (claim->max_suppressed > 0 && (double)most > root + (double)claim->surplus) holds = false;
    const double loss = proven(recount, claim, discount);
    if (!holds || !(claim->bound <= loss + 1e-9 * fabs(loss))) {
        *found = kn_said(holds ? KN_SAY_CERTIFICATE_BOUND : KN_SAY_CERTIFICATE_VALUES);
        goto done;
    }
    *state = KN_CHECK_HOLDS;
    *found = KN_SAID(KN_SAY_CERTIFICATE_PROVES, kn_piece_number("%llu", (unsigned long long)claim->k),
                     kn_piece_text(claim->measure), kn_piece_number("%.6g", claim->bound));
done:
    for (uint32_t i = 0; proof.columns != NULL && i < claim->n_columns; i++) kn_proof_column_clear(&proof.columns[i]);
    for (uint32_t i = 0; proof.needs != NULL && i < claim->n_needs; i++) kn_free(proof.needs[i].value);
    kn_free(proof.columns);
    kn_free(proof.needs);
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
    else KN_TRY(compare_rules(&found, &unsure, recount, claimed, err));
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
