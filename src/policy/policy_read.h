/* What the parts of a policy file are read with: policy_file.c the file, policy_columns.c and policy_models.c what
 * stands under their keys, policy_mapping.c the rest. Inside the folder only. */
#ifndef KN_POLICY_POLICY_READ_H
#define KN_POLICY_POLICY_READ_H

#include "base/yaml.h"
#include "policy/settings.h"

enum { KN_POLICY_PLACE_BYTES = KN_SHOWN_BYTES, KN_POLICY_MOST_SLIPS = 50 };

typedef struct kn_policy_loader {
    kn_settings *settings;
    kn_entries_fn *entries;
    const char *path;
    kn_error *err;
} kn_policy_loader;

/* One key of a mapping: what reads its value, and the option that a plain value becomes. */
typedef struct kn_policy_key kn_policy_key;
typedef kn_status kn_policy_read_fn(kn_policy_loader *load, const kn_policy_key *field, const kn_yaml *value,
                                    const char *where, void *context);
struct kn_policy_key {
    const char *name;
    kn_policy_read_fn *read;
    const char *option;
};

/* The keys whose values have files of their own. */
kn_policy_read_fn kn_policy_read_columns, kn_policy_read_models, kn_policy_read_entry;
/* A plain value; yes, no, true or false (the option for `header` says the opposite of the key: no-header). */
kn_policy_read_fn kn_policy_read_option, kn_policy_read_switch;
/* Every key by its row of the table; slips are noted. `inside`: how messages call the mapping. */
kn_status kn_policy_read_mapping(kn_policy_loader *load, const kn_yaml *node, const char *inside,
                                 const kn_policy_key *keys, size_t n_keys, const char *where, void *context);

/* The text of a scalar, yours to kn_free; an error for anything else. */
kn_status kn_policy_text(char **out, kn_policy_loader *load, const char *name, const kn_yaml *node, const char *where);
/* "policy.yaml:12:5" of a scalar; for lists and mappings their key's place stands. */
const char *kn_policy_place(char buffer[KN_POLICY_PLACE_BYTES], const kn_policy_loader *load, const kn_yaml *node,
                            const char *otherwise);
/* The same with the key, for settings that are checked where nobody sees the key any more: "policy.yaml:12:5: seed". */
const char *kn_policy_place_key(char buffer[KN_POLICY_PLACE_BYTES], const kn_policy_loader *load, const char *name,
                                const kn_yaml *node, const char *otherwise);
/* ["a", "b|c"] as a|b\|c, or with commas between. */
kn_status kn_policy_append_list(kn_buffer *out, kn_policy_loader *load, const char *name, const kn_yaml *list,
                                char separator, const char *where);
/* Commas are escaped, because options separate lists and parameters by them; and `also`, unless it is 0. */
void kn_policy_escape(kn_buffer *out, const char *text, char also);

size_t kn_policy_n_slips(const kn_policy_loader *load);
/* KN_OK: the slip is noted, go on. Anything else ends the reading: memory, or a file that is no policy at all. */
kn_status kn_policy_note_slip(kn_policy_loader *load, kn_status status);
/* An error whose place is taken out of its message. */
kn_status kn_policy_slip_placed(kn_status status, const char *path, kn_error *err);

#endif
