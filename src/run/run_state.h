/* --state FILE: what a search knew when it stopped, so that it goes on later. Private like the data. */
#ifndef KN_RUN_RUN_STATE_H
#define KN_RUN_RUN_STATE_H

#include "policy/request.h"
#include "search/search.h"

typedef struct kn_state_file {
    kn_saved_search saved; /* for the task */
    const char *path;      /* borrowed */
    kn_buffer read;        /* the file, where there was one */
} kn_state_file;

/* Reads what request->state names, if it is there, before the search begins. KN_USAGE for an algorithm that cannot go
 * on, KN_INPUT for a file that is no state or a damaged one; a file that is none of ours is never replaced. */
kn_status kn_state_file_open(kn_state_file *out, const kn_request *request, const kn_algorithm *algorithm,
                             kn_error *err);
void kn_state_file_close(kn_state_file *file); /* what it holds, not the struct */

#endif
