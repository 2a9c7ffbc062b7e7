/* The ledger of releases: a private file beside the policy that knows which tables were released, by keyed hashes, so
 * that a run can say that this one was. */
#ifndef KN_RUN_LEDGER_H
#define KN_RUN_LEDGER_H

#include "run/input.h"

typedef struct kn_ledger kn_ledger;

/* The ledger that the request names, made where there is none; NULL: it names none. Before the table is read, so that
 * what is wrong with it costs no search. KN_INPUT where the file is no ledger or others may read it. */
kn_status kn_ledger_open(kn_ledger **out, const kn_input *input, kn_error *err);
void kn_ledger_close(kn_ledger *ledger);
/* Warns of earlier releases of the table, or of one that shares rows with it, and notes this one. `release_path` NULL:
 * it stays in memory. Nothing is done without a ledger. */
kn_status kn_ledger_enter(kn_ledger *ledger, kn_input *input, const char *release_path, kn_error *err);

#endif
