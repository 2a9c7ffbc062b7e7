/* The names of the columns that a table has and that settings speak of, each once, so that a policy of thousands of
 * columns is not searched for each of them. Inside the folder only. */
#ifndef KN_POLICY_COLUMN_NAMES_H
#define KN_POLICY_COLUMN_NAMES_H

#include "policy/settings.h"

typedef struct kn_known_name {
    char *name;
    size_t n_bytes;
    uint32_t column;        /* of the table; KN_NONE: it has none of that name */
    bool has_role;          /* by some setting */
    bool is_listed;         /* the policy gives it a role */
    kn_role listed_role;    /* the last one */
    uint32_t listed_behind; /* the column that the policy lists before it; KN_NONE: none, or one that is not there */
    bool is_missing;        /* a problem says so */
    uint32_t meant;         /* of a missing one: the column that may be meant, or KN_NONE */
    bool is_meant;          /* of a column: some missing name may mean it */
} kn_known_name;

typedef struct kn_column_names {
    KN_VECTOR(kn_known_name) items; /* first the table's columns, in their order */
    uint32_t n_new;                 /* columns of the table that no setting gives a role */
    uint32_t *slots;                /* of a hash table: item + 1 */
    size_t n_slots;                 /* a power of two */
} kn_column_names;

kn_status kn_column_names_make(kn_column_names *out, const kn_settings *settings, const char *const *columns,
                               uint32_t n_columns, kn_error *err);
/* NULL: nobody said it. `name` need not end after n_bytes. What is returned lives until a name is added. */
kn_known_name *kn_column_names_find(const kn_column_names *names, const char *name, size_t n_bytes);
/* The same; a new name is added. */
kn_status kn_column_names_add(kn_known_name **out, kn_column_names *names, const char *name, size_t n_bytes,
                              kn_error *err);
void kn_column_names_free(kn_column_names *names); /* what it holds */

/* KN_USAGE for a policy's "COLUMN=VALUE" whose value means nothing for any column, or nothing for one of its role; a
 * column without one may be a quasi-identifier. */
kn_status kn_setting_check_detail(const kn_settings *settings, const kn_column_names *names, const kn_setting *setting,
                                  kn_error *err);

#endif
