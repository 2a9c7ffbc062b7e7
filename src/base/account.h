/* What a search tells besides its answer: why it ended, what is proven, how it went. Plain data: search/ writes it,
 * run/ hands it on, report/ shows it, and none of them needs to know the others.
 *
 * An algorithm with something new to tell adds it here (to kn_trace where it is the course of the search, to kn_answer
 * and kn_facts where it is about the result) and to report/json.c, which writes what is there and leaves out what is
 * not. */
#ifndef KN_BASE_ACCOUNT_H
#define KN_BASE_ACCOUNT_H

#include "base/buffer.h"

#include <stdint.h>

typedef enum kn_stopped {
    KN_STOPPED_DONE,
    KN_STOPPED_BUDGET,
    KN_STOPPED_TIME,
    KN_STOPPED_INTERRUPT,
    KN_STOPPED_STILL /* more work gained next to nothing */
} kn_stopped;

/* The theorem behind an approximation: at most `ratio` times the best possible loss. */
typedef struct kn_guarantee {
    const char *theorem; /* static; NULL: none */
    double ratio;
    bool holds; /* false: something in this run, such as suppressed rows, is outside the theorem */
} kn_guarantee;

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

/* The course of a search. */
typedef struct kn_trace {
    KN_VECTOR(kn_trace_point) points;
    kn_buffer explanation; /* --explain: plain text lines, generalized values and column names only */
    bool explain;          /* wanted */
} kn_trace;

#endif
