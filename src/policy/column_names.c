/* A hash table with open addressing over names. */
#include "policy/column_names.h"

#include "base/hash.h"
#include "base/words.h"

#include <string.h>

/* The slot of the name, or the free one where it belongs. */
static size_t slot_of(const kn_column_names *names, const char *name, size_t n_bytes)
{
    size_t slot = (size_t)kn_hash_bytes(name, n_bytes) & (names->n_slots - 1);
    for (; names->slots[slot] != 0; slot = (slot + 1) & (names->n_slots - 1)) {
        const kn_known_name *item = &names->items.items[names->slots[slot] - 1];
        if (item->n_bytes == n_bytes && memcmp(item->name, name, n_bytes) == 0) break;
    }
    return slot;
}

static kn_status slots_grow(kn_column_names *names, kn_error *err)
{
    kn_status status = KN_OK;
    if (2 * (names->items.n + 1) <= names->n_slots) return KN_OK;
    kn_free(names->slots);
    names->slots = NULL;
    names->n_slots = 4 * (names->items.n + 8);
    while ((names->n_slots & (names->n_slots - 1)) != 0) names->n_slots &= names->n_slots - 1;
    KN_NEW(names->slots, names->n_slots);
    for (size_t i = 0; i < names->items.n; i++)
        names->slots[slot_of(names, names->items.items[i].name, names->items.items[i].n_bytes)] = (uint32_t)i + 1;
done:
    if (status != KN_OK) names->n_slots = 0;
    return status;
}

kn_known_name *kn_column_names_find(const kn_column_names *names, const char *name, size_t n_bytes)
{
    if (names->n_slots == 0) return NULL;
    const uint32_t item = names->slots[slot_of(names, name, n_bytes)];
    return item != 0 ? &names->items.items[item - 1] : NULL;
}

kn_status kn_column_names_add(kn_known_name **out, kn_column_names *names, const char *name, size_t n_bytes,
                              kn_error *err)
{
    kn_status status = KN_OK;
    kn_known_name item = {.n_bytes = n_bytes, .column = KN_NONE, .listed_behind = KN_NONE, .meant = KN_NONE};
    *out = kn_column_names_find(names, name, n_bytes);
    if (*out != NULL) return KN_OK;
    item.name = kn_string_copy(name, n_bytes, err);
    if (item.name == NULL) return KN_RESOURCES;
    KN_TRY(slots_grow(names, err));
    KN_PUSH(&names->items, item);
    item.name = NULL;
    names->slots[slot_of(names, name, n_bytes)] = (uint32_t)names->items.n;
    *out = &names->items.items[names->items.n - 1];
done:
    kn_free(item.name);
    return status;
}

/* `before`: the column that the policy listed last. */
static kn_status add_role(kn_column_names *names, uint32_t *before, const kn_setting *setting, kn_error *err)
{
    kn_status status = KN_OK;
    kn_known_name *known;
    char *name = NULL;
    KN_NEW(name, strlen(setting->value) + 1);
    for (const char *from = setting->value; kn_words_next(name, &from);) {
        KN_TRY(kn_column_names_add(&known, names, name, strlen(name), err));
        known->has_role = true;
        if (setting->where == NULL) continue;
        if (!known->is_listed) known->listed_behind = *before;
        known->is_listed = true;
        known->listed_role = setting->field->role;
        *before = known->column;
    }
done:
    kn_free(name);
    return status;
}

kn_status kn_column_names_make(kn_column_names *out, const kn_settings *settings, const char *const *columns,
                               uint32_t n_columns, kn_error *err)
{
    static const char *const special[] = {"person", "count", "person-count"};
    kn_status status = KN_OK;
    kn_known_name *known;
    uint32_t before = KN_NONE;
    *out = (kn_column_names){0};
    for (uint32_t c = 0; c < n_columns; c++) {
        KN_TRY(kn_column_names_add(&known, out, columns[c], strlen(columns[c]), err));
        known->column = c;
    }
    for (size_t i = 0; i < settings->items.n; i++)
        if (settings->items.items[i].field->kind == KN_FIELD_ROLE)
            KN_TRY(add_role(out, &before, &settings->items.items[i], err));
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        const char *column = kn_settings_text(settings, special[i]);
        if (column == NULL) continue;
        KN_TRY(kn_column_names_add(&known, out, column, strlen(column), err));
        known->has_role = true;
    }
    for (uint32_t c = 0; c < n_columns; c++) out->n_new += !out->items.items[c].has_role;
done:
    if (status != KN_OK) kn_column_names_free(out);
    return status;
}

void kn_column_names_free(kn_column_names *names)
{
    for (size_t i = 0; i < names->items.n; i++) kn_free(names->items.items[i].name);
    kn_free(names->items.items);
    kn_free(names->slots);
    *names = (kn_column_names){0};
}
