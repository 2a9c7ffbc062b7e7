/* The nodes of a lattice, from the engine's table to what report/ shows. */
#ifndef KN_RUN_RUN_LATTICE_H
#define KN_RUN_RUN_LATTICE_H

#include "engine/lattice/lattice_table.h"
#include "report/lattice_facts.h"

/* `chosen` is the node to ring, by its levels; NULL: the best one. *out is yours to kn_free. */
kn_status kn_run_nodes(kn_report_node **out, const kn_lattice_table *table, const uint32_t *chosen, kn_error *err);

#endif
