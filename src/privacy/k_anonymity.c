/* k-anonymity: a class has at least k persons.
 *
 * Samarati, "Protecting respondents' identities in microdata release", 2001; [SV] Definition 2.2. Persons are counted,
 * not rows, where the table has a person column. Monotone; cost O(1) per class. */
#include "privacy/privacy.h"

typedef struct state {
    uint64_t k;
} state;

static kn_status prepare(void **out, const kn_tuples *tuples, const kn_args *args, kn_error *err)
{
    kn_status status = KN_OK;
    state *new_state = NULL;
    *out = NULL;
    double k = kn_args_number(args, "k");
    if (k > (double)tuples->n_persons && tuples->n_rows > 0)
        KN_FAIL(KN_NOT_MET, "k-anonymity: k=%.0f is impossible: the table has %llu %s, so k can be at most %llu", k,
                (unsigned long long)tuples->n_persons,
                tuples->row_person != NULL ? tuples->n_persons == 1 ? "person" : "persons"
                : tuples->n_rows == 1      ? "row"
                                           : "rows",
                (unsigned long long)tuples->n_persons);
    KN_NEW(new_state, 1);
    new_state->k = (uint64_t)k;
    *out = new_state;
done:
    return status;
}

static bool holds(const void *opaque, const kn_class_counts *counts)
{
    return counts->n_persons >= ((const state *)opaque)->k;
}

static double value(const void *opaque, const kn_class_counts *counts) { return (double)counts->n_persons; }

static uint64_t min_persons(const void *opaque) { return ((const state *)opaque)->k; }

static const kn_param params[] = {
    {.name = "k", .type = KN_PARAM_INT, .required = true, .min = 1, .max = 1e9, .help = "least persons of a class"},
};

const kn_privacy kn_privacy_k_anonymity = {
    .name = "k-anonymity",
    .summary = "every person hides among at least k",
    .promise = "every combination of generalized cells belongs to at least {k} of those in the table, and points out "
               "none of them",
    .citation = "Samarati, Protecting respondents' identities in microdata release, IEEE TKDE 13(6), 2001",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .monotone = true,
    .counts_only = true,
    .worst_is_least = true,
    .letter = "k",
    .prepare = prepare,
    .discard = kn_free,
    .holds = holds,
    .value = value,
    .min_persons = min_persons,
};
