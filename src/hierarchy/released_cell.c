/* Reading released cells: docs/cells.md as code.
 *
 *   *                      anything
 *   a value                as the data spells it
 *   a label                with a tree: everything below the nodes of that name
 *   {a|b}                  one of the values
 *   a..b  a..<b  a..  ..b  from a to b, both included; without b; without an end
 *   2024-Q2                a period of the calendar, alone or as an end
 *   48***                  a mask: values that agree outside the stars and are no longer
 *   [a,b)                  an old way to write a..<b
 * In sets and intervals '\' takes the next character literally. Where a text can be read in two ways, it covers what
 * either covers: the attacker cannot exclude anybody by it. */
#include "hierarchy/released_cell.h"

#include "table/natural.h"

#include <math.h>
#include <string.h>

enum { MAX_NUMBER_BYTES = 400 };

static bool bytes_equal(kn_bytes a, kn_bytes b) { return a.n == b.n && memcmp(a.bytes, b.bytes, a.n) == 0; }

/* --- Values ------------------------------------------------------------------------------------------------------- */

static bool read_moment(kn_moment *out, const kn_cell_reading *reading, kn_bytes text)
{
    return kn_date_parse(out, text.bytes, text.n, KN_DATE_CLEAR | reading->form);
}

void kn_known_value_read(kn_known_value *out, const kn_cell_reading *reading, const char *bytes, size_t n)
{
    kn_moment moment;
    *out = (kn_known_value){.text = {bytes, n}, .is_missing = n == 0};
    switch (reading->type) {
    case KN_TYPE_INT:
    case KN_TYPE_DECIMAL:
        out->is_number =
            n < MAX_NUMBER_BYTES && kn_decimal_parse(&out->decimal, bytes, n, reading->leading_zeros) != KN_NUMBER_NONE;
        break;
    case KN_TYPE_DATE:
        out->is_time = read_moment(&moment, reading, out->text);
        if (out->is_time) out->time = kn_moment_number(&moment);
        break;
    default: break;
    }
}

static bool is_number_type(kn_type type) { return type == KN_TYPE_INT || type == KN_TYPE_DECIMAL; }

bool kn_known_value_equal(const kn_known_value *a, const kn_known_value *b)
{
    if (bytes_equal(a->text, b->text)) return true;
    if (a->is_number && b->is_number) return kn_decimal_compare(&a->decimal, &b->decimal) == 0;
    return a->is_time && b->is_time && a->time == b->time;
}

/* A day, a moment or a period, as an end of an interval or alone. */
static bool read_time(double *from, double *to, const kn_cell_reading *reading, kn_bytes text)
{
    kn_moment moment;
    if (read_moment(&moment, reading, text)) {
        *from = kn_moment_number(&moment);
        *to = moment.has_time ? nextafter(*from, INFINITY) : *from + 1;
        return true;
    }
    return kn_period_parse(from, to, text.bytes, text.n);
}

/* --- Intervals ---------------------------------------------------------------------------------------------------- */

/* Without the escapes, in place: `scratch` may be the text itself. */
static kn_bytes unescaped(char *scratch, kn_bytes text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (text.bytes[i] == '\\' && i + 1 < text.n) i++;
        scratch[n++] = text.bytes[i];
    }
    return (kn_bytes){scratch, n};
}

/* Where an unescaped ".." is, or text.n. */
static size_t find_dots(kn_bytes text)
{
    for (size_t i = 0; i + 1 < text.n; i++) {
        if (text.bytes[i] == '\\') i++;
        else if (text.bytes[i] == '.' && text.bytes[i + 1] == '.') return i;
    }
    return text.n;
}

/* The place of a text in "a<b<c", or -1. */
static double place_in_order(const char *order, kn_bytes text)
{
    double place = 0;
    for (const char *at = order;; at++, place++) {
        size_t n_same = 0, n = 0, n_kept = 0;
        bool same = true;
        while (*at == ' ') at++;
        for (; *at != '\0' && *at != '<'; at++, n++) {
            bool escaped = *at == '\\' && at[1] != '\0';
            if (escaped) at++;
            bool is_end_blank = !escaped && *at == ' ';
            if (!is_end_blank) n_kept = n + 1;
            if (n < text.n && text.bytes[n] == *at) n_same++;
            else same = same && is_end_blank && n >= text.n;
        }
        if (same && n_kept == text.n && n_same >= text.n) return place;
        if (*at == '\0') return -1;
    }
}

static bool is_natural(const kn_cell_reading *reading) { return reading->is_natural && reading->type == KN_TYPE_TEXT; }

static bool read_ends(kn_released_cell *out, const kn_cell_reading *reading, kn_bytes low, kn_bytes high)
{
    char scratch[2][MAX_NUMBER_BYTES];
    double ignored;
    out->has_low = low.n > 0;
    out->has_high = high.n > 0;
    if ((!out->has_low && !out->has_high) || low.n >= MAX_NUMBER_BYTES || high.n >= MAX_NUMBER_BYTES) return false;
    out->from = -INFINITY;
    out->to = INFINITY;
    if (reading->order != NULL) {
        if (out->has_low) out->from = place_in_order(reading->order, unescaped(scratch[0], low));
        if (out->has_high) out->to = place_in_order(reading->order, unescaped(scratch[1], high));
        return out->from != -1 && out->to != -1;
    }
    if (reading->type == KN_TYPE_DATE) {
        double start = -INFINITY;
        if (out->has_low && !read_time(&out->from, &ignored, reading, unescaped(scratch[0], low))) return false;
        if (out->has_high && !read_time(&start, &out->to, reading, unescaped(scratch[1], high))) return false;
        if (out->is_open && out->has_high) out->to = start;
        return true;
    }
    if (memchr(low.bytes, '\\', low.n) != NULL && low.n < KN_END_BYTES) low = unescaped(out->ends[0], low);
    if (memchr(high.bytes, '\\', high.n) != NULL && high.n < KN_END_BYTES) high = unescaped(out->ends[1], high);
    kn_known_value_read(&out->low, reading, low.bytes, low.n);
    kn_known_value_read(&out->high, reading, high.bytes, high.n);
    if (is_natural(reading)) return true;
    return is_number_type(reading->type) && (!out->has_low || out->low.is_number) &&
           (!out->has_high || out->high.is_number);
}

static bool read_interval(kn_released_cell *out, const kn_cell_reading *reading, kn_bytes text)
{
    size_t dots = find_dots(text);
    if (dots == text.n) {
        const char *comma = memchr(text.bytes, ',', text.n);
        if (text.n < 5 || text.bytes[0] != '[' || text.bytes[text.n - 1] != ')' || comma == NULL) return false;
        out->is_open = true;
        return read_ends(out, reading, (kn_bytes){text.bytes + 1, (size_t)(comma - text.bytes) - 1},
                         (kn_bytes){comma + 1, text.n - (size_t)(comma - text.bytes) - 2});
    }
    kn_bytes high = {text.bytes + dots + 2, text.n - dots - 2};
    out->is_open = high.n > 0 && high.bytes[0] == '<';
    if (out->is_open) high.bytes++, high.n--;
    return read_ends(out, reading, (kn_bytes){text.bytes, dots}, high);
}

static bool interval_covers(const kn_released_cell *cell, const kn_cell_reading *reading, const kn_known_value *value)
{
    if (reading->order != NULL) {
        double place = place_in_order(reading->order, value->text);
        return place >= 0 && cell->from <= place && place <= cell->to;
    }
    if (reading->type == KN_TYPE_DATE) return value->is_time && cell->from <= value->time && value->time < cell->to;
    if (is_natural(reading)) {
        const kn_bytes low = cell->low.text, high = cell->high.text, text = value->text;
        return (!cell->has_low || kn_natural_compare(low.bytes, low.n, text.bytes, text.n) <= 0) &&
               (!cell->has_high || kn_natural_compare(text.bytes, text.n, high.bytes, high.n) <= 0);
    }
    if (!value->is_number) return false;
    if (cell->has_low && kn_decimal_compare(&cell->low.decimal, &value->decimal) > 0) return false;
    if (!cell->has_high) return true;
    int order = kn_decimal_compare(&value->decimal, &cell->high.decimal);
    return cell->is_open ? order < 0 : order <= 0;
}

/* --- Sets, masks, labels ------------------------------------------------------------------------------------------ */

/* The whole text is one set: the first unescaped } ends it. */
static bool is_set(kn_bytes text)
{
    if (text.n < 2 || text.bytes[0] != '{') return false;
    for (size_t i = 1; i < text.n; i++) {
        if (text.bytes[i] == '\\') i++;
        else if (text.bytes[i] == '}') return i + 1 == text.n;
    }
    return false;
}

/* \N: the missing cell. */
static bool is_missing_mark(kn_bytes raw) { return raw.n == 2 && raw.bytes[0] == '\\' && raw.bytes[1] == 'N'; }

bool kn_released_set_next(kn_bytes *member, const kn_released_cell *cell, size_t *at, char *scratch)
{
    size_t start = *at;
    if (start >= cell->text.n) return false;
    for (; *at + 1 < cell->text.n && cell->text.bytes[*at] != '|'; ++*at)
        if (cell->text.bytes[*at] == '\\') ++*at;
    kn_bytes raw = {cell->text.bytes + start, *at - start};
    *member = is_missing_mark(raw) ? (kn_bytes){"", 0} : unescaped(scratch, raw);
    ++*at;
    return true;
}

static bool set_covers(const kn_released_cell *cell, const kn_cell_reading *reading, const kn_known_value *value)
{
    size_t start = 1;
    for (size_t i = 1; i < cell->text.n; i++) {
        char scratch[MAX_NUMBER_BYTES];
        if (cell->text.bytes[i] == '\\') {
            i++;
            continue;
        }
        if (cell->text.bytes[i] != '|' && i + 1 < cell->text.n) continue;
        kn_bytes part = {cell->text.bytes + start, i - start};
        start = i + 1;
        if (is_missing_mark(part)) continue;
        if (part.n >= MAX_NUMBER_BYTES) { /* too long for a number: byte by byte */
            size_t a = 0, b = 0;
            for (; a < part.n && b < value->text.n; a++, b++) {
                if (part.bytes[a] == '\\') a++;
                if (part.bytes[a] != value->text.bytes[b]) break;
            }
            if (a == part.n && b == value->text.n) return true;
            continue;
        }
        kn_known_value member;
        part = unescaped(scratch, part);
        kn_known_value_read(&member, reading, part.bytes, part.n);
        if (kn_known_value_equal(&member, value)) return true;
    }
    return false;
}

/* Stars at one end, something else at the other. */
static bool is_mask(kn_bytes text)
{
    if (text.n < 2) return false;
    bool left = text.bytes[0] == '*', right = text.bytes[text.n - 1] == '*';
    size_t n_stars = 0;
    for (size_t i = 0; i < text.n; i++) n_stars += text.bytes[i] == '*';
    if (n_stars == text.n) return true;
    size_t n_run = 0;
    while (left && text.bytes[n_run] == '*') n_run++;
    while (!left && right && text.bytes[text.n - 1 - n_run] == '*') n_run++;
    return left != right && n_run == n_stars;
}

static size_t count_characters(const char *bytes, size_t n)
{
    size_t n_characters = 0;
    for (size_t i = 0; i < n; i++) n_characters += ((unsigned char)bytes[i] & 0xC0) != 0x80;
    return n_characters;
}

static bool mask_covers(kn_bytes mask, kn_bytes value)
{
    size_t n_stars = 0;
    bool left = mask.bytes[0] == '*';
    for (size_t i = 0; i < mask.n; i++) n_stars += mask.bytes[i] == '*';
    size_t n_kept = mask.n - n_stars;
    if (value.n < n_kept) return false;
    const char *kept = left ? mask.bytes + n_stars : mask.bytes;
    const char *there = left ? value.bytes + value.n - n_kept : value.bytes;
    const char *rest = left ? value.bytes : value.bytes + n_kept;
    return memcmp(kept, there, n_kept) == 0 && count_characters(rest, value.n - n_kept) <= n_stars;
}

static bool has_label(const kn_tree *tree, kn_bytes text) { return kn_tree_find(tree, text.bytes, text.n) != KN_NONE; }

/* Below any node of that name. */
static bool label_covers(const kn_released_cell *cell, const kn_cell_reading *reading, const kn_known_value *value)
{
    const kn_tree *tree = reading->tree;
    for (uint32_t leaf = 0; leaf < tree->n_leaves; leaf++) {
        kn_bytes name;
        kn_known_value there;
        name.bytes = kn_tree_label(tree, leaf, &name.n);
        kn_known_value_read(&there, reading, name.bytes, name.n);
        if (!kn_known_value_equal(&there, value)) continue;
        for (uint32_t node = leaf;; node = tree->parent[node]) {
            name.bytes = kn_tree_label(tree, node, &name.n);
            if (bytes_equal(name, cell->text)) return true;
            if (tree->parent[node] == node) break;
        }
    }
    return false;
}

/* --- Cells -------------------------------------------------------------------------------------------------------- */

/* What a text is that no brackets, dots or stars make a generalization. */
static kn_cell_kind kind_of_word(const kn_cell_reading *reading, const kn_known_value *value)
{
    if (value->is_number || value->is_time) return KN_CELL_VALUE;
    if (reading->tree != NULL && !reading->words_are_values) return KN_CELL_UNREADABLE; /* neither label nor number */
    if (reading->order != NULL)
        return place_in_order(reading->order, value->text) >= 0 ? KN_CELL_VALUE : KN_CELL_UNREADABLE;
    if (reading->type != KN_TYPE_TEXT) return KN_CELL_UNREADABLE;
    return reading->words_are_values ? KN_CELL_VALUE : KN_CELL_WORD;
}

/* `town group 2.1`; see hierarchy/auto_tree.c. */
static bool is_group(const kn_cell_reading *reading, kn_bytes text)
{
    static const char middle[] = " group ";
    if (reading->group_of == NULL) return false;
    const char *name = reading->group_of + strspn(reading->group_of, " ");
    const size_t n_name = strlen(name), n_before = n_name + strlen(middle);
    if (text.n <= n_before || memcmp(text.bytes, name, n_name) != 0) return false;
    if (memcmp(text.bytes + n_name, middle, strlen(middle)) != 0) return false;
    for (size_t i = n_before; i < text.n; i++)
        if (strchr("0123456789.'", text.bytes[i]) == NULL || text.bytes[i] == '\0') return false;
    return true;
}

void kn_released_cell_read(kn_released_cell *out, const kn_cell_reading *reading, const char *bytes, size_t n)
{
    const kn_bytes text = {bytes, n};
    *out = (kn_released_cell){.text = text};
    kn_known_value_read(&out->value, reading, bytes, n);
    if (n == 0 || (n == 1 && bytes[0] == '*')) out->kind = KN_CELL_ANY;
    else if (reading->tree != NULL && has_label(reading->tree, text)) out->kind = KN_CELL_LABEL;
    else if (is_group(reading, text)) out->kind = KN_CELL_ANY;
    else if (is_set(text)) out->kind = KN_CELL_SET;
    else if (read_interval(out, reading, text)) out->kind = KN_CELL_INTERVAL;
    else if (reading->type == KN_TYPE_DATE && !out->value.is_time &&
             kn_period_parse(&out->from, &out->to, text.bytes, text.n))
        out->kind = KN_CELL_INTERVAL;
    else if (is_mask(text)) out->kind = KN_CELL_MASK;
    else if (find_dots(text) < n && find_dots(text) > 0 && find_dots(text) + 2 < n) out->kind = KN_CELL_UNREADABLE;
    else out->kind = kind_of_word(reading, &out->value);
}

/* A day holds its times. */
static bool day_covers(const kn_released_cell *cell, const kn_known_value *value)
{
    if (!cell->value.is_time || !value->is_time || memchr(cell->text.bytes, ':', cell->text.n) != NULL) return false;
    return cell->value.time <= value->time && value->time < cell->value.time + 1;
}

bool kn_released_cell_covers(const kn_released_cell *cell, const kn_cell_reading *reading, const kn_known_value *value)
{
    if (cell->kind == KN_CELL_ANY || value->is_missing) return true;
    if (kn_known_value_equal(&cell->value, value)) return true; /* whatever else it may mean */
    switch (cell->kind) {
    case KN_CELL_SET: return set_covers(cell, reading, value);
    case KN_CELL_INTERVAL: return interval_covers(cell, reading, value);
    case KN_CELL_MASK: return mask_covers(cell->text, value->text);
    case KN_CELL_LABEL: return label_covers(cell, reading, value);
    case KN_CELL_VALUE: return day_covers(cell, value);
    default: return false;
    }
}

const char *kn_released_cell_why(const kn_cell_reading *reading)
{
    if (reading->tree != NULL) return "it is no label of the hierarchy that was given, and no value either";
    if (reading->order != NULL) return "it is neither a value of order() nor an interval of them";
    switch (reading->type) {
    case KN_TYPE_INT:
    case KN_TYPE_DECIMAL: return "the attacker's cells are numbers, and it is neither a number nor a label of numbers";
    case KN_TYPE_DATE: return "the attacker's cells are dates, and it is neither a date nor a label of dates";
    default: return "it is an interval, and the attacker's cells are text, which has no order";
    }
}
