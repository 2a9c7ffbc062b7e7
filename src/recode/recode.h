/* Apply the answer: classes, cells, suppressed rows. */
#ifndef KN_RECODE_RECODE_H
#define KN_RECODE_RECODE_H

#include "search/search.h"
#include "source/source.h"

/* Classes of equal cells are merged; rows of classes that break a model are suppressed; the suppressed rows stay only
 * if there are none or their class satisfies every model, otherwise they are removed. KN_NOT_MET when more rows are
 * suppressed than the task allows, or no row is left of a table that had some. */
kn_status kn_recode(kn_release **out, const kn_answer *answer, const kn_task *task, kn_error *err);

/* Recodings by cut points: the cells, written for the released rows; parts that are nodes of a hierarchy only with
 * `nodes_too`, otherwise they stay. *changed: some cell was another one. */
kn_status kn_release_cut_cells(bool *changed, kn_release *release, const kn_answer *answer, bool nodes_too,
                               kn_error *err);
/* Labels made from the data are written for the values that released rows have; *changed: some cell now covers less,
 * or is only written differently. */
kn_status kn_release_narrow(bool *changed, kn_release *release, const kn_task *task, kn_error *err);
/* A search prices the labels that its trees have. Where a release may have narrower ones, another answer could have
 * cost less than the search knew: then the answer claims neither to be optimal nor a bound nor a ratio. */
void kn_answer_reconsider(kn_answer *answer, const kn_task *task);

typedef struct kn_release_options {
    bool guard_formulas; /* labels may carry a leading ' */
    bool may_suppress;   /* rows with * in every QI are taken as suppressed, otherwise as a class like any other */
    bool redact;
} kn_release_options;

/* --given: what an engine made of the records, read from `source`, takes the place of an answer. Labels stay as they
 * are. KN_NOT_MET when a class breaks a model, or as for kn_recode. */
kn_status kn_recode_given(kn_release **out, kn_source *source, const char *name, const kn_task *task,
                          const kn_release_options *options, kn_error *err);

/* `kanon measure`: the released table read back against the original's domains. Each QI cell becomes a kn_cell; rows
 * with equal QI cells are a class. `name` for messages. KN_INPUT naming line, column and value for a cell that is no
 * generalization. */
kn_status kn_release_read(kn_release **out, kn_source *source, const char *name, const kn_tuples *tuples,
                          const kn_release_options *options, kn_pool *pool, kn_ticker *ticker, kn_error *err);
/* The same where row i of the source is record i of the table, suppressed ones and all: with row_class, not counted
 * yet. */
kn_status kn_release_read_records(kn_release **out, kn_source *source, const char *name, const kn_tuples *tuples,
                                  const kn_release_options *options, kn_pool *pool, kn_ticker *ticker, kn_error *err);

#endif
