/* The sensitive column that a measure looks at: named by `column=`, otherwise the table's first. */
#ifndef KN_MEASURE_CLASS_COLUMN_H
#define KN_MEASURE_CLASS_COLUMN_H

#include "measure/measure.h"

#define KN_CLASS_COLUMN_PARAM                                                                                          \
    {                                                                                                                  \
        .name = "column", .type = KN_PARAM_TEXT, .help = "sensitive column to look at; the first by default"           \
    }

#define KN_CLASS_JOINT_PARAM                                                                                           \
    {                                                                                                                  \
        .name = "joint", .type = KN_PARAM_BOOL,                                                                        \
        .help = "look at all sensitive columns together, as one column of their combinations"                          \
    }

bool kn_measure_is_joint(const kn_args *args);
/* Its number among tuples->sensitive; KN_USAGE when there is none of that name. */
kn_status kn_class_column(uint32_t *out, const kn_tuples *tuples, const kn_args *args, kn_error *err);
/* H of a histogram, in bits. */
double kn_histogram_entropy(const kn_histogram *histogram);
/* H of a sensitive column in the whole table, in bits. */
double kn_sensitive_entropy(const kn_sensitive *sensitive);

#endif
