/* What a search tells besides its answer: why it ended, what is proven, how it went. Plain data: search/ writes it,
 * run/ hands it on, report/ shows it, and none of them needs to know the others.
 *
 * An algorithm with something new to tell adds it here (to kn_trace where it is the course of the search, to kn_answer
 * and kn_facts where it is about the result) and to report/json.c, which writes what is there and leaves out what is
 * not. */
#ifndef KN_BASE_OUTCOME_H
#define KN_BASE_OUTCOME_H

#include "base/sentence.h"

#include <stdint.h>

typedef enum kn_stopped {
    KN_STOPPED_DONE,
    KN_STOPPED_BUDGET,
    KN_STOPPED_TIME,
    KN_STOPPED_INTERRUPT,
    KN_STOPPED_STILL /* more work gained next to nothing */
} kn_stopped;

/* The best of which releases? Always: of all rows in classes of at least k, each released as its closure. */
typedef enum kn_optimum {
    KN_OPTIMUM_CLASSES,   /* every row is in a class */
    KN_OPTIMUM_SUPPRESSED /* or suppressed, at the price of the whole domain in every column */
} kn_optimum;

/* The theorem behind an approximation: at most `ratio` times the loss of the optimum. */
typedef struct kn_guarantee {
    const char *theorem; /* static; NULL: none */
    double ratio;
    kn_optimum optimum;
    bool holds;
    kn_say unproven; /* where it does not hold: why */
    uint32_t column; /* the quasi-identifier that this is about, or KN_NONE's value */
} kn_guarantee;

/* What no release of any kind, cell by cell under the same rules, can be below (bound/). */
typedef struct kn_lower_bound {
    double value;       /* loss, as reported; NAN: none */
    const char *method; /* static */
    bool is_partial;    /* not everything was looked at: more work could give more */
    bool is_certified;  /* --certify */
    uint64_t k;         /* persons that each class has at least */
    kn_say why;         /* there is none: UNBOUNDED_...; KN_SAY_NOTHING: there is one */
} kn_lower_bound;
static inline bool kn_is_bounded(const kn_lower_bound *bound)
{
    return bound->method != NULL && bound->why == KN_SAY_NOTHING;
}

/* One of the best nodes of a lattice. */
typedef struct kn_good_node {
    uint32_t *levels; /* n_qis */
    double loss;
    uint64_t n_suppressed;
} kn_good_node;

/* Progress of the loss: (seconds since the search began, loss of the best release so far). */
typedef struct kn_trace_point {
    double seconds, loss;
} kn_trace_point;

/* How often something happened in a search. */
typedef struct kn_trace_count {
    const char *key, *text; /* static: in the JSON, and what the explanation says */
    uint64_t n;
} kn_trace_count;

/* The course of a search. */
typedef struct kn_trace {
    KN_VECTOR(kn_trace_point) points;
    KN_VECTOR(kn_trace_point) bounds; /* the same for what was proven meanwhile: no release loses less */
    KN_VECTOR(kn_trace_count) counts;
    kn_buffer explanation; /* --explain: plain text lines, generalized values and column names only */
    bool explain;          /* wanted */
} kn_trace;
static inline void kn_trace_free(kn_trace *trace) /* what it holds, not the struct */
{
    kn_free(trace->points.items);
    kn_free(trace->bounds.items);
    kn_free(trace->counts.items);
    kn_buffer_free(&trace->explanation);
}

#endif
