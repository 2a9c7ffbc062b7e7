/* The canonical spelling of a value (kanon_arrow.h): one text per value, exact. */
#ifndef KN_SOURCE_ARROW_SPELL_H
#define KN_SOURCE_ARROW_SPELL_H

#include "source/arrow/arrow_type.h"

#define KN_SPELLED_BYTES 448 /* the longest is a decimal256 with a scale of -300 */

/* The text of a value of `type`, which is no string; `raw` has type->width bytes. Returns its length; 0 when the bytes
 * are no value of the type (a time of day beyond 24 hours). Not for NaN. */
size_t kn_arrow_spell(char out[KN_SPELLED_BYTES], const kn_arrow_type *type, const void *raw);
bool kn_arrow_is_nan(const kn_arrow_type *type, const void *raw);

#endif
