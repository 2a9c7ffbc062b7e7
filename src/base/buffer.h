/* Text that grows: messages, JSON, HTML, cells. */
#ifndef KN_BASE_BUFFER_H
#define KN_BASE_BUFFER_H

#include "base/memory.h"

/* Zero-initialise it. After a failed append `failed` stays set and further appends do nothing, so a long sequence
 * of appends is checked once, with kn_buffer_finish. `bytes` is NUL-terminated once something was appended. */
typedef struct kn_buffer {
    char *bytes;
    size_t n, capacity;
    bool failed;
} kn_buffer;

/* Room for n more bytes and a NUL; false, and `failed` set, when there is none. */
bool kn_buffer_reserve(kn_buffer *buffer, size_t n_bytes);
void kn_buffer_append(kn_buffer *buffer, const char *bytes, size_t n_bytes);
void kn_buffer_text(kn_buffer *buffer, const char *text);
void kn_buffer_char(kn_buffer *buffer, char c);
void kn_buffer_printf(kn_buffer *buffer, const char *format, ...) KN_PRINTF(2, 3);
/* In double quotes, those inside it doubled; as a cell of a CSV file, in quotes only where a reader needs them. All CSV
 * of kanon is written with these. */
void kn_buffer_quoted(kn_buffer *buffer, const char *bytes, size_t n_bytes);
void kn_buffer_cell(kn_buffer *buffer, const char *bytes, size_t n_bytes, char delimiter);
/* At most so many bytes of a text, cut between characters, and then "…". */
void kn_buffer_cut(kn_buffer *buffer, const char *text, size_t most_bytes);
/* As many columns of a terminal: cut between characters, the last one "…", or filled up with blanks. East Asian
 * characters take two columns, combining marks none. */
void kn_buffer_padded(kn_buffer *buffer, const char *text, unsigned n_columns);
unsigned kn_text_columns(const char *text);
void kn_buffer_clear(kn_buffer *buffer); /* keeps the memory */
void kn_buffer_free(kn_buffer *buffer);
/* Hands the text over to *out (kn_free it) and empties the buffer; KN_RESOURCES when an append had failed. */
kn_status kn_buffer_finish(char **out, kn_buffer *buffer, kn_error *err);

#endif
