// clang-format off
/* Every privacy model, straight from its definition: does it hold for one class? Nothing of privacy/ is used.
 *
 * With n rows in a class, c(v) of them with sensitive value v, q(v) = c(v)/n, and p(v) the share of v in the whole
 * original column, suppressed and removed rows included:
 *   k-anonymity       persons >= k
 *   l-diversity       distinct: values with c > 0 >= l; entropy: 2^H(q) >= l, H in bits; recursive:
 *                     c1 < c * (cl + ... + cm), counts descending; frequency: max q <= 1/l
 *   p-sensitive       values with c > 0 >= p
 *   alpha-k           q(v) <= alpha for the protected values, or for every value; persons >= k where k is given
 *   t-closeness       EMD(q, p) <= t; equal: half the sum of |q - p|; ordered: the sum of the absolute cumulative
 *                     differences over m - 1 (text in the order of its hierarchy); hierarchical: Li et al. 2007, ground
 *                     distance level of the lowest common ancestor over the height of the tree
 *   beta-likeness     (q - p) / p <= beta where q > p; enhanced: <= min(beta, -ln p) (Cao, Karras 2012)
 *   delta-disclosure  |log2(q / p)| < delta for every value of the table; a value that the class lacks breaks it
 *                     (Brickell, Shmatikov 2008)
 *   delta-presence    min <= persons / persons of the population inside the class's cells <= max (Nergiz et al. 2007)
 *   k-map             persons of the population inside the class's cells >= k
 * Sensitive values are counted over rows, also where persons are known. Cost: the distinct values of the class (times the
 * height of the tree, or a binary search in the distribution), never the whole domain. Sums of real numbers get a
 * relative tolerance of 1e-10, so that adding in another order does not turn a release away. */
// clang-format on
#include "verify/model_definitions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TOLERANCE = 1e-10;

/* --- What there is --------------------------------------------------------------------------------------------- */

static const kn_param K_PARAMS[] = {
    {.name = "k", .type = KN_PARAM_INT, .required = true, .min = 1, .max = 4294967295.0, .help = "persons per class"}};
#define COLUMN_PARAM                                                                                                   \
    {                                                                                                                  \
        .name = "column", .type = KN_PARAM_TEXT, .help = "sensitive column"                                            \
    }
#define JOINT_PARAM                                                                                                    \
    {                                                                                                                  \
        .name = "joint", .type = KN_PARAM_BOOL, .preset = "no"                                                         \
    }
static const kn_param L_PARAMS[] = {
    COLUMN_PARAM,
    JOINT_PARAM,
    {.name = "kind", .type = KN_PARAM_CHOICE, .preset = "distinct", .choices = "distinct|entropy|recursive|frequency"},
    {.name = "l", .type = KN_PARAM_NUMBER, .required = true, .min = 1, .max = 4294967295.0, .help = "diversity"},
    {.name = "c", .type = KN_PARAM_NUMBER, .min = 0, .max = 1e300, .help = "factor of recursive (c,l)-diversity"}};
static const kn_param P_PARAMS[] = {
    COLUMN_PARAM,
    JOINT_PARAM,
    {.name = "p", .type = KN_PARAM_INT, .required = true, .min = 1, .max = 4294967295.0, .help = "distinct values"}};
static const kn_param ALPHA_PARAMS[] = {
    COLUMN_PARAM,
    JOINT_PARAM,
    {.name = "alpha", .type = KN_PARAM_NUMBER, .required = true, .min = 0, .max = 1, .help = "largest share"},
    {.name = "values", .type = KN_PARAM_TEXT, .help = "protected values", .is_data = true},
    {.name = "k", .type = KN_PARAM_INT, .min = 1, .max = 4294967295.0, .help = "persons per class"}};
static const kn_param T_PARAMS[] = {
    COLUMN_PARAM,
    JOINT_PARAM,
    {.name = "distance", .type = KN_PARAM_CHOICE, .preset = "equal", .choices = "equal|ordered|hierarchical"},
    {.name = "t", .type = KN_PARAM_NUMBER, .required = true, .min = 0, .max = 1, .help = "largest distance"}};
static const kn_param BETA_PARAMS[] = {
    COLUMN_PARAM,
    {.name = "beta", .type = KN_PARAM_NUMBER, .required = true, .min = 0, .max = 1e300, .help = "largest gain"},
    {.name = "enhanced", .type = KN_PARAM_BOOL, .preset = "no"}};
static const kn_param DELTA_PARAMS[] = {
    COLUMN_PARAM,
    {.name = "delta", .type = KN_PARAM_NUMBER, .required = true, .min = 0, .max = 1e300, .help = "largest log ratio"}};
static const kn_param PRESENCE_PARAMS[] = {
    {.name = "min", .type = KN_PARAM_NUMBER, .preset = "0", .min = 0, .max = 1},
    {.name = "max", .type = KN_PARAM_NUMBER, .required = true, .min = 0, .max = 1, .help = "largest share"},
    {.name = "population", .type = KN_PARAM_TEXT, .required = true, .help = "CSV file"}};
static const kn_param MAP_PARAMS[] = {
    {.name = "k", .type = KN_PARAM_INT, .required = true, .min = 1, .max = 4294967295.0, .help = "persons"},
    {.name = "population", .type = KN_PARAM_TEXT, .required = true, .help = "CSV file"}};

static double share(uint64_t part, uint64_t whole) { return (double)part / (double)whole; }
static bool at_most(double value, double bound) { return value <= bound + TOLERANCE * fmax(1, fabs(bound)); }
static bool at_least(double value, double bound) { return value >= bound - TOLERANCE * fmax(1, fabs(bound)); }
static uint64_t total(const counting *c) { return c->before[c->values->n_values]; }

/* --- The definitions ------------------------------------------------------------------------------------------- */

static judgement judge_k(const counting *c)
{
    double persons = (double)c->n_persons;
    return (judgement){persons, -persons, persons >= kn_args_number(&c->args, "k")};
}

static int descending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* c1 / (cl + ... + cm); infinite where there are fewer than l values. */
static double recursive_ratio(const counting *c, double l)
{
    uint64_t tail = 0;
    for (uint32_t i = 0; i < c->n_present; i++) c->sorted[i] = c->count[c->present[i]];
    qsort(c->sorted, c->n_present, sizeof *c->sorted, descending);
    for (uint32_t i = (uint32_t)ceil(l) - 1; i < c->n_present; i++) tail += c->sorted[i];
    return tail == 0 ? (double)INFINITY : share(c->sorted[0], tail);
}

static uint64_t largest_count(const counting *c)
{
    uint64_t largest = 0;
    for (uint32_t i = 0; i < c->n_present; i++)
        if (c->count[c->present[i]] > largest) largest = c->count[c->present[i]];
    return largest;
}

static judgement judge_l(const counting *c)
{
    double l = kn_args_number(&c->args, "l"), value;
    if (kn_args_is(&c->args, "kind", "distinct")) {
        return (judgement){c->n_present, -(double)c->n_present, c->n_present >= l};
    } else if (kn_args_is(&c->args, "kind", "entropy")) {
        double bits = 0;
        for (uint32_t i = 0; i < c->n_present; i++) {
            double q = share(c->count[c->present[i]], c->n_rows);
            bits -= q * log2(q);
        }
        value = exp2(bits);
        return (judgement){value, -value, at_least(value, l)};
    } else if (kn_args_is(&c->args, "kind", "frequency")) {
        value = share(c->n_rows, largest_count(c));
        return (judgement){value, -value, at_least(value, l)};
    }
    value = recursive_ratio(c, l);
    return (judgement){value, value, value < kn_args_number(&c->args, "c")};
}

static judgement judge_p(const counting *c)
{
    return (judgement){c->n_present, -(double)c->n_present, c->n_present >= kn_args_number(&c->args, "p")};
}

static judgement judge_alpha(const counting *c)
{
    uint64_t largest = 0;
    for (uint32_t i = 0; i < c->n_present; i++) {
        uint32_t v = c->present[i];
        if ((c->is_protected == NULL || c->is_protected[v]) && c->count[v] > largest) largest = c->count[v];
    }
    double value = share(largest, c->n_rows);
    bool enough = kn_args_text(&c->args, "k") == NULL || (double)c->n_persons >= kn_args_number(&c->args, "k");
    return (judgement){value, value, enough && at_most(value, kn_args_number(&c->args, "alpha"))};
}

static double equal_distance(const counting *c)
{
    double sum = 0;
    uint64_t inside = 0; /* rows of the original with a value of the class */
    for (uint32_t i = 0; i < c->n_present; i++) {
        uint32_t v = c->present[i];
        sum += fabs(share(c->count[v], c->n_rows) - share(c->reference[v], total(c)));
        inside += c->reference[v];
    }
    return (sum + share(total(c) - inside, total(c))) / 2;
}

/* Sum over values from..to-1 of |level - P(v)|, P being the cumulative share of the original. P grows, so up to some
 * value the difference is positive and from there on it is not. */
static double sum_of_differences(const counting *c, uint32_t from, uint32_t to, double level)
{
    uint32_t low = from, high = to;
    double n = (double)total(c);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if ((double)c->before[middle + 1] / n < level) low = middle + 1;
        else high = middle;
    }
    double below = (double)(c->before_sum[low] - c->before_sum[from]) / n;
    double above = (double)(c->before_sum[to] - c->before_sum[low]) / n;
    return (level * (low - from) - below) + (above - level * (to - low));
}

static double ordered_distance(const counting *c)
{
    double sum = 0;
    uint64_t so_far = 0;
    uint32_t from = 0;
    if (c->n_reference < 2) return 0;
    for (uint32_t i = 0; i <= c->n_present; i++) { /* the class's cumulative share is constant between its values */
        uint32_t to = i < c->n_present ? c->present[i] : c->values->n_values;
        sum += sum_of_differences(c, from, to, share(so_far, c->n_rows));
        if (i < c->n_present) so_far += c->count[to];
        from = to;
    }
    return sum / (c->n_reference - 1);
}

/* Mass that changes its subtree at a node travels to the level of that node: what the children with too much hand to
 * those with too little. Subtrees without a value of the class only receive, so only ancestors of present values are
 * visited: where the children hand out h and the node itself has a surplus of s, the receiving children lack h - s. */
static double hierarchical_distance(const counting *c)
{
    const kn_tree *tree = c->tree;
    double sum = 0;
    size_t n_touched = 0;
    for (uint32_t i = 0; i < c->n_present; i++)
        for (uint32_t node = c->leaf_of_value[c->present[i]];; node = tree->parent[node]) {
            if (c->node_count[node] == 0) c->touched[n_touched++] = node;
            c->node_count[node] += c->count[c->present[i]];
            if (node == tree->root) break;
        }
    for (int pass = 0; pass < 2; pass++) /* all hands first, then what they reach */
        for (size_t i = 0; i < n_touched; i++) {
            uint32_t node = c->touched[i];
            double surplus = share(c->node_count[node], c->n_rows) - share(c->node_reference[node], total(c));
            if (pass == 0 && node != tree->root && surplus > 0) c->node_hands[tree->parent[node]] += surplus;
            if (pass == 1 && node >= tree->n_leaves)
                sum += tree->level[node] * fmax(0, fmin(c->node_hands[node], c->node_hands[node] - surplus));
        }
    for (size_t i = 0; i < n_touched; i++) {
        c->node_count[c->touched[i]] = 0;
        c->node_hands[c->touched[i]] = 0;
    }
    return tree->level[tree->root] == 0 ? 0 : sum / tree->level[tree->root];
}

static judgement judge_t(const counting *c)
{
    double value = kn_args_is(&c->args, "distance", "equal")     ? equal_distance(c)
                   : kn_args_is(&c->args, "distance", "ordered") ? ordered_distance(c)
                                                                 : hierarchical_distance(c);
    return (judgement){value, value, at_most(value, kn_args_number(&c->args, "t"))};
}

static judgement judge_beta(const counting *c)
{
    double beta = kn_args_number(&c->args, "beta");
    bool enhanced = kn_args_number(&c->args, "enhanced") != 0;
    judgement worst = {0, -INFINITY, true};
    for (uint32_t i = 0; i < c->n_present; i++) {
        uint32_t v = c->present[i];
        double p = share(c->reference[v], total(c)), q = share(c->count[v], c->n_rows);
        double gain = p > 0 ? (q - p) / p : (double)INFINITY;
        double bound = enhanced ? fmin(beta, -log(p)) : beta;
        if (gain <= 0) continue;
        const bool holds = at_most(gain, bound);
        const judgement judged = {gain, holds ? gain : gain - bound, holds};
        if (kn_judgement_is_worse(&judged, &worst)) worst = judged;
    }
    return worst;
}

static judgement judge_disclosure(const counting *c)
{
    double largest = c->n_present < c->n_reference ? (double)INFINITY : 0; /* log of nothing */
    for (uint32_t i = 0; i < c->n_present; i++) {
        uint32_t v = c->present[i];
        double p = share(c->reference[v], total(c)), q = share(c->count[v], c->n_rows);
        largest = fmax(largest, p > 0 ? fabs(log2(q / p)) : (double)INFINITY);
    }
    return (judgement){largest, largest, largest < kn_args_number(&c->args, "delta")};
}

static judgement judge_presence(const counting *c)
{
    double low = kn_args_number(&c->args, "min"), high = kn_args_number(&c->args, "max");
    double value = c->n_population > 0 ? share(c->n_persons, c->n_population) : (double)INFINITY;
    const bool holds = at_least(value, low) && at_most(value, high);
    return (judgement){value, holds ? value : fmax(low - value, value - high), holds};
}

static judgement judge_map(const counting *c)
{
    double persons = (double)c->n_population;
    return (judgement){persons, -persons, persons >= kn_args_number(&c->args, "k")};
}

/* --- How many values that takes -------------------------------------------------------------------------------- */

/* Of every kind: m values have an entropy of log m at most, the most frequent a share of 1/m at least; and where there
 * is no l-th value, c times nothing is not more than c1. */
static double least_l(const counting *c) { return ceil(kn_args_number(&c->args, "l") - 1e-9); }
static double least_p(const counting *c) { return kn_args_number(&c->args, "p"); }
static double least_alpha(const counting *c)
{
    return kn_args_text(&c->args, "values") == NULL ? ceil(1 / fmax(kn_args_number(&c->args, "alpha"), 1e-9) - 1e-9)
                                                    : 1;
}
static double least_disclosure(const counting *c) { return c->n_reference; }

/* Rows that a class needs to come within t of the table (equal distance): 1 - distance is the sum of min(q, p), which n
 * rows make largest where they follow n * p rounded down, the rest going where most is missing. Up to some hundred: a
 * smaller number is true, too. */
static double least_t(const counting *c)
{
    enum { MOST_ROWS = 256, MOST_VALUES = 256 };
    const double t = kn_args_number(&c->args, "t");
    const uint64_t all = total(c), most = all < MOST_ROWS ? all : MOST_ROWS;
    if (!kn_args_is(&c->args, "distance", "equal") || c->values->n_values > MOST_VALUES) return 1;
    for (uint64_t n = 1; n < most; n++) {
        double common = 0;
        uint64_t n_left = n;
        for (uint32_t v = 0; v < c->values->n_values; v++) {
            const uint64_t whole = n * c->reference[v] / all;
            c->sorted[v] = n * c->reference[v] - whole * all; /* what is missing, times all */
            common += (double)whole;
            n_left -= whole;
        }
        qsort(c->sorted, c->values->n_values, sizeof *c->sorted, descending);
        for (uint32_t v = 0; v < n_left && v < c->values->n_values; v++) common += share(c->sorted[v], all);
        if (at_most(1 - common / (double)n, t)) return (double)n;
    }
    return (double)most;
}

#define PARAMS(table) table, sizeof(table) / sizeof *(table)
static const model_kind KINDS[] = {
    // clang-format off
    /*                                         sensitive  reference  population  persons */
    {"k-anonymity",      PARAMS(K_PARAMS),        false,     false,     false,     true,  judge_k, NULL, NULL, KN_SAY_OF_PERSONS},
    {"l-diversity",      PARAMS(L_PARAMS),        true,      false,     false,     false, judge_l, least_l, NULL, KN_SAY_DIVERSITY},
    {"p-sensitive",      PARAMS(P_PARAMS),        true,      false,     false,     false, judge_p, least_p, NULL, KN_SAY_OF_VALUES},
    {"alpha-k",          PARAMS(ALPHA_PARAMS),    true,      false,     false,     true,  judge_alpha, least_alpha, NULL, KN_SAY_SHARE_OF_VALUE},
    {"t-closeness",      PARAMS(T_PARAMS),        true,      true,      false,     false, judge_t, NULL, least_t, KN_SAY_DISTANCE},
    {"beta-likeness",    PARAMS(BETA_PARAMS),     true,      true,      false,     false, judge_beta, NULL, NULL, KN_SAY_RELATIVE_GAIN},
    {"delta-disclosure", PARAMS(DELTA_PARAMS),    true,      true,      false,     false, judge_disclosure, least_disclosure, NULL, KN_SAY_LOG_RATIO},
    {"delta-presence",   PARAMS(PRESENCE_PARAMS), false,     false,     true,      true,  judge_presence, NULL, NULL, KN_SAY_SHARE_OF_POPULATION},
    {"k-map",            PARAMS(MAP_PARAMS),      false,     false,     true,      false, judge_map, NULL, NULL, KN_SAY_OF_POPULATION},
    // clang-format on
};

const model_kind *kn_model_kind_find(const char *name)
{
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        if (strcmp(KINDS[i].name, name) == 0) return &KINDS[i];
    return NULL;
}

const char *kn_recount_model_name(const kn_verify_model *model)
{
    const model_kind *kind = kn_model_kind_find(model->name);
    return kind != NULL ? kind->name : "unknown model";
}
