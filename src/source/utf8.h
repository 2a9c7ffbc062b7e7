/* Is this text? */
#ifndef KN_SOURCE_UTF8_H
#define KN_SOURCE_UTF8_H

#include <stddef.h>

/* First byte that is NUL or not valid UTF-8, or n_bytes. Eight bytes behind the text must be readable. */
size_t kn_utf8_bad_byte(const char *text, size_t n_bytes);

#endif
