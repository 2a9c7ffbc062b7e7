/* Parameters as data: what an algorithm, measure or model takes, so that flags, help, `kanon list`, the policy file
 * and the documentation come from one table and every value is checked in one place. */
#ifndef KN_BASE_PARAM_H
#define KN_BASE_PARAM_H

#include "base/memory.h"

typedef enum kn_param_type {
    KN_PARAM_INT,    /* whole number in [min, max] */
    KN_PARAM_NUMBER, /* decimal in [min, max] */
    KN_PARAM_CHOICE, /* one of the words in `choices`, separated by '|' */
    KN_PARAM_BOOL,   /* yes|no */
    KN_PARAM_TEXT
} kn_param_type;

typedef struct kn_param {
    const char *name; /* the literature's letter where there is one: "l", "t", "alpha" */
    kn_param_type type;
    bool required;
    const char *preset; /* default as text; NULL: none */
    double min, max;    /* INT and NUMBER */
    const char *choices;
    const char *help;
    bool is_data; /* its text holds values of the data: never in JSON or reports */
    bool is_list; /* TEXT: "a|b", which the policy file may write as a list */
} kn_param;

/* The values for one use of a registry entry, in the order of its params. */
typedef struct kn_arg {
    bool given;       /* by the user or by the preset */
    bool chosen;      /* by the user */
    double number;    /* INT, NUMBER; BOOL as 0 or 1; CHOICE as index of the word */
    const char *text; /* as given; owned by the kn_args */
} kn_arg;

typedef struct kn_args {
    const char *owner; /* the entry's name, for messages */
    const kn_param *params;
    size_t n;
    kn_arg *values;
} kn_args;

/* Parses "name=value,name=value" (may be NULL or empty; a ',' inside a value is written "\,"). Unknown names,
 * missing required ones, one given twice, values out of bounds: KN_USAGE, naming owner, parameter, value and bounds. */
kn_status kn_args_parse(kn_args *out, const char *owner, const kn_param *params, size_t n_params, const char *text,
                        kn_error *err);
void kn_args_free(kn_args *args);
/* One value alone, as kn_args_parse checks it. */
kn_status kn_param_check(const char *owner, const kn_param *param, const char *text, kn_error *err);

/* A decimal number as people write it: "5", "-0.5", "1e6". Not "nan", "inf", "0x10", " 5", "1e999", "5 %". */
bool kn_param_number(double *out, const char *text);

/* By name; asserts that the parameter exists. */
const kn_arg *kn_args_get(const kn_args *args, const char *name);
double kn_args_number(const kn_args *args, const char *name);
const char *kn_args_text(const kn_args *args, const char *name); /* NULL when not given */
bool kn_args_is(const kn_args *args, const char *name, const char *choice);

#endif
