/* The lattice of a full-domain search: a point per node where it is small, a bar per height where it is not. */
#include "report/html_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DRAWN_NODES 400

typedef struct height_sum {
    uint32_t n, n_allowed;
    double least;
    bool chosen;
} height_sum;

static void heights_table(page *to, const height_sum *heights, uint32_t n_heights)
{
    static const kn_text headings[] = {KN_TEXT_HEIGHT, KN_TEXT_NODES, KN_TEXT_NODES_ALLOWED, KN_TEXT_LEAST_LOSS};
    page_details(to);
    page_table(to, KN_TEXT_LATTICE_TITLE, NULL, NULL);
    page_head(to, headings, 4, 0);
    for (uint32_t h = 0; h < n_heights; h++) {
        page_row(to);
        page_td_figure(to, page_count(to, h).text);
        page_td_figure(to, page_count(to, heights[h].n).text);
        page_td_figure(to, page_count(to, heights[h].n_allowed).text);
        page_td_figure(to, page_number(to, heights[h].n_allowed > 0 ? heights[h].least : NAN).text);
        page_row_end(to);
    }
    page_table_end(to);
    page_details_end(to);
    page_figure_end(to);
}

static kn_status heat_picture(page *to, const height_sum *heights, uint32_t n_heights, kn_error *err)
{
    kn_status status = KN_OK;
    words *names = NULL, *shown = NULL;
    const char **labels = NULL;
    double *values = NULL;
    KN_NEW(names, n_heights);
    KN_NEW(shown, n_heights);
    KN_NEW(labels, n_heights);
    KN_NEW(values, n_heights);
    for (uint32_t h = 0; h < n_heights; h++) {
        names[h] = page_count(to, h);
        labels[h] = names[h].text;
        values[h] = (double)heights[h].n_allowed / (heights[h].n > 0 ? heights[h].n : 1);
        shown[h] = page_percent(to, values[h]);
        if (heights[h].chosen) strcat(shown[h].text, " ◀");
    }
    page_bars bars = {.title = KN_TEXT_LATTICE_TITLE,
                      .desc = KN_TEXT_LATTICE_HEAT,
                      .n = n_heights,
                      .n_series = 1,
                      .series = {KN_TEXT_NODES_ALLOWED},
                      .labels = labels,
                      .values = {values},
                      .shown = {shown}};
    page_say(to, "p", KN_TEXT_LATTICE_HEAT, NULL, NULL, NULL);
    page_draw_bars(to, &bars);
done:
    kn_free(names);
    kn_free(shown);
    kn_free(labels);
    kn_free(values);
    return status;
}

kn_status part_lattice(page *to, const kn_report_node *nodes, size_t n_nodes, kn_error *err)
{
    kn_status status = KN_OK;
    uint32_t n_heights = 0, *row = NULL;
    uint8_t *state = NULL;
    height_sum *heights = NULL;
    for (size_t i = 0; i < n_nodes; i++)
        if (nodes[i].height + 1 > n_heights) n_heights = nodes[i].height + 1;
    KN_NEW(row, n_nodes);
    KN_NEW(state, n_nodes);
    KN_NEW(heights, n_heights);
    for (size_t i = 0; i < n_nodes; i++) {
        const kn_report_node *node = &nodes[i];
        height_sum *sum = &heights[node->height];
        row[i] = node->height;
        state[i] = node->chosen ? (node->allowed ? 2 : 3) : node->allowed;
        if (node->allowed && (sum->n_allowed++ == 0 || node->loss < sum->least)) sum->least = node->loss;
        sum->n++;
        sum->chosen |= node->chosen;
    }
    page_say(to, "h3", KN_TEXT_LATTICE_TITLE, NULL, NULL, NULL);
    if (n_nodes <= DRAWN_NODES && n_heights < 256) {
        page_say(to, "p", KN_TEXT_LATTICE_DESC, NULL, NULL, NULL);
        page_draw_rows(to, KN_TEXT_LATTICE_TITLE, KN_TEXT_LATTICE_DESC, row, state, n_nodes);
    } else {
        KN_TRY(heat_picture(to, heights, n_heights, err));
    }
    heights_table(to, heights, n_heights);
done:
    kn_free(row);
    kn_free(state);
    kn_free(heights);
    return status;
}

/* --- `kanon lattice --report` --------------------------------------------------------------------------------------
 */

static void levels_cell(page *to, const kn_lattice_facts *lattice, size_t node)
{
    uint32_t n_qis = lattice->tuples->n_qis;
    page_raw(to, "<th scope=\"row\" class=\"t\">");
    for (uint32_t q = 0; q < n_qis; q++) {
        if (q > 0) page_raw(to, ", ");
        page_escaped(to, lattice->tuples->domains[q]->name);
        kn_buffer_printf(&to->out, " %u", lattice->levels[node * n_qis + q]);
    }
    page_raw(to, "</th>");
}

typedef struct listed_node {
    size_t node;
    double loss;
} listed_node;

/* Least loss first; what has none last. */
static int by_loss(const void *a, const void *b)
{
    const listed_node *x = a, *y = b;
    if (isnan(x->loss) != isnan(y->loss)) return isnan(x->loss) ? 1 : -1;
    if (x->loss != y->loss) return x->loss < y->loss ? -1 : 1;
    return x->node < y->node ? -1 : 1;
}

/* The best node and those that generalize no more than needed, at most a hundred of them. */
static kn_status minimal_table(page *to, const kn_lattice_facts *lattice, kn_error *err)
{
    kn_status status = KN_OK;
    enum { MOST = 101 };
    static const kn_text headings[] = {KN_TEXT_LEVELS, KN_TEXT_HEIGHT, KN_TEXT_LOSS, KN_TEXT_ROWS_SUPPRESSED};
    listed_node *listed = NULL;
    size_t n = 0;
    KN_NEW(listed, lattice->n);
    for (size_t i = 0; i < lattice->n; i++)
        if (lattice->nodes[i].minimal || i == lattice->best)
            listed[n++] = (listed_node){i, i == lattice->best ? -INFINITY : lattice->nodes[i].loss};
    qsort(listed, n, sizeof *listed, by_loss);
    page_table(to, n <= MOST ? KN_TEXT_MINIMAL_NODES : KN_TEXT_MINIMAL_NODES_FIRST, NULL, NULL);
    page_head(to, headings, 4, 1);
    for (size_t i = 0; i < n && i < MOST; i++) {
        const kn_report_node *node = &lattice->nodes[listed[i].node];
        page_row(to);
        levels_cell(to, lattice, listed[i].node);
        page_td_figure(to, page_count(to, node->height).text);
        page_td_figure(to, page_number(to, node->loss).text);
        page_td_figure(to, page_count(to, node->n_suppressed).text);
        page_row_end(to);
    }
    page_table_end(to);
done:
    kn_free(listed);
    return status;
}

kn_status kn_lattice_facts_html(char **out, const kn_lattice_facts *lattice, kn_language language, kn_error *err)
{
    kn_status status = KN_OK;
    page to = {.language = language};
    *out = NULL;
    page_open(&to, KN_TEXT_LATTICE_TITLE, KN_TEXT_LATTICE_SUBTITLE, lattice->data_name);
    page_section(&to, "lattice", KN_TEXT_NODES);
    part_origin(&to, &lattice->origin, NULL, NULL);
    KN_TRY(part_lattice(&to, lattice->nodes, lattice->n, err));
    KN_TRY(minimal_table(&to, lattice, err));
    page_section_end(&to);
    page_close(&to);
    KN_TRY(kn_buffer_finish(out, &to.out, err));
done:
    kn_buffer_free(&to.out);
    return status;
}
