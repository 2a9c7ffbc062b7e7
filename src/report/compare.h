/* Several releases of one table side by side: what each costs and what each risks. */
#ifndef KN_REPORT_COMPARE_H
#define KN_REPORT_COMPARE_H

#include "base/buffer.h"
#include "report/page_origin.h"
#include "report/text.h"

#include <stdint.h>

typedef struct kn_compare_row {
    char *algorithm; /* as asked for, with parameters */
    uint64_t k;
    double loss, average_risk, highest_risk, seconds;
    uint64_t n_classes, n_suppressed;
    bool on_frontier; /* no other row is better in loss or average risk and as good in the other */
    char *refusal;    /* why there is no release; NULL: there is one */
} kn_compare_row;

typedef struct kn_compare {
    const char *data_name, *measure;
    kn_page_origin origin;
    kn_compare_row *rows;
    size_t n_rows;
} kn_compare;

/* Marks the rows on the frontier. */
void kn_compare_frontier(kn_compare *compare);
kn_status kn_compare_text(char **out, const kn_compare *compare, kn_error *err);
kn_status kn_compare_csv(char **out, const kn_compare *compare, kn_error *err);
kn_status kn_compare_json(char **out, const kn_compare *compare, kn_error *err);
kn_status kn_compare_html(char **out, const kn_compare *compare, kn_language language, kn_error *err);

#endif
