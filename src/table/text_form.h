/* How a table looks as a text file: a release is written like the table it comes from. */
#ifndef KN_TABLE_TEXT_FORM_H
#define KN_TABLE_TEXT_FORM_H

#include <stdbool.h>

typedef struct kn_text_form {
    char delimiter;
    bool has_header;
    const char *line_end; /* "\n" or "\r\n"; static */
} kn_text_form;

#endif
