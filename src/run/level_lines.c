/* What the levels of a column's hierarchy make of its values, as comments of the policy that `profile` writes. Labels
 * that tell of few persons are held back: the policy is read by more people than the table. */
#include "run/level_lines.h"

#include "hierarchy/builders.h"
#include "run/hierarchy_table.h"

#include <string.h>

typedef struct persons {
    const uint32_t *n; /* [node] */
    uint32_t k;        /* how many share what may be shown */
    bool have_several_rows;
} persons;

/* How many persons are below each node of a column's tree, [node]. kn_free it. */
static kn_status count_persons(uint32_t **out, const kn_input *input, const kn_domain *domain, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_tree *tree = domain->tree;
    const kn_tuples *tuples = input->tuples;
    const uint32_t n_rows = input->table->n_rows;
    uint32_t *starts = NULL, *rows = NULL, *last = NULL; /* rows by person; [node] the person who was counted last */
    *out = NULL;
    KN_NEW(starts, tuples->n_persons + (size_t)2);
    KN_NEW_RAW(rows, n_rows + (size_t)1);
    for (uint32_t row = 0; row < n_rows; row++)
        starts[(tuples->row_person != NULL ? tuples->row_person[row] : row) + 2]++;
    for (size_t person = 2; person < tuples->n_persons + (size_t)2; person++) starts[person] += starts[person - 1];
    for (uint32_t row = 0; row < n_rows; row++)
        rows[starts[(tuples->row_person != NULL ? tuples->row_person[row] : row) + 1]++] = row;
    KN_NEW(*out, tree->n_nodes);
    KN_NEW_RAW(last, tree->n_nodes);
    memset(last, 0xFF, tree->n_nodes * sizeof *last);
    for (uint32_t person = 0; person < tuples->n_persons; person++)
        for (uint32_t i = starts[person]; i < starts[person + 1]; i++) {
            const uint32_t code = domain->code_of_spelling[kn_column_code(domain->column, rows[i])];
            for (uint32_t level = 0; level < tree->n_levels; level++) {
                const uint32_t node = tree->at_level[level][code];
                if (last[node] == person) continue;
                last[node] = person;
                ++(*out)[node];
            }
        }
done:
    kn_free(starts);
    kn_free(rows);
    kn_free(last);
    return status;
}

/* At least k persons stand in the finest step of the grid that a value lies in; where people have several rows, with
 * one of its values. */
static bool is_full_step(const kn_domain *domain, const persons *about, uint32_t value)
{
    const int64_t *interval = domain->grid->interval;
    const uint32_t n_values = domain->column->n_values - domain->column->has_missing;
    uint64_t n = 0;
    while (value > 0 && interval[value - 1] == interval[value]) value--;
    for (uint32_t i = value; i < n_values && interval[i] == interval[value]; i++)
        n = !about->have_several_rows ? n + about->n[i] : about->n[i] > n ? about->n[i] : n;
    return n >= about->k;
}

/* An interval ends where the step of the next one's first value begins, and the last one behind that of its last. */
static bool may_tell_ends(const kn_domain *domain, const persons *about, uint32_t node)
{
    const uint32_t n_values = domain->column->n_values - domain->column->has_missing;
    const uint32_t first = domain->tree->first[node], last = domain->tree->last[node];
    return first < n_values && is_full_step(domain, about, first) &&
           is_full_step(domain, about, last + 1 < n_values ? last + 1 : n_values - 1);
}

/* Where values are far apart an interval of a grid reaches to the next one, and so tells where that is. */
static bool is_regular(const kn_domain *domain, uint32_t node)
{
    const kn_tree *tree = domain->tree;
    const int64_t times = domain->grid->times[tree->level[node]];
    const int64_t from = kn_floor_divide(domain->grid->interval[tree->first[node]], times) * times;
    char regular[KN_INTERVAL_BYTES];
    size_t n_regular = kn_grid_interval_text(regular, domain->grid, domain->column->type, from, from + times), n;
    const char *label = kn_tree_label(tree, node, &n);
    if (n == n_regular && memcmp(label, regular, n) == 0) return true;
    return n > 2 && n < n_regular && memcmp(label + n - 2, "..", 2) == 0 && memcmp(label, regular, n) == 0; /* 90.. */
}

/* A label that fewer persons share tells of them, and so does a set, or an interval, that names a value of theirs. */
static bool may_show(const kn_domain *domain, const persons *about, uint32_t node)
{
    const uint32_t *n_persons = about->n, k = about->k;
    const kn_tree *tree = domain->tree;
    const bool is_set = domain->naming == KN_NAMES_SET || domain->naming == KN_NAMES_GROUP;
    const bool has_ends = domain->naming == KN_NAMES_ENDS;
    if (has_ends && (n_persons[tree->first[node]] < k || n_persons[tree->last[node]] < k)) return false;
    if (domain->naming == KN_NAMES_GRID && node >= tree->n_leaves && !is_regular(domain, node) &&
        !may_tell_ends(domain, about, node))
        return false;
    size_t n;
    const char *label = kn_tree_label(tree, node, &n);
    for (uint32_t leaf = tree->first[node]; is_set && n > 0 && label[0] == '{' && leaf <= tree->last[node]; leaf++)
        if (n_persons[leaf] < k) return false;
    return n_persons[node] >= k;
}

/* "#   level 1: 20..24, 25..29, 30..34, ...": what the hierarchy, or the one that levels need, makes of the values. */
static void list_levels(kn_buffer *out, const kn_domain *domain, const persons *about)
{
    enum { FIRST = 3, MOST_BYTES = 60 };
    const kn_tree *tree = domain->tree;
    for (uint32_t level = 1; level + 1 < tree->n_levels; level++) {
        uint32_t n_shown = 0, n_nodes = 0, node;
        kn_buffer_printf(out, "  #   level %u:", level);
        for (uint32_t leaf = 0; leaf < tree->n_leaves; leaf = tree->last[node] + 1, n_nodes++) {
            size_t n;
            node = tree->at_level[level][leaf];
            const char *label = kn_tree_label(tree, node, &n);
            if (n == 0) continue; /* missing cells */
            if (n_shown == FIRST || !may_show(domain, about, node)) continue;
            kn_buffer_text(out, n_shown++ > 0 ? ", " : " ");
            for (size_t i = 0; i < n && (i < MOST_BYTES || ((unsigned char)label[i] & 0xC0) == 0x80); i++)
                kn_buffer_char(out, (unsigned char)label[i] < ' ' || label[i] == 0x7F
                                        ? ' '
                                        : label[i]); /* a line end would end the comment */
            if (n > MOST_BYTES) kn_buffer_text(out, "...");
        }
        if (n_shown == 0)
            kn_buffer_printf(out, " %u labels; each tells of fewer than %u persons, or ends where it would", n_nodes,
                             about->k);
        else if (n_shown < n_nodes) kn_buffer_text(out, ", ...");
        kn_buffer_char(out, '\n');
    }
}

kn_status kn_level_lines(char **out, kn_input *input, uint32_t c, const kn_suggestion *generalize, uint32_t k,
                         kn_error *err)
{
    kn_status status = KN_OK;
    const kn_column *column = &input->table->columns[c];
    const kn_column **others = NULL;
    kn_domain *domain = NULL;
    uint32_t *n_persons = NULL;
    kn_buffer lines = {0};
    *out = NULL;
    kn_hierarchy_request request = {.spec = generalize->spec[0] != '\0' ? generalize->spec : "auto",
                                    .must_be_tree = true,
                                    .top = generalize->top.is_sure ? generalize->top.text : NULL,
                                    .weight = 1,
                                    .max_level = KN_NONE};
    KN_TRY(kn_input_others(&others, &request.n_others, input, c, err));
    request.others = others;
    KN_TRY(kn_domain_build(&domain, column, input->table->source, input->table->n_rows, &request, err));
    if (domain->naming == KN_NAMES_GROUP && domain->tree->n_levels > 2)
        kn_buffer_text(&lines,
                       "  #   made from the data: values that occur with the same values of the other columns\n");
    KN_TRY(count_persons(&n_persons, input, domain, err));
    list_levels(&lines, domain, &(persons){n_persons, k, input->tuples->row_person != NULL});
    if (domain->naming == KN_NAMES_GROUP && column->n_values > KN_MOST_SIMILAR)
        kn_buffer_printf(
            &lines,
            "  #   more than %u values have no groups: a local search releases sets of values, a full-domain "
            "one each as it is or as *; a hierarchy file says more\n",
            KN_MOST_SIMILAR);
    if (lines.n > 0 || lines.failed) KN_TRY(kn_buffer_finish(out, &lines, err));
done:
    kn_domain_free(domain);
    kn_free(n_persons);
    kn_free(others);
    return status;
}
