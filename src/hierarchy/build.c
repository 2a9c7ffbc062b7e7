/* From a column and a request to a domain: which builder, then the parts that all have in common.
 *
 *   spec given         the SPEC's builder, or the file: TREE (order() without must_be_tree: RANGES, or SETS where it
 *                      is against the order that numbers and dates have)
 *   none, must_be_tree the automatic tree
 *   none               numbers and dates RANGES by value; text SETS, codes by frequency, ties by bytes
 *
 * A missing value that the hierarchy does not know becomes a leaf of its own below the root. A column without any
 * value has, under a SPEC, a tree of one leaf, *. */
#include "hierarchy/builders.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef kn_status (*builder)(kn_build *build, const char *arguments, kn_error *err);

static const kn_hierarchy_spec specs[] = {
    {"suppress", "suppress", "each value, then *"},
    {"intervals", "intervals(5,10,20)",
     "numbers in intervals of each width, aligned at its multiples; each width a multiple of the one before; then *"},
    {"mask", "mask(right) or mask(left)", "one character more replaced by * per level, from that side"},
    {"date", "date(month,quarter,year)",
     "dates in units of the calendar: day, week, month, quarter, halfyear, year, 5years, decade, century; then *"},
    {"order", "order(low<medium<high)", "text in this order, released as intervals such as low..medium"},
    {"natural", "natural",
     "text with numbers in it, such as 12 days, 40% or 9:30, in their order; released as intervals such as 9 days..12 "
     "days"},
    {"country", "country", "names or codes of countries: region, continent; then *"},
    {"icd10", "icd10", "codes of ICD-10: category, block, chapter; then *"},
    {"nace", "nace", "codes of NACE Rev. 2: group, division, section; then *"},
    {"postcode", "postcode",
     "postal codes of the US, the UK, Canada and the Netherlands: ZIP, 3 digits, 1; sector, district, area; then *"},
    {"similar", "similar",
     "text in groups of values that occur with the same values of the other quasi-identifiers; sets of up to 5 values"},
    {"auto", "auto",
     "what suits the column: round intervals, calendar units, masked codes, text by its numbers, or similar values"},
};
/* in the order of `specs` */
static const struct {
    builder build;
    bool takes_arguments;
    kn_origin origin;
} builders[] = {{kn_build_suppress, false, KN_FROM_SPEC}, {kn_build_intervals, true, KN_FROM_SPEC},
                {kn_build_mask, true, KN_FROM_DATA},      {kn_build_date, true, KN_FROM_SPEC},
                {kn_build_order, true, KN_FROM_DATA},     {kn_build_natural, false, KN_FROM_DATA},
                {kn_build_country, false, KN_FROM_SPEC},  {kn_build_icd10, false, KN_FROM_SPEC},
                {kn_build_nace, false, KN_FROM_SPEC},     {kn_build_postcode, false, KN_FROM_SPEC},
                {kn_build_similar, false, KN_FROM_DATA},  {kn_build_auto, false, KN_FROM_DATA}};
enum { N_BUILDERS = sizeof builders / sizeof *builders };

const kn_hierarchy_spec *kn_hierarchy_specs(size_t *n)
{
    *n = N_BUILDERS;
    return specs;
}

/* --- Rows of paths --------------------------------------------------------------------------------------------- */

uint32_t kn_build_first_missing(char more[64], const kn_build *build, const uint32_t *found)
{
    const kn_column *column = build->column;
    uint32_t n_missing = 0, first = KN_NONE;
    for (uint32_t s = 0; s < column->n_spellings; s++) {
        uint32_t value = kn_column_value(column, s);
        if (value >= build->n_present || found[value] != KN_NONE) continue;
        if (s == build->main_spelling[value]) n_missing++;
        if (first == KN_NONE || column->first_line[s] < column->first_line[first]) first = s;
    }
    more[0] = '\0';
    if (n_missing > 1)
        snprintf(more, 64, " (nor %s %u more value%s)", n_missing == 2 ? "is" : "are", n_missing - 1,
                 n_missing == 2 ? "" : "s");
    return first;
}

kn_status kn_build_note_lacking(const kn_build *build, const uint32_t *found, const char *in, const char *advice,
                                kn_error *err)
{
    kn_status status = KN_OK;
    const kn_column *column = build->column;
    kn_lacking *lacking = build->request->lacking;
    if (lacking == NULL) return KN_OK;
    KN_NEW(lacking->spellings, column->n_spellings);
    for (uint32_t s = 0; s < column->n_spellings; s++) {
        const uint32_t value = kn_column_value(column, s);
        lacking->spellings[s] = value < build->n_present && found[value] == KN_NONE;
    }
    snprintf(lacking->in, sizeof lacking->in, "%s", in);
    lacking->advice = advice;
done:
    return status;
}

uint32_t kn_build_first_unlike(const kn_build *build, bool (*is_like)(const char *bytes, size_t n_bytes))
{
    const kn_column *column = build->column;
    uint32_t first = KN_NONE;
    for (uint32_t s = 0; s < column->n_spellings; s++) {
        size_t n;
        const char *bytes = kn_column_bytes(column, s, &n);
        if (kn_column_value(column, s) >= build->n_present || is_like(bytes, n)) continue;
        if (first == KN_NONE || column->first_line[s] < column->first_line[first]) first = s;
    }
    return first;
}

kn_status kn_build_refuse_value(const kn_build *build, uint32_t spelling, kn_error *err, const char *format, ...)
{
    const kn_column *column = build->column;
    const unsigned long long line = column->first_line[spelling];
    char shown[KN_SHOWN_BYTES], why[sizeof err->message];
    size_t n;
    const char *bytes = kn_column_bytes(column, spelling, &n);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    return kn_error_set_at(err, KN_INPUT, KN_PLACE(.file = build->data_name, .line = line, .column = column->name),
                           "%s, line %llu, column %s: %s %s", build->data_name, line, column->name,
                           kn_value_shown(shown, bytes, n, build->request->redact), why);
}

kn_status kn_build_label(kn_build *build, const char *bytes, size_t n_bytes, kn_error *err)
{
    return kn_paths_push_label(&build->paths, bytes, n_bytes, err);
}

kn_status kn_build_leaf(kn_build *build, uint32_t value, kn_error *err)
{
    kn_status status = KN_OK;
    size_t n;
    const char *bytes = kn_build_value(build, value, &n);
    KN_TRY(kn_paths_label(&build->label_of_value[value], &build->paths, bytes, n, err));
    KN_TRY(kn_paths_push(&build->paths, build->label_of_value[value], err));
done:
    return status;
}

/* The missing value as a leaf below the root, unless it has its place already. */
static kn_status place_missing(kn_build *build, kn_error *err)
{
    kn_status status = KN_OK;
    kn_paths *paths = &build->paths;
    uint32_t missing = build->n_present, label;
    size_t n;
    if (!build->column->has_missing || build->label_of_value[missing] != KN_NONE) goto done;
    const char *bytes = kn_build_value(build, missing, &n);
    KN_TRY(kn_paths_own_label(&label, paths, bytes, n, err));
    build->label_of_value[missing] = label;
    if (paths->n_levels < 2) { /* a lone leaf, or nothing: there is no root to stand below yet */
        uint32_t root, n_rows = kn_paths_rows(paths), lone = n_rows > 0 ? paths->cells.items[0] : KN_NONE;
        KN_TRY(kn_paths_label(&root, paths, "*", 1, err));
        paths->cells.n = 0;
        paths->n_levels = 2;
        if (n_rows > 0) {
            KN_TRY(kn_paths_push(paths, lone, err));
            KN_TRY(kn_paths_push(paths, root, err));
        }
        KN_TRY(kn_paths_push(paths, label, err));
        KN_TRY(kn_paths_push(paths, root, err));
        goto done;
    }
    uint32_t root = paths->cells.n > 0 ? paths->cells.items[paths->n_levels - 1] : KN_NONE;
    if (root == KN_NONE) KN_TRY(kn_paths_label(&root, paths, "*", 1, err));
    for (uint32_t l = 0; l + 1 < paths->n_levels; l++) KN_TRY(kn_paths_push(paths, label, err));
    KN_TRY(kn_paths_push(paths, root, err));
done:
    return status;
}

/* `label` is a spelling of the missing value, blanks around it ignored. */
static bool spells_missing(const kn_build *build, uint32_t label)
{
    const kn_column *column = build->column;
    size_t n_label;
    const char *wanted = kn_paths_bytes(&build->paths, label, &n_label);
    for (uint32_t s = column->n_spellings; s-- > 0 && kn_column_value(column, s) == build->n_present;) {
        size_t n;
        const char *bytes = kn_column_bytes(column, s, &n);
        while (n > 0 && (bytes[n - 1] == ' ' || bytes[n - 1] == '\t')) n--;
        while (n > 0 && (*bytes == ' ' || *bytes == '\t')) bytes++, n--;
        if (n == n_label && memcmp(bytes, wanted, n) == 0) return true;
    }
    return false;
}

/* A missing cell that may be any value is below the root and nowhere else: joined with whatever, it gives *. A file may
 * list its spelling below some other label; with that a class of both would be the label or *, whichever came first. So
 * such lines are taken out, as if the file did not have them. */
static void take_missing_out(kn_build *build)
{
    kn_paths *paths = &build->paths;
    uint32_t n_rows = kn_paths_rows(paths), n_levels = paths->n_levels, n_kept = 0;
    if (!build->column->has_missing) return;
    build->label_of_value[build->n_present] = KN_NONE;
    for (uint32_t row = 0; row < n_rows; row++) {
        uint32_t *cells = paths->cells.items + (size_t)row * n_levels;
        if (spells_missing(build, cells[0])) continue;
        memmove(paths->cells.items + (size_t)n_kept * n_levels, cells, n_levels * sizeof *cells);
        if (paths->lines.n > 0) paths->lines.items[n_kept] = paths->lines.items[row];
        n_kept++;
    }
    paths->cells.n = (size_t)n_kept * n_levels;
    if (paths->lines.n > 0) paths->lines.n = n_kept;
}

/* --- Codes ----------------------------------------------------------------------------------------------------- */

/* Everything that follows from code_of_value: spellings, rows, the missing code. */
static kn_status fill_codes(kn_domain *domain, const kn_build *build, const uint32_t *code_of_value, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_column *column = build->column;
    KN_NEW_RAW(domain->code_of_spelling, column->n_spellings);
    KN_NEW_RAW(domain->spelling_of_code, domain->n_codes);
    KN_NEW(domain->rows_before, (size_t)domain->n_codes + 1);
    for (uint32_t c = 0; c < domain->n_codes; c++) domain->spelling_of_code[c] = KN_NONE;
    if (kn_domain_round(domain) != NULL)
        KN_TRY(kn_coding_zones(domain->coding, domain->tree != NULL ? domain->tree->at_level[1] : domain->grid->first,
                               domain->tree != NULL ? domain->tree->n_nodes : domain->n_codes, code_of_value, err));
    for (uint32_t s = 0; s < column->n_spellings; s++)
        domain->code_of_spelling[s] = code_of_value[kn_coding_value(domain->coding, kn_column_value(column, s))];
    if (build->seen_rows != NULL) KN_NEW(domain->seen_before, (size_t)domain->n_codes + 1);
    for (uint32_t value = 0; value < column->n_values; value++) {
        domain->spelling_of_code[code_of_value[value]] = build->main_spelling[value];
        domain->rows_before[code_of_value[value] + 1] += build->value_rows[value];
        if (build->seen_rows != NULL) domain->seen_before[code_of_value[value] + 1] += build->seen_rows[value];
    }
    for (uint32_t c = 0; c < domain->n_codes; c++) {
        domain->rows_before[c + 1] += domain->rows_before[c];
        if (build->seen_rows != NULL) domain->seen_before[c + 1] += domain->seen_before[c];
    }
    domain->missing = column->has_missing ? code_of_value[build->n_present] : KN_NONE;
    if (domain->coding == NULL) goto done;
    KN_NEW_RAW(domain->coded, domain->n_codes);
    memset(domain->coded, 0xFF, domain->n_codes * sizeof *domain->coded);
    for (uint32_t value = 0; value < build->n_present; value++) {
        const kn_coding *coding = domain->coding;
        const bool is_first = coding->zone != NULL ? coding->zone[value] == value
                                                   : (coding->top != KN_NONE && value == coding->top) ||
                                                         (coding->bottom != KN_NONE && value == 0);
        const uint32_t code = code_of_value[value];
        if (is_first) domain->coded[code] = domain->tree != NULL ? domain->tree->at_level[1][code] : 0;
    }
done:
    return status;
}

static kn_status check_levels(kn_domain *domain, const kn_hierarchy_request *request, kn_error *err)
{
    bool limited = request->min_level != 0 || request->max_level != KN_NONE;
    uint32_t top = domain->kind == KN_DOMAIN_TREE ? domain->tree->n_levels - 1 : 0;
    domain->min_level = request->min_level;
    domain->max_level = request->max_level != KN_NONE ? request->max_level : top;
    if (!limited) return KN_OK;
    if (domain->kind != KN_DOMAIN_TREE)
        return kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = "level", .column = domain->name),
                               "column %s: min_level and max_level need a hierarchy with levels", domain->name);
    if (domain->max_level > top)
        return kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = "level", .column = domain->name),
                               "column %s: max_level is %u, but its hierarchy has levels 0 to %u", domain->name,
                               domain->max_level, top);
    if (domain->min_level > domain->max_level)
        return kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = "level", .column = domain->name),
                               "column %s: min_level is %u, above %s %u", domain->name, domain->min_level,
                               request->max_level != KN_NONE ? "max_level" : "the hierarchy's highest level",
                               domain->max_level);
    return KN_OK;
}

/* Text in groups: sets of few values, and the nodes of the tree above them. Without a search that needs levels, any set
 * of few values will do. */
static void take_small_sets(kn_domain *domain)
{
    domain->kind = KN_DOMAIN_SETS;
    domain->groups = domain->tree;
    domain->tree = NULL;
    domain->max_members = KN_SMALL_SET;
}

static kn_status finish_tree(kn_domain *domain, kn_build *build, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *code_of_value = NULL, *leaf_of_label = NULL;
    KN_TRY(place_missing(build, err));
    if (build->paths.cells.n == 0) { /* no value at all */
        build->paths.n_levels = 1;
        KN_TRY(kn_build_label(build, "*", 1, err));
    }
    KN_NEW_RAW(leaf_of_label, build->paths.ends.n);
    KN_TRY(kn_tree_from_paths_with(&domain->tree, leaf_of_label, &build->paths, err));
    domain->kind = KN_DOMAIN_TREE;
    domain->n_codes = domain->tree->n_leaves;
    KN_NEW_RAW(code_of_value, build->column->n_values);
    for (uint32_t value = 0; value < build->column->n_values; value++) {
        code_of_value[value] = leaf_of_label[build->label_of_value[value]];
        assert(code_of_value[value] != KN_NONE);
    }
    KN_TRY(fill_codes(domain, build, code_of_value, err));
    KN_TRY(kn_build_stretches(domain, build, err));
done:
    kn_free(code_of_value);
    kn_free(leaf_of_label);
    return status;
}

/* Values as they stand in the file, the missing one last. */
static kn_status finish_subsets(kn_domain *domain, kn_build *build, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t *code_of_value = NULL, *code_of_label = NULL;
    if (build->request->must_be_tree)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "hierarchy", .column = domain->name),
                   "column %s: %s is a collection of subsets, which has no levels; give a hierarchy%s", domain->name,
                   build->paths.name,
                   build->column->role == KN_ROLE_QUASI
                       ? ", or take a search that chooses values class by class, such as cluster or sequential"
                       : "");
    if (domain->coding != NULL)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "top", .column = domain->name),
                   "column %s: top, bottom and round need intervals, and its hierarchy is a collection of subsets",
                   domain->name);
    KN_TRY(place_missing(build, err));
    KN_NEW_RAW(code_of_label, build->paths.ends.n);
    KN_TRY(kn_subsets_from_paths(&domain->subsets, code_of_label, &build->paths, err));
    domain->kind = KN_DOMAIN_SETS;
    domain->n_codes = domain->subsets->n_codes;
    KN_NEW_RAW(code_of_value, build->column->n_values);
    for (uint32_t value = 0; value < build->column->n_values; value++)
        code_of_value[value] = code_of_label[build->label_of_value[value]];
    KN_TRY(fill_codes(domain, build, code_of_value, err));
done:
    kn_free(code_of_value);
    kn_free(code_of_label);
    return status;
}

typedef struct counted_value {
    uint64_t n_rows;
    uint32_t value;
} counted_value;

/* Text values are numbered by bytes, the missing one last. */
static int by_frequency(const void *a, const void *b)
{
    const counted_value *x = a, *y = b;
    if (x->n_rows != y->n_rows) return x->n_rows > y->n_rows ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

kn_status kn_build_by_frequency(uint32_t **out, const kn_build *build, uint32_t n_values, kn_error *err)
{
    kn_status status = KN_OK;
    counted_value *counted = NULL;
    *out = NULL;
    KN_NEW_RAW(*out, n_values);
    KN_NEW_RAW(counted, n_values);
    for (uint32_t value = 0; value < n_values; value++)
        counted[value] = (counted_value){build->value_rows[value], value};
    qsort(counted, n_values, sizeof *counted, by_frequency);
    for (uint32_t i = 0; i < n_values; i++) (*out)[i] = counted[i].value;
done:
    if (status != KN_OK) {
        kn_free(*out);
        *out = NULL;
    }
    kn_free(counted);
    return status;
}

/* No tree: values in their order, or text by frequency. Where the order is not that of the numbers or dates, a run of
 * it would name values between that nobody has: any set will do. */
static kn_status finish_plain(kn_domain *domain, const kn_build *build, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_values = build->column->n_values, *code_of_value = NULL, *order = NULL;
    const bool has_order = build->code_of_value != NULL;
    const bool is_set = build->ends_mislead || (build->column->type == KN_TYPE_TEXT && !has_order);
    domain->kind = is_set ? KN_DOMAIN_SETS : KN_DOMAIN_RANGES;
    domain->n_codes = n_values;
    KN_NEW_RAW(code_of_value, n_values);
    for (uint32_t value = 0; value < n_values; value++)
        code_of_value[value] = has_order ? build->code_of_value[value] : value;
    if (is_set && !has_order) {
        KN_TRY(kn_build_by_frequency(&order, build, n_values, err));
        for (uint32_t code = 0; code < n_values; code++) code_of_value[order[code]] = code;
    }
    if (!has_order) KN_TRY(kn_build_grid(&domain->grid, build, err));
    if (domain->coding != NULL && domain->grid == NULL)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "top", .column = domain->name),
                   "column %s: top, bottom and round need a grid or a hierarchy; its intervals end at values",
                   domain->name);
    if (domain->coding != NULL) KN_TRY(kn_grid_code(domain->grid, domain->coding, build, err));
    domain->is_open = domain->coding != NULL && domain->coding->top != KN_NONE && domain->coding->bottom != KN_NONE;
    if (domain->grid != NULL) {
        domain->grid_first = domain->grid->first;
        domain->grid_last = domain->grid->last;
    }
    KN_TRY(fill_codes(domain, build, code_of_value, err));
done:
    kn_free(code_of_value);
    kn_free(order);
    return status;
}

/* Two leaves below *, and every row at the one that may be anything: whatever class it is in, its cell is *, and costs
 * what * costs. No value of the column is in the tree. */
static kn_status finish_withheld(kn_domain *domain, kn_build *build, kn_error *err)
{
    kn_status status = KN_OK;
    static const char *const leaves[] = {"shown", "withheld"};
    build->paths.n_levels = 2;
    for (size_t i = 0; i < 2; i++) {
        KN_TRY(kn_build_label(build, leaves[i], strlen(leaves[i]), err));
        KN_TRY(kn_build_label(build, "*", 1, err));
    }
    KN_TRY(kn_tree_from_paths(&domain->tree, &build->paths, err));
    domain->kind = KN_DOMAIN_TREE;
    domain->origin = KN_FROM_SPEC;
    domain->n_codes = 2;
    domain->missing = 1;
    domain->missing_is_wildcard = true;
    KN_NEW_RAW(domain->code_of_spelling, build->column->n_spellings);
    KN_NEW_RAW(domain->spelling_of_code, 2);
    KN_NEW(domain->rows_before, 3);
    for (uint32_t s = 0; s < build->column->n_spellings; s++) domain->code_of_spelling[s] = 1;
    domain->spelling_of_code[0] = domain->spelling_of_code[1] = KN_NONE;
    for (uint32_t value = 0; value < build->column->n_values; value++)
        domain->rows_before[2] += build->value_rows[value];
    if (build->seen_rows == NULL) goto done;
    KN_NEW(domain->seen_before, 3);
    domain->seen_before[2] = kn_column_rows(build->column, build->n_rows);
done:
    return status;
}

/* --- Which builder --------------------------------------------------------------------------------------------- */

/* base_folder/spec, unless spec is absolute or there is no folder. */
kn_status kn_build_file_name(char **out, const kn_hierarchy_request *request, kn_error *err)
{
    kn_buffer path = {0};
    const char *folder = request->base_folder, *spec = request->spec;
    if (request->text == NULL && folder != NULL && folder[0] != '\0' && strcmp(folder, ".") != 0 && spec[0] != '/') {
        if (spec[0] == '.' && spec[1] == '/') spec += 2;
        kn_buffer_printf(&path, "%s/", folder);
    }
    kn_buffer_text(&path, spec);
    return kn_buffer_finish(out, &path, err);
}

static kn_status spec_usage(const char *spec, size_t index, kn_error *err)
{
    return kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = "hierarchy"),
                           "hierarchy %s: the SPEC is written %s; a file of that name is written ./%s", spec,
                           specs[index].syntax, spec);
}

/* A word with parentheses that is neither a SPEC nor a file is a SPEC with a slip. */
static kn_status check_file_name(const char *spec, const char *path, kn_error *err)
{
    size_t n = strlen(spec);
    if (strchr(spec, '(') == NULL || spec[n - 1] != ')' || access(path, F_OK) == 0) return KN_OK;
    kn_buffer list = {0};
    for (size_t i = 0; i < N_BUILDERS; i++) kn_buffer_printf(&list, "%s%s", i > 0 ? ", " : "", specs[i].syntax);
    kn_status status = kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = "hierarchy"),
                                       "hierarchy %s: no such SPEC, and no file of that name; there are %s", spec,
                                       list.bytes != NULL ? list.bytes : "none");
    kn_buffer_free(&list);
    return status;
}

/* Runs the SPEC's builder; *known is false when `spec` is none: a file name. */
static kn_status run_spec(bool *known, kn_build *build, const char *spec, kn_error *err)
{
    kn_status status = KN_OK;
    char *arguments = NULL;
    size_t n_name = strcspn(spec, "("), n_spec = strlen(spec);
    *known = false;
    for (size_t i = 0; i < N_BUILDERS; i++) {
        if (strlen(specs[i].name) != n_name || memcmp(spec, specs[i].name, n_name) != 0) continue;
        *known = true;
        bool has_arguments = n_spec > n_name + 1 && spec[n_spec - 1] == ')';
        if (has_arguments != builders[i].takes_arguments || (!has_arguments && n_spec != n_name))
            KN_TRY(spec_usage(spec, i, err));
        arguments =
            has_arguments ? kn_string_copy(spec + n_name + 1, n_spec - n_name - 2, err) : kn_string_copy("", 0, err);
        if (arguments == NULL) KN_FAIL(KN_RESOURCES, "out of memory");
        build->paths.name = spec;
        build->origin = builders[i].origin;
        if (kn_hierarchy_is_class(specs[i].name)) build->class_name = specs[i].name;
        KN_TRY(builders[i].build(build, arguments, err));
    }
done:
    kn_free(arguments);
    return status;
}

kn_status kn_build_spec(kn_build *build, const char *spec, kn_error *err)
{
    bool known;
    const char *name = build->paths.name;
    const kn_origin origin = build->origin;
    kn_status status = run_spec(&known, build, spec, err);
    build->paths.name = name; /* `spec` may be gone before the paths are */
    build->origin = origin;
    return status;
}

kn_status kn_build_start(kn_build *build, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_column *column = build->column;
    uint64_t *whole_rows = NULL;
    uint64_t *spelling_rows = NULL;
    build->n_present = column->n_values - (column->has_missing ? 1 : 0);
    build->paths.redact = build->request->redact;
    KN_TRY(kn_column_main_spellings(&build->main_spelling, column, build->n_rows, err));
    KN_TRY(kn_column_whole_rows(&whole_rows, column, build->n_rows, err));
    KN_NEW(build->value_rows, column->n_values);
    for (uint32_t s = 0; s < column->n_spellings; s++) build->value_rows[kn_column_value(column, s)] += whole_rows[s];
    if (column->whole_rows != NULL) {
        KN_TRY(kn_column_spelling_rows(&spelling_rows, column, build->n_rows, err));
        KN_NEW(build->seen_rows, column->n_values);
        for (uint32_t s = 0; s < column->n_spellings; s++)
            build->seen_rows[kn_column_value(column, s)] += spelling_rows[s];
    }
    KN_NEW_RAW(build->label_of_value, column->n_values);
    memset(build->label_of_value, 0xFF, column->n_values * sizeof *build->label_of_value);
done:
    kn_free(whole_rows);
    kn_free(spelling_rows);
    return status;
}

void kn_build_end(kn_build *build)
{
    kn_paths_free(&build->paths);
    kn_free(build->main_spelling);
    kn_free(build->value_rows);
    kn_free(build->seen_rows);
    kn_free(build->label_of_value);
    kn_free(build->code_of_value);
    kn_grid_free(build->grid);
}

/* A slip in the SPEC of a policy is found at its line, not only by its text. */
static void say_where(kn_error *err, const char *where, const char *column)
{
    static const char begin[] = "hierarchy ";
    if (err == NULL || strncmp(err->message, begin, strlen(begin)) != 0) return;
    kn_error plain = *err;
    err->message[0] = '\0'; /* the first message would win */
    kn_error_set(err, KN_USAGE, "%s: column %s: %s", where, column, plain.message + strlen(begin));
}

/* Thresholds and rounding; of a column that is only * they are looked at like the grid, and nobody sees them. */
static kn_status read_coding(kn_domain *domain, const kn_build *build, bool is_tree, kn_error *err)
{
    const bool is_withheld = build->request->withheld;
    kn_status status = KN_OK;
    if (build->request->spec == NULL && (is_tree || is_withheld)) KN_TRY(kn_build_check_grid(build, err));
    KN_TRY(kn_build_zones(&domain->coding, build, err));
    if (is_withheld) {
        kn_coding_free(domain->coding);
        domain->coding = NULL;
    }
done:
    return status;
}

kn_status kn_domain_build(kn_domain **out, const kn_column *column, const char *data_name, uint32_t n_rows,
                          const kn_hierarchy_request *request, kn_error *err)
{
    kn_status status = KN_OK;
    kn_build build = {.column = column, .data_name = data_name, .n_rows = n_rows, .request = request};
    const char *spec = request->withheld       ? NULL
                       : request->spec != NULL ? request->spec
                       : request->must_be_tree ? "auto"
                                               : NULL;
    kn_domain *domain = NULL;
    char *path = NULL;
    *out = NULL;
    KN_NEW(domain, 1);
    domain->name = column->name;
    domain->column = column;
    domain->weight = request->weight;
    domain->missing_is_wildcard = request->missing_is_wildcard;
    KN_TRY(kn_build_start(&build, err));
    if (spec != NULL) {
        bool is_spec = false;
        if (request->text == NULL) KN_TRY(run_spec(&is_spec, &build, spec, err));
        if (!is_spec) {
            KN_TRY(kn_build_file_name(&path, request, err));
            if (request->text == NULL) KN_TRY(check_file_name(spec, path, err));
            KN_TRY(kn_build_file(&build, path, err));
        }
    }
    const bool is_subsets = build.paths.is_subsets;
    bool is_tree = spec != NULL && build.code_of_value == NULL;
    if (is_tree && request->missing_is_wildcard) take_missing_out(&build);
    KN_TRY(read_coding(domain, &build, is_tree, err));
    if (is_tree && domain->coding != NULL && !is_subsets) {
        KN_TRY(kn_build_round_paths(&build, domain->coding, err));
        KN_TRY(kn_build_code_paths(&build, domain->coding, err));
        KN_TRY(kn_build_check_round(&build, domain->coding, err));
    }
    domain->origin = build.origin;
    domain->class_name = build.class_name;
    domain->is_marked = build.paths.made_from_data;
    domain->naming = build.naming;
    domain->is_natural = build.is_natural;
    domain->grid = build.grid;
    build.grid = NULL;
    if (request->withheld) KN_TRY(finish_withheld(domain, &build, err));
    else if (is_subsets) KN_TRY(finish_subsets(domain, &build, err));
    else KN_TRY(is_tree ? finish_tree(domain, &build, err) : finish_plain(domain, &build, err));
    const bool is_grouped = is_tree && !is_subsets && domain->naming == KN_NAMES_GROUP && domain->tree->n_levels > 1;
    if (is_grouped && !request->must_be_tree) take_small_sets(domain);
    KN_TRY(check_levels(domain, request, err));
    *out = domain;
    domain = NULL;
done:
    if (status == KN_USAGE && request->where != NULL) say_where(err, request->where, column->name);
    if (status == KN_USAGE) {
        char file[KN_FILE_BYTES];
        kn_place place;
        kn_place_split(&place, file, request->where);
        place.option = "hierarchy";
        place.column = column->name;
        kn_error_about(err, status, &place);
    }
    kn_domain_free(domain);
    kn_build_end(&build);
    kn_free(path);
    return status;
}

/* --- Trees without data ---------------------------------------------------------------------------------------- */

kn_status kn_tree_parse(kn_tree **out, const char *text, size_t n_bytes, const char *name, bool redact, kn_error *err)
{
    kn_status status = KN_OK;
    kn_paths paths = {.name = name, .redact = redact};
    *out = NULL;
    KN_TRY(kn_paths_parse(&paths, text, n_bytes, err));
    if (paths.is_subsets) KN_TRY(kn_subsets_lines(out, &paths, err));
    else KN_TRY(kn_tree_from_paths(out, &paths, err));
done:
    kn_paths_free(&paths);
    return status;
}

kn_status kn_tree_read(kn_tree **out, const char *path, bool redact, kn_files *files, kn_error *err)
{
    kn_status status = KN_OK;
    char *text = NULL;
    size_t n_bytes;
    *out = NULL;
    KN_TRY(kn_paths_read_file(&text, &n_bytes, path, files, err));
    KN_TRY(kn_tree_parse(out, text, n_bytes, path, redact, err));
done:
    kn_free(text);
    return status;
}

/* Quoted wherever a reader could take it for something else: a byte order mark, a first line that says what the file
 * is.
 */
static void append_label(kn_buffer *out, const char *label, size_t n)
{
    bool quote = n > 0 && ((unsigned char)label[0] == 0xEF || label[0] == '#');
    for (size_t i = 0; i < n; i++) quote = quote || strchr(";,\"\n\r", label[i]) != NULL;
    if (quote) kn_buffer_quoted(out, label, n);
    else kn_buffer_append(out, label, n);
}

kn_status kn_tree_to_text(char **out, const kn_tree *tree, kn_error *err)
{
    kn_buffer text = {0};
    for (uint32_t leaf = 0; leaf < tree->n_leaves; leaf++) {
        if (tree->label_offset[leaf] == tree->label_offset[leaf + 1]) continue; /* the missing value, spelled "" */
        for (uint32_t level = 0; level < tree->n_levels; level++) {
            size_t n;
            const char *label = kn_tree_label(tree, tree->at_level[level][leaf], &n);
            if (level > 0) kn_buffer_char(&text, ';');
            append_label(&text, label, n);
        }
        kn_buffer_char(&text, '\n');
    }
    return kn_buffer_finish(out, &text, err);
}
