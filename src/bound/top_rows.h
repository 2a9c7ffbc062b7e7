/* The k largest of some rows' values, where a point stands for several rows: quickselect by number of rows. */
#ifndef KN_BOUND_TOP_ROWS_H
#define KN_BOUND_TOP_ROWS_H

#include <stdint.h>

typedef struct kn_valued_point {
    float value;
    uint32_t point;
} kn_valued_point;

typedef struct kn_top_rows {
    double sum;  /* of the k largest */
    float kth;   /* the smallest of them */
    float share; /* of the rows that have just this value, those that are among the k */
} kn_top_rows;

/* All of the rows together are at least k. Reorders. Expected cost: linear. */
static inline kn_top_rows kn_top_rows_of(kn_valued_point *all, uint32_t n, const uint32_t *rows, uint64_t k)
{
    uint32_t low = 0, high = n;
    uint64_t need = k;
    double sum = 0;
    for (;;) {
        const float pivot = all[low + (high - low) / 2].value;
        uint32_t above = low, i = low, below = high;
        uint64_t rows_above = 0, rows_equal = 0;
        double sum_above = 0;
        while (i < below) {
            const kn_valued_point this = all[i];
            if (this.value > pivot) {
                all[i++] = all[above];
                all[above++] = this;
                rows_above += rows[this.point];
                sum_above += (double)this.value * rows[this.point];
            } else if (this.value < pivot) {
                all[i] = all[--below];
                all[below] = this;
            } else {
                rows_equal += rows[this.point];
                i++;
            }
        }
        if (rows_above >= need) {
            high = above;
        } else if (rows_above + rows_equal >= need) {
            need -= rows_above;
            return (kn_top_rows){sum + sum_above + (double)pivot * (double)need, pivot,
                                 (float)((double)need / (double)rows_equal)};
        } else {
            need -= rows_above + rows_equal;
            sum += sum_above + (double)pivot * (double)rows_equal;
            low = below;
        }
    }
}

#endif
