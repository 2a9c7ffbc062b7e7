/* How many persons would be unique in the population, from a sample and its sampling fraction.
 *
 * Dankar, El Emam, Neisa, Roffey: Estimating the re-identification risk of clinical data sets (2012), appendix A.
 * n persons in u classes in the sample, s_i classes of size i, fraction pi, population N = n / pi. In: class sizes.
 *
 *   Zayatz  P(F=1|f=1) = p_1 P(f=1|F=1) / sum_j p_j P(f=1|F=j), p_j = s_j / u, P hypergeometric; N/n * s_1 * that
 *   Pitman  Pitman's sampling formula, its two parameters by maximum likelihood (Hoshino 2001);
 *           expected uniques  Gamma(theta+1) / Gamma(theta+alpha) * N^alpha
 *   SNB     slide negative binomial (Chen, Keller-McNulty 1998): class sizes F-1 ~ NB(alpha, beta) over K classes, K by
 *           Shlosser's estimator as modified by Haas and Stokes (1998), alpha and beta so that the expected s_1 and s_2
 *           are the observed ones; uniques  K beta^alpha
 *   Dankar  pi <= 0.1: Pitman; otherwise Zayatz where it is below SNB, SNB where not. An estimator without a solution
 *           gives way to Zayatz.
 *
 * An estimate is kept within 0 .. N. O(distinct sizes) per evaluation of a likelihood. */
#include "risk/risk.h"

#include <math.h>
#include <stdlib.h>

/* Class sizes and how many classes have each, ascending. */
typedef struct spectrum {
    size_t n_sizes;
    double *size, *count;
    double n, u, s1, s2, fraction, population;
} spectrum;

const char *kn_estimator_name(kn_estimator estimator)
{
    static const char *const names[KN_N_ESTIMATORS] = {"zayatz", "pitman", "snb"};
    return names[estimator];
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static kn_status spectrum_new(spectrum *out, const uint64_t *sizes, size_t n_classes, double fraction, kn_error *err)
{
    kn_status status = KN_OK;
    uint64_t *sorted = NULL;
    *out = (spectrum){.fraction = fraction};
    KN_NEW(sorted, n_classes + 1);
    KN_NEW(out->size, n_classes + 1);
    KN_NEW(out->count, n_classes + 1);
    for (size_t c = 0; c < n_classes; c++) sorted[c] = sizes[c];
    qsort(sorted, n_classes, sizeof *sorted, compare_u64);
    for (size_t c = 0; c < n_classes; c++) {
        if (sorted[c] == 0) continue;
        if (out->n_sizes == 0 || out->size[out->n_sizes - 1] != (double)sorted[c])
            out->size[out->n_sizes++] = (double)sorted[c];
        out->count[out->n_sizes - 1]++;
        out->n += (double)sorted[c];
        out->u++;
        out->s1 += sorted[c] == 1;
        out->s2 += sorted[c] == 2;
    }
    out->population = out->n / fraction;
done:
    kn_free(sorted);
    return status;
}

static void spectrum_free(spectrum *sample)
{
    kn_free(sample->size);
    kn_free(sample->count);
}

/* log of the binomial coefficient, for real arguments */
static double log_choose(double n, double k) { return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1); }

/* Hypergeometric: one of the F members of a class is among the n drawn from N. */
static double one_drawn(double class_size, const spectrum *sample)
{
    double others = sample->population - class_size;
    if (sample->n - 1 > others) return class_size == 1 ? 1 : 0; /* nearly everybody is drawn */
    return class_size * exp(log_choose(others, sample->n - 1) - log_choose(sample->population, sample->n));
}

static double zayatz(const spectrum *sample)
{
    double below = 0;
    for (size_t i = 0; i < sample->n_sizes; i++)
        below += sample->count[i] / sample->u * one_drawn(sample->size[i], sample);
    double conditional = sample->s1 / sample->u * one_drawn(1, sample) / below;
    return sample->s1 * conditional / sample->fraction;
}

/* log likelihood of Pitman's formula, without what does not depend on the parameters */
static double pitman_likelihood(const spectrum *sample, double theta, double alpha)
{
    double sum = (sample->u - 1) * log(alpha) + lgamma(theta / alpha + sample->u) - lgamma(theta / alpha + 1);
    sum -= lgamma(theta + sample->n) - lgamma(theta + 1);
    for (size_t i = 0; i < sample->n_sizes; i++)
        sum += sample->count[i] * (lgamma(sample->size[i] - alpha) - lgamma(1 - alpha));
    return sum;
}

/* Largest value of the likelihood over theta, by golden section on log theta. */
static double pitman_best_theta(double *theta, const spectrum *sample, double alpha)
{
    const double golden = 0.6180339887498949;
    double low = log(1e-6), high = log(1e3 * sample->population + 10);
    double a = high - golden * (high - low), b = low + golden * (high - low);
    double at_a = pitman_likelihood(sample, exp(a), alpha), at_b = pitman_likelihood(sample, exp(b), alpha);
    for (int step = 0; step < 90; step++) {
        if (at_a < at_b) {
            low = a;
            a = b;
            at_a = at_b;
            b = low + golden * (high - low);
            at_b = pitman_likelihood(sample, exp(b), alpha);
        } else {
            high = b;
            b = a;
            at_b = at_a;
            a = high - golden * (high - low);
            at_a = pitman_likelihood(sample, exp(a), alpha);
        }
    }
    *theta = exp((low + high) / 2);
    return pitman_likelihood(sample, *theta, alpha);
}

static double pitman(const spectrum *sample)
{
    /* All alone, or all together: the likelihood has no maximum inside. */
    if (sample->s1 == sample->n || sample->u == 1) return NAN;
    const double golden = 0.6180339887498949;
    double low = 1e-6, high = 1 - 1e-6, theta;
    double a = high - golden * (high - low), b = low + golden * (high - low);
    double at_a = pitman_best_theta(&theta, sample, a), at_b = pitman_best_theta(&theta, sample, b);
    for (int step = 0; step < 60; step++) {
        if (at_a < at_b) {
            low = a;
            a = b;
            at_a = at_b;
            at_b = pitman_best_theta(&theta, sample, b = low + golden * (high - low));
        } else {
            high = b;
            b = a;
            at_b = at_a;
            at_a = pitman_best_theta(&theta, sample, a = high - golden * (high - low));
        }
    }
    double alpha = (low + high) / 2;
    pitman_best_theta(&theta, sample, alpha);
    return exp(lgamma(theta + 1) - lgamma(theta + alpha) + alpha * log(sample->population));
}

static double shlosser_classes(const spectrum *sample)
{
    double pi = sample->fraction, a = 0, b = 0, c = 0, d = 0;
    for (size_t j = 0; j < sample->n_sizes; j++) {
        double i = sample->size[j], s = sample->count[j], missed = pow(1 - pi, i);
        a += i * pi * pi * pow(1 - pi * pi, i - 1) * s;
        b += missed * (pow(1 + pi, i) - 1) * s;
        c += missed * s;
        d += i * pi * pow(1 - pi, i - 1) * s;
    }
    return b > 0 && d > 0 ? sample->u + sample->s1 * (a / b) * (c / d) * (c / d) : NAN;
}

/* Expected classes of size 1 and 2 in the sample, per class of the population, for x = (log alpha, logit beta). */
static void snb_expected(double out[2], const double x[2], double pi)
{
    double alpha = exp(x[0]), beta = 1 / (1 + exp(-x[1])), q = 1 / (1 + exp(x[1])), z = 1 - pi, rest = 1 - q * z;
    double h = exp(alpha * (log(beta) - log(rest)));
    out[0] = pi * h * (1 + z * alpha * q / rest);
    out[1] = pi * pi / 2 * h * alpha * q * (2 + (alpha - 1) * q * z) / (rest * rest);
}

static double snb_distance(double out[2], const double x[2], const double target[2], double pi)
{
    snb_expected(out, x, pi);
    for (int i = 0; i < 2; i++) out[i] = log(out[i]) - log(target[i]);
    double distance = out[0] * out[0] + out[1] * out[1];
    return isfinite(distance) ? distance : INFINITY;
}

/* Newton's method with a numeric Jacobian and step halving, from `x`. True when it arrived. */
static bool snb_solve(double x[2], const double target[2], double pi)
{
    double f[2], distance = snb_distance(f, x, target, pi);
    for (int step = 0; step < 200 && distance > 1e-22; step++) {
        double jacobian[2][2], moved[2], g[2];
        for (int j = 0; j < 2; j++) {
            moved[0] = x[0];
            moved[1] = x[1];
            moved[j] += 1e-6;
            snb_distance(g, moved, target, pi);
            for (int i = 0; i < 2; i++) jacobian[i][j] = (g[i] - f[i]) / 1e-6;
        }
        double det = jacobian[0][0] * jacobian[1][1] - jacobian[0][1] * jacobian[1][0];
        if (!isfinite(det) || fabs(det) < 1e-300) return false;
        double dx = (jacobian[1][1] * f[0] - jacobian[0][1] * f[1]) / det;
        double dy = (jacobian[0][0] * f[1] - jacobian[1][0] * f[0]) / det;
        double length = 1, next = INFINITY;
        for (; length > 1e-6; length /= 2) {
            moved[0] = x[0] - length * dx;
            moved[1] = x[1] - length * dy;
            next = snb_distance(g, moved, target, pi);
            if (next < distance) break;
        }
        if (!(next < distance)) break;
        for (int i = 0; i < 2; i++) {
            x[i] = moved[i];
            f[i] = g[i];
        }
        distance = next;
    }
    return distance < 1e-12;
}

static double snb(const spectrum *sample)
{
    if (sample->s2 == 0) return NAN; /* nothing to fit the second parameter to */
    double classes = shlosser_classes(sample), best = NAN;
    double target[2] = {sample->s1 / classes, sample->s2 / classes};
    if (!isfinite(classes) || sample->fraction >= 1) return sample->fraction >= 1 ? sample->s1 : NAN;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++) {
            double x[2] = {-4 + 2.0 * i, -6 + 3.0 * j};
            if (!snb_solve(x, target, sample->fraction)) continue;
            double uniques = classes * exp(-exp(x[0]) * log1p(exp(-x[1])));
            /* Where two parameter pairs fit, the larger estimate: the careful one. */
            if (isnan(best) || uniques > best) best = uniques;
        }
    return best;
}

kn_status kn_risk_estimate_uniques(kn_risk_estimate *out, const uint64_t *sizes, size_t n_classes, double fraction,
                                   kn_error *err)
{
    kn_status status = KN_OK;
    spectrum sample = {0};
    *out = (kn_risk_estimate){.fraction = fraction};
    if (!(fraction > 0 && fraction <= 1))
        KN_FAIL(KN_USAGE, "population: the sampling fraction must be above 0 and at most 1, not %g", fraction);
    KN_TRY(spectrum_new(&sample, sizes, n_classes, fraction, err));
    out->population = sample.population;
    if (sample.s1 == 0) goto done; /* nobody is unique in the sample: zero everywhere */
    out->n_unique[KN_ESTIMATOR_ZAYATZ] = fraction >= 1 ? sample.s1 : zayatz(&sample);
    out->n_unique[KN_ESTIMATOR_PITMAN] = fraction >= 1 ? sample.s1 : pitman(&sample);
    out->n_unique[KN_ESTIMATOR_SNB] = fraction >= 1 ? sample.s1 : snb(&sample);
    for (int e = 0; e < KN_N_ESTIMATORS; e++)
        if (out->n_unique[e] > sample.population) out->n_unique[e] = sample.population;
    double by_snb = out->n_unique[KN_ESTIMATOR_SNB], by_pitman = out->n_unique[KN_ESTIMATOR_PITMAN];
    out->chosen = KN_ESTIMATOR_ZAYATZ;
    if (fraction <= 0.1 && !isnan(by_pitman)) out->chosen = KN_ESTIMATOR_PITMAN;
    if (fraction > 0.1 && !isnan(by_snb) && out->n_unique[KN_ESTIMATOR_ZAYATZ] >= by_snb)
        out->chosen = KN_ESTIMATOR_SNB;
done:
    spectrum_free(&sample);
    return status;
}
