/* The summary in the terminal: what came out, what is guaranteed, what it cost. */
#include "report/facts.h"

#include "base/sentence.h"
#include "report/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void line(kn_buffer *out, const char *label) { kn_buffer_printf(out, "  %-14s", label); }

static void model_lines(kn_buffer *out, const kn_facts *facts)
{
    for (size_t i = 0; i < facts->n_models; i++) {
        const kn_model_fact *model = &facts->models[i];
        line(out, i == 0 ? "guarantee" : "");
        kn_buffer_printf(out, "%s, %s: %s", model->name, model->params, model->holds ? "holds" : "BROKEN");
        if (isfinite(model->worst)) kn_buffer_printf(out, " (worst class %.6g)", model->worst);
        kn_buffer_char(out, '\n');
    }
}

/* Percent: what is farther from the loss tells of the bound, not of the release. */
static const double MOST_QUICK_GAP = 50;

/* Of all releases, where it says more than the search's own proof: always when it was asked for. */
static void bound_lines(kn_buffer *out, const kn_facts *facts)
{
    const kn_lower_bound *any = &facts->any;
    if (!kn_is_bounded(any) || (!any->is_certified && (facts->optimal || isfinite(facts->bound)))) return;
    const double gap = 100 * kn_facts_gap(facts, any->value);
    line(out, any->is_certified ? "certified" : "bound");
    if (!any->is_certified && gap > MOST_QUICK_GAP) {
        kn_buffer_printf(out, "a quick look proves little here (%.3g at least); --certify takes the time\n",
                         any->value);
        return;
    }
    kn_buffer_printf(out, "no %llu-anonymous release under these rules loses less than %.4g: gap %.3g%%\n",
                     (unsigned long long)any->k, any->value, gap);
    if (!any->is_partial) return;
    line(out, "");
    kn_buffer_text(out, any->is_certified ? "(only a part of all generalizations was looked at)\n"
                                          : "(a quick bound; --certify gives a better one)\n");
}

/* What the theorem says, and what the bound makes of it on this table. */
static void guarantee_lines(kn_buffer *out, const kn_facts *facts)
{
    const kn_guarantee *guarantee = &facts->guarantee;
    const double least = kn_facts_least(facts);
    if (guarantee->theorem == NULL) return;
    line(out, "ratio");
    if (guarantee->holds) kn_buffer_printf(out, "at most %.3g times the best loss by proof", guarantee->ratio);
    else kn_buffer_text(out, "not proven beforehand");
    if (least > 0) kn_buffer_printf(out, "; at most %.3g times here, by the bound", facts->loss / least);
    kn_buffer_char(out, '\n');
    line(out, "");
    if (guarantee->holds) {
        kn_buffer_printf(out, "(%s)\n", guarantee->theorem);
        return;
    }
    kn_buffer_char(out, '(');
    kn_sentence_say(out, kn_facts_unproven(facts), NULL);
    kn_buffer_text(out, ")\n");
}

/* The column that loses most of those that lose less than `before`; among equals the first one behind it. */
static uint32_t next_by_loss(const kn_facts *facts, uint32_t before)
{
    const double *loss = facts->column_loss;
    uint32_t best = KN_NONE;
    for (uint32_t q = 0; q < facts->tuples->n_qis; q++) {
        const bool is_left = before == KN_NONE || loss[q] < loss[before] || (loss[q] == loss[before] && q > before);
        if (is_left && (best == KN_NONE || loss[q] > loss[best])) best = q;
    }
    return best;
}

/* All of them, or those that lose most where nobody would read them all. */
static void column_losses(kn_buffer *out, const kn_facts *facts, bool has_losses)
{
    enum { READABLE = 24, SHOWN = 10 };
    const uint32_t n_qis = facts->tuples->n_qis, n_shown = n_qis <= READABLE ? n_qis : SHOWN;
    size_t used = 16;
    line(out, "by column");
    for (uint32_t i = 0, q = KN_NONE; i < n_shown; i++) {
        kn_buffer item = {0};
        q = n_shown < n_qis && has_losses ? next_by_loss(facts, q) : i;
        if (q == KN_NONE) break;
        kn_buffer_cut(&item, facts->tuples->domains[q]->name, 60);
        if (has_losses) kn_buffer_printf(&item, " %.3g", facts->column_loss[q]);
        if (facts->release->levels != NULL)
            kn_buffer_printf(&item, has_losses ? " (level %u)" : " level %u", facts->release->levels[q]);
        const size_t n = item.n > 0 ? kn_text_columns(item.bytes) : 0;
        if (i != 0 && used + n + 3 > 80) { /* a comma on either side */
            kn_buffer_text(out, ",\n                ");
            used = 16;
        } else if (i != 0) {
            kn_buffer_text(out, ", ");
            used += 2;
        }
        kn_buffer_append(out, item.bytes, item.n);
        used += n;
        out->failed |= item.failed;
        kn_buffer_free(&item);
    }
    if (n_shown < n_qis)
        kn_buffer_printf(out, ";\n                %u more%s: see --report or --json", n_qis - n_shown,
                         has_losses ? " that lose no more" : "");
    kn_buffer_char(out, '\n');
}

static void loss_lines(kn_buffer *out, const kn_facts *facts)
{
    line(out, "loss");
    kn_buffer_printf(out, "%s %.6g", facts->objective->type->name, facts->loss);
    if (facts->optimal) kn_buffer_text(out, ", proven optimal for this recoding");
    else if (isfinite(facts->bound) && facts->loss > 0)
        kn_buffer_printf(out, "; proven: none below %.4g, a gap of %.3g%%", facts->bound,
                         100 * kn_facts_gap(facts, facts->bound));
    kn_buffer_char(out, '\n');
    bound_lines(out, facts);
    guarantee_lines(out, facts);
    /* only sums over cells fall on columns */
    bool has_losses = facts->tuples->n_qis > 0 && !isnan(facts->column_loss[0]);
    if (!has_losses && facts->release->levels == NULL) return;
    column_losses(out, facts, has_losses);
}

/* A run that came here has a verdict that holds, with every check made. */
static void verdict_lines(kn_buffer *out, const kn_verdict *verdict)
{
    line(out, "verified");
    kn_buffer_printf(out, "%zu checks hold on the written file\n", verdict->n_checks);
}

kn_status kn_facts_summary(char **out, const kn_facts *facts, kn_error *err)
{
    static const char *const stopped[] = {"", ", stopped by its work budget", ", stopped by the time limit",
                                          ", interrupted", ", stopped when it stood still"};
    kn_buffer text = {0};
    const kn_release *r = facts->release;
    kn_buffer_printf(&text, "Released %s of %s rows",
                     page_count(&page_plain, facts->tuples->n_rows - r->n_removed).text,
                     page_count(&page_plain, facts->tuples->n_rows).text);
    if (facts->tuples->row_person != NULL)
        kn_buffer_printf(&text, ", %s of %s %s,", page_count(&page_plain, facts->n_released_persons).text,
                         page_count(&page_plain, facts->tuples->n_persons).text, kn_unit_plural(facts->unit));
    const uint32_t n_classes = kn_release_seen_classes(r);
    kn_buffer_printf(&text, " in %s class%s\n", page_count(&page_plain, n_classes).text, n_classes == 1 ? "" : "es");
    model_lines(&text, facts);
    loss_lines(&text, facts);
    if (r->n_suppressed != 0) {
        line(&text, "suppressed");
        const double share = 100.0 * (double)r->n_suppressed / (double)facts->tuples->n_rows;
        kn_buffer_printf(&text, "%s row%s (%.*g%%)%s\n", page_count(&page_plain, r->n_suppressed).text,
                         r->n_suppressed == 1 ? "" : "s", share < 99.5 ? 2 : 3, share,
                         r->n_removed != 0 ? ", removed: too few to hide among each other"
                                           : ", kept with * in every QI");
    }
    line(&text, "algorithm");
    kn_buffer_printf(&text, "%s%s%s%s%s\n", facts->algorithm, facts->algorithm_params != NULL ? ":" : "",
                     facts->algorithm_params != NULL ? facts->algorithm_params : "",
                     facts->polished ? ", polished by cluster" : "", stopped[facts->stopped]);
    if (facts->why != NULL) {
        line(&text, "");
        kn_buffer_printf(&text, "%s\n", facts->why);
    }
    if (facts->verdict != NULL) verdict_lines(&text, facts->verdict);
    line(&text, "time");
    kn_buffer_printf(&text, "%.2f s (search %.2f s), %.0f MB\n", facts->seconds.total, facts->seconds.search,
                     (double)facts->peak_bytes / 1e6);
    if (facts->trace != NULL && facts->trace->explanation.n != 0) {
        kn_buffer_text(&text, "\nWhat the search did\n");
        kn_buffer_append(&text, facts->trace->explanation.bytes, facts->trace->explanation.n);
    }
    return kn_buffer_finish(out, &text, err);
}
