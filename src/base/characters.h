/* Characters of UTF-8: where one ends, and texts that are cut between two of them. */
#ifndef KN_BASE_CHARACTERS_H
#define KN_BASE_CHARACTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KN_ELLIPSIS "\xE2\x80\xA6" /* stands where a text was cut */

/* How many bytes of a character stand at `at`; 0: none does. */
size_t kn_character_bytes(const char *at, size_t n_bytes);

/* The character at *at, which is moved behind it; of valid UTF-8 that is not at its end. */
uint32_t kn_character_next(const char **at);

/* How much of a text to show where there is room for `most` bytes: all of it, or as much as ends between characters. */
size_t kn_text_cut(const char *text, size_t n_bytes, size_t most);

/* Does it hold letters that are written from right to left? In a text of the other direction such a text, and whatever
 * signs stand behind it, comes out in an order that nobody wrote, unless it is isolated. */
bool kn_has_right_to_left(const char *text);
#define KN_ISOLATE     "\xE2\x81\xA8" /* U+2068, as <bdi> in HTML */
#define KN_ISOLATE_END "\xE2\x81\xA9" /* U+2069 */

/* Makes UTF-8 of a text that printf cut inside a character ("%.40s"): an ellipsis takes the place of what is left of
 * it. Other bytes that are no character, as file names may have, become U+FFFD. `text` has room for `n_bytes`, the NUL
 * among them; what finds none at its end is left out. */
void kn_text_mend(char *text, size_t n_bytes);

#endif
