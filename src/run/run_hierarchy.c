/* `kanon hierarchy make|check|show|rectify`: the tools for generalization trees.
 *
 *   make DATA --hierarchy COL=SPEC      the hierarchy file that a SPEC means for this column
 *   check FILE                          what a hierarchy file holds, or where it is wrong
 *   check DATA --hierarchy COL=FILE     also which values of the column it lacks; exit 1 when it lacks any
 *   show FILE                           the tree, drawn
 *   show DATA --hierarchy COL=SPEC      with the rows of the data at each node
 *   rectify DATA --hierarchy COL=FILE   without the nodes that keep the entropy measure from being monotone */
#include "hierarchy/tools.h"
#include "run/hierarchy_table.h"
#include "run/jobs.h"
#include "run/result.h"

#include <string.h>

typedef struct tree_run {
    const kn_request *request;
    kn_input *input;
    const kn_column *column; /* NULL: a hierarchy file alone */
    kn_hierarchy_request tree;
    char *lines; /* of the hierarchy where it is a table in memory */
    const kn_column **others;
} tree_run;

/* With --hierarchy the argument is a table, and its one column with a hierarchy is meant. */
static kn_status read_column(tree_run *r, kn_error *err)
{
    kn_status status = KN_OK;
    r->tree = (kn_hierarchy_request){.spec = r->request->data,
                                     .must_be_tree = true,
                                     .weight = 1,
                                     .max_level = KN_NONE,
                                     .redact = r->request->redact,
                                     .files = r->input->files};
    if (r->request->n_hierarchies == 0) goto done;
    if (r->request->n_hierarchies > 1)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "hierarchy"), "one --hierarchy COL=... at a time, please");
    KN_TRY(kn_input_read(r->input, r->request->data, KN_COLUMNS_OF_HIERARCHY, err));
    for (uint32_t c = 0; c < r->input->table->n_columns; c++)
        if (r->input->choices[c].hierarchy != NULL) {
            r->column = &r->input->table->columns[c];
            r->tree.spec = r->input->choices[c].hierarchy;
            KN_TRY(kn_input_others(&r->others, &r->tree.n_others, r->input, c, err));
            r->tree.others = r->others;
        }
done:
    return status;
}

static kn_status make(char **text, tree_run *r, kn_error *err)
{
    if (r->column == NULL)
        return kn_error_set_at(err, KN_USAGE, KN_PLACE(.option = "hierarchy"),
                               "make needs a table and --hierarchy COL=SPEC, say 'age=intervals(5,10)'");
    return kn_hierarchy_make(text, r->column, r->input->table->source, r->input->table->n_rows, &r->tree, err);
}

static kn_status check(char **text, tree_run *r, uint32_t *n_lacking, kn_error *err)
{
    return kn_hierarchy_check(text, n_lacking, r->column, r->column != NULL ? r->input->table->source : NULL,
                              r->column != NULL ? r->input->table->n_rows : 0, &r->tree, err);
}

/* What a SPEC made of the column is looked at before it becomes a file. */
static kn_status warn_of_spec(tree_run *r, kn_error *err)
{
    kn_status status = KN_OK;
    kn_domain *domain = NULL;
    const char *spec = r->tree.spec;
    if (r->column == NULL || r->lines != NULL) goto done;
    if (strcmp(spec, "similar") != 0 && !kn_hierarchy_is_class(spec)) goto done;
    KN_TRY(kn_domain_build(&domain, r->column, r->input->table->source, r->input->table->n_rows, &r->tree, err));
    kn_input_warn_hierarchy(r->input, domain, spec, r->tree.n_others);
done:
    kn_domain_free(domain);
    return status;
}

static kn_status show(char **text, tree_run *r, kn_error *err)
{
    kn_status status = KN_OK;
    kn_domain *domain = NULL;
    kn_tree *tree = NULL;
    enum { WIDTH = 100, LEAST_WIDTH = 20 };
    const uint32_t asked = r->request->output == NULL ? r->request->text_width : 0;
    kn_show_options options = {.width = asked == 0            ? WIDTH
                                        : asked < LEAST_WIDTH ? LEAST_WIDTH
                                                              : asked,
                               .max_lines = r->request->verbose ? 0 : 60};
    if (r->column != NULL) {
        KN_TRY(kn_domain_build(&domain, r->column, r->input->table->source, r->input->table->n_rows, &r->tree, err));
        KN_TRY(kn_hierarchy_show(text, domain->tree, domain, &options, err));
    } else {
        KN_TRY(kn_input_tree(&tree, r->input, r->tree.spec, err));
        KN_TRY(kn_hierarchy_show(text, tree, NULL, &options, err));
    }
done:
    kn_domain_free(domain);
    kn_tree_free(tree);
    return status;
}

static kn_status rectify(char **text, tree_run *r, kn_error *err)
{
    kn_status status = KN_OK;
    kn_domain *domain = NULL;
    kn_tree *tree = NULL;
    uint32_t n_removed;
    if (r->column == NULL)
        KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "hierarchy"), "rectify needs the data too: DATA --hierarchy COL=FILE");
    KN_TRY(kn_domain_build(&domain, r->column, r->input->table->source, r->input->table->n_rows, &r->tree, err));
    KN_TRY(kn_hierarchy_rectify(&tree, &n_removed, domain, err));
    kn_sentences_add(&r->input->warnings, KN_SAID(n_removed == 1 ? KN_SAY_NODE_LEFT_OUT : KN_SAY_NODES_LEFT_OUT,
                                                  kn_piece_number("%u", n_removed)));
    KN_TRY(kn_hierarchy_to_text(text, tree, domain, err));
done:
    kn_domain_free(domain);
    kn_tree_free(tree);
    return status;
}

kn_status kn_job_hierarchy(kn_result **out, const kn_request *request, kn_error *err)
{
    kn_status status = KN_OK;
    tree_run r = {.request = request};
    kn_result *result = NULL;
    uint32_t n_lacking = 0;
    const char *what = request->what;
    *out = NULL;
    KN_TRY(kn_result_new(&result, err));
    KN_TRY(kn_input_new(&r.input, request, KN_OUTPUT_IF_ASKED, err));
    KN_TRY(read_column(&r, err));
    KN_TRY(kn_hierarchy_table(&r.lines, &r.tree.n_text_bytes, r.input, r.tree.spec, err));
    r.tree.text = r.lines;
    if (strcmp(what, "make") == 0) KN_TRY(make(&result->text, &r, err));
    else if (strcmp(what, "check") == 0) KN_TRY(check(&result->text, &r, &n_lacking, err));
    else if (strcmp(what, "show") == 0) KN_TRY(show(&result->text, &r, err));
    else if (strcmp(what, "rectify") == 0) KN_TRY(rectify(&result->text, &r, err));
    else KN_FAIL_AT(KN_USAGE, KN_PLACE(.option = "what"), "hierarchy make, check, show or rectify, not '%.40s'", what);
    if (strcmp(what, "check") != 0) KN_TRY(warn_of_spec(&r, err));
    KN_TRY(kn_targets_text(r.input->targets, "output", result->text, err));
    KN_TRY(kn_input_deliver(r.input, result, err));
    if (request->output != NULL) {
        kn_free(result->text);
        result->text = NULL;
    }
    if (n_lacking != 0) status = KN_NOT_MET;
    *out = result;
    result = NULL;
done:
    kn_result_free(result);
    kn_free(r.lines);
    kn_free(r.others);
    kn_input_free(r.input);
    return status;
}
