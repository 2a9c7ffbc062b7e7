// clang-format off
/* Which model suits a sensitive column, from its type and its distribution over the rows.
 *
 *   one value                              none: nothing could hide it
 *   numbers and dates, more than 10        t-closeness, ordered: 41,000 and 41,500 are two values and one piece of news
 *   one value has most rows, few others    (alpha,k) of the others: it is they that must not become likely. Without
 *                                          room between their share and a half, of all values
 *   one value has most rows, many others   recursive (c,2)-diversity, with c above what the table has; where that is so
 *                                          much that it would say nothing, t-closeness
 *   none has most rows                     entropy l-diversity, l well below what the table reaches; in classes too
 *                                          small for that, distinct
 *
 * Every limit stands apart from what the whole table reaches, since a class is smaller and strays from it. Then
 * privacy/ is asked, with all rows as one class: every model here is monotone, so what that class breaks no release
 * meets, and what it meets some release does. A missing cell counts as a value, as it does for the models; it is never
 * named. */
// clang-format on
#include "run/propose_model.h"

#include "base/buffer.h"
#include "base/yaml.h"
#include "privacy/privacy.h"
#include "privacy/sensitive.h"

#include <math.h>
#include <string.h>

enum { FEW_VALUES = 10, FEW_OTHERS = 8 };

/* What decides. Shares are of rows. */
typedef struct spread {
    const kn_sensitive *sensitive;
    uint64_t n_rows;
    uint32_t n_values;    /* that occur */
    uint32_t most;        /* the most frequent value */
    double share, second; /* of the two most frequent ones */
    double effective;     /* 2^H: as many equally frequent values would be as uncertain */
} spread;

/* A candidate under way. */
typedef struct draft {
    const char *name;
    kn_buffer params, reason;
    bool names_values; /* alpha-k: of the values but the most frequent one */
} draft;

static spread spread_of(const kn_sensitive *sensitive)
{
    spread about = {.sensitive = sensitive};
    uint64_t first = 0, second = 0;
    double entropy = 0;
    for (uint32_t v = 0; v < sensitive->n_values; v++) about.n_rows += sensitive->value_rows[v];
    for (uint32_t v = 0; v < sensitive->n_values; v++) {
        const uint64_t n = sensitive->value_rows[v];
        if (n == 0) continue;
        about.n_values++;
        entropy -= (double)n / (double)about.n_rows * log2((double)n / (double)about.n_rows);
        if (n > first) {
            second = first;
            first = n;
            about.most = v;
        } else if (n > second) {
            second = n;
        }
    }
    if (about.n_rows > 0) {
        about.share = (double)first / (double)about.n_rows;
        about.second = (double)second / (double)about.n_rows;
    }
    about.effective = exp2(entropy);
    return about;
}

static bool is_missing(const kn_column *column, uint32_t value)
{
    return column->has_missing && value == column->n_values - 1;
}

/* Values that occur, are there, and are not the most frequent one. */
static bool is_protected(const spread *about, uint32_t value)
{
    return value != about->most && about->sensitive->value_rows[value] > 0 &&
           !is_missing(about->sensitive->column, value);
}

static const char *value_bytes(const kn_column *column, uint32_t value, size_t *n)
{
    uint32_t s = 0;
    while (kn_column_value(column, s) != value) s++;
    return kn_column_bytes(column, s, n);
}

/* Few enough to be named, and written in a way that a list of values can hold. */
static bool can_name_others(const spread *about)
{
    uint32_t n_named = 0;
    for (uint32_t v = 0; v < about->sensitive->n_values && n_named <= FEW_OTHERS; v++) {
        size_t n = 0;
        if (!is_protected(about, v)) continue;
        const char *bytes = value_bytes(about->sensitive->column, v, &n);
        if (memchr(bytes, '\\', n) != NULL) return false;
        n_named++;
    }
    return n_named > 0 && n_named <= FEW_OTHERS;
}

/* --- What is proposed ----------------------------------------------------------------------------------------------
 */

static void draft_close(draft *out, const char *distance, const char *limit)
{
    out->name = "t-closeness";
    kn_buffer_printf(&out->params, "distance=%s,t=%s", distance, limit);
}

static void draft_shares(draft *out, bool names_values, const char *limit)
{
    out->name = "alpha-k";
    out->names_values = names_values;
    kn_buffer_printf(&out->params, "alpha=%s", limit);
}

/* Percent for a reason, never "100 %" of what is not all. */
static unsigned percent(double share)
{
    const unsigned rounded = (unsigned)floor(100 * share + 0.5);
    return rounded == 100 && share < 1 ? 99 : rounded;
}

static void propose_of_skewed(draft *out, const spread *about, bool redact)
{
    enum { MOST_FACTOR = 10 };
    static const unsigned factors[] = {3, 5, MOST_FACTOR};
    const unsigned most = percent(about->share);
    const double odds = about->share / (1 - about->share);
    if (!redact && about->second <= 0.4 && can_name_others(about)) {
        draft_shares(out, true, "0.5");
        kn_buffer_printf(&out->reason,
                         "one value has %u%% of the rows: each of the others may have at most half of a class, so that "
                         "none becomes likelier than not for anybody",
                         most);
        return;
    }
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        if (factors[i] >= 2 * odds && about->n_values > 2) {
            out->name = "l-diversity";
            kn_buffer_printf(&out->params, "kind=recursive,l=2,c=%u", factors[i]);
            kn_buffer_printf(&out->reason,
                             "one value has %u%% of the rows, beside %u others: in a class the most frequent value has "
                             "fewer than %u times the rows of the others together",
                             most, about->n_values - 1, factors[i]);
            return;
        }
    if (about->share <= 0.7) {
        draft_shares(out, false, "0.85");
        kn_buffer_printf(&out->reason,
                         "%u values, the most frequent with %u%% of the rows: no value may have more than 85%% of a "
                         "class",
                         about->n_values, most);
        return;
    }
    draft_close(out, "equal", "0.3");
    kn_buffer_printf(&out->reason,
                     "one value has %u%% of the rows, which leaves too little for l-diversity: what a class has more "
                     "of some values than the table is at most 30%% of it",
                     most);
}

static void propose_of_even(draft *out, const spread *about, uint64_t k)
{
    enum { LEAST_K = 5 };
    const char *diversity = about->effective >= 6 ? "3" : "2";
    if (about->effective < 3) {
        draft_shares(out, false, "0.8");
        kn_buffer_printf(&out->reason,
                         "%u values, as uncertain as %.1f equally frequent ones: no value may have more than 80%% of a "
                         "class",
                         about->n_values, about->effective);
        return;
    }
    out->name = "l-diversity";
    if (k < LEAST_K) {
        kn_buffer_text(&out->params, "kind=distinct,l=2");
        kn_buffer_printf(&out->reason,
                         "%u values, none with most of the rows: every class has two of them at least, and with k=%llu "
                         "there is no room for more",
                         about->n_values, (unsigned long long)k);
        return;
    }
    kn_buffer_printf(&out->params, "kind=entropy,l=%s", diversity);
    kn_buffer_printf(&out->reason,
                     "%u values, none with most of the rows: a class is as uncertain as %s equally frequent values at "
                     "least, the table as %.1f",
                     about->n_values, diversity, about->effective);
}

static void propose(draft *out, const spread *about, const kn_proposal_ask *ask)
{
    const kn_type type = about->sensitive->column->type;
    if (about->n_values < 2)
        kn_buffer_text(&out->reason, "no model: every row has the same value, and none could hide it");
    else if (type != KN_TYPE_TEXT && about->n_values > FEW_VALUES) {
        draft_close(out, "ordered", "0.2");
        kn_buffer_printf(
            &out->reason,
            "%u %s: near ones tell nearly the same, so every class must be distributed much like the table",
            about->n_values, type == KN_TYPE_DATE ? "dates" : "numbers");
    } else if (about->share > 0.5) propose_of_skewed(out, about, ask->redact);
    else propose_of_even(out, about, ask->k);
}

/* --- As privacy/ and as the policy write it ------------------------------------------------------------------------
 */

static void put_escaped(kn_buffer *out, const char *bytes, size_t n, bool in_list)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == ',' || (in_list && bytes[i] == '|')) kn_buffer_char(out, '\\');
        kn_buffer_char(out, bytes[i]);
    }
}

/* "t-closeness:column=income,distance=ordered,t=0.2" */
static void spec_put(kn_buffer *out, const draft *model, const spread *about)
{
    const kn_column *column = about->sensitive->column;
    bool first = true;
    kn_buffer_printf(out, "%s:column=", model->name);
    put_escaped(out, column->name, strlen(column->name), false);
    kn_buffer_printf(out, ",%s", model->params.bytes);
    for (uint32_t v = 0; model->names_values && v < column->n_values; v++) {
        size_t n;
        if (!is_protected(about, v)) continue;
        const char *bytes = value_bytes(column, v, &n);
        kn_buffer_text(out, first ? ",values=" : "|");
        put_escaped(out, bytes, n, true);
        first = false;
    }
}

static void policy_put(kn_buffer *out, const draft *model, const spread *about)
{
    const kn_column *column = about->sensitive->column;
    kn_buffer value = {0};
    bool first = true;
    kn_buffer_printf(out, "%s: {column: ", model->name);
    kn_yaml_put(out, column->name);
    kn_buffer_text(out, ", ");
    for (const char *at = model->params.bytes; *at != '\0'; at++)
        kn_buffer_text(out, *at == '=' ? ": " : *at == ',' ? ", " : (char[]){*at, '\0'});
    for (uint32_t v = 0; model->names_values && v < column->n_values; v++) {
        size_t n;
        if (!is_protected(about, v)) continue;
        kn_buffer_text(out, first ? ", values: [" : ", ");
        const char *bytes = value_bytes(column, v, &n);
        kn_buffer_clear(&value);
        kn_buffer_append(&value, bytes, n);
        if (!value.failed) kn_yaml_put(out, value.bytes);
        first = false;
    }
    kn_buffer_text(out, first ? "}" : "]}");
    out->failed |= value.failed;
    kn_buffer_free(&value);
}

/* Whether all rows as one class meet it; KN_OK either way. */
static kn_status is_possible(bool *out, const draft *model, const spread *about, kn_tuples *tuples, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer text = {0};
    kn_models *models = NULL;
    kn_error own = {0};
    char *spec = NULL;
    *out = false;
    spec_put(&text, model, about);
    KN_TRY(kn_buffer_finish(&spec, &text, err));
    status = kn_models_new(&models, (const char *const *)&spec, 1, tuples, &own);
    if (status == KN_OK) status = kn_models_possible(models, tuples, 0, &own);
    *out = status == KN_OK;
    if (status != KN_OK && status != KN_NOT_MET) status = kn_error_pass(err, status, &own);
    else status = KN_OK;
done:
    kn_models_free(models);
    kn_buffer_free(&text);
    kn_free(spec);
    return status;
}

static kn_status hand_over(kn_proposal *out, draft *model, const spread *about, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer policy = {0};
    policy_put(&policy, model, about);
    KN_TRY(kn_buffer_finish(&out->policy, &policy, err));
    KN_TRY(kn_buffer_finish(&out->params, &model->params, err));
    out->name = kn_string_copy(model->name, strlen(model->name), err);
    if (out->name == NULL) status = KN_RESOURCES;
done:
    kn_buffer_free(&policy);
    return status;
}

kn_status kn_model_propose(kn_proposal *out, kn_tuples *tuples, const kn_proposal_ask *ask, kn_error *err)
{
    kn_status status = KN_OK;
    draft model = {0};
    bool possible = false;
    const spread about = spread_of(&tuples->sensitive[ask->sensitive]);
    *out = (kn_proposal){0};
    propose(&model, &about, ask);
    if (model.params.failed || model.reason.failed) KN_FAIL(KN_RESOURCES, "out of memory");
    if (model.name != NULL) {
        KN_TRY(is_possible(&possible, &model, &about, tuples, err));
        if (!possible) {
            kn_buffer_clear(&model.reason);
            kn_buffer_text(&model.reason, "no model: the table itself meets none that would suit");
        }
    }
    if (possible) KN_TRY(hand_over(out, &model, &about, err));
    KN_TRY(kn_buffer_finish(&out->reason, &model.reason, err));
done:
    kn_buffer_free(&model.params);
    kn_buffer_free(&model.reason);
    if (status != KN_OK) kn_proposal_free(out);
    return status;
}

void kn_proposal_free(kn_proposal *proposal)
{
    kn_free(proposal->name);
    kn_free(proposal->params);
    kn_free(proposal->policy);
    kn_free(proposal->reason);
    *proposal = (kn_proposal){0};
}
