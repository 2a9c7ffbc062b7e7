/* What a job did and decided, line by line while it runs: `-v`. Nobody listens: nothing is made. Always on the thread
 * that called the job. */
#ifndef KN_RUN_NOTES_H
#define KN_RUN_NOTES_H

#include "run/input.h"

void kn_note(const kn_input *input, const char *format, ...) KN_PRINTF(2, 3);
/* "search                1.25 s" */
void kn_note_stage(const kn_input *input, const char *stage, double seconds);
void kn_note_table(const kn_input *input);   /* after it was read */
void kn_note_columns(const kn_input *input); /* after the encoding: what becomes of every quasi-identifier */
void kn_note_goals(const kn_input *input);   /* after kn_input_goals */

#endif
