/* The report in plain words: what the figures mean, what they rest on, what they do not cover, and who decides. */
#include "report/html_parts.h"

#include <stdio.h>
#include <string.h>

/* Names of models that protect values, or of sensitive columns that none protects, as a list. */
static void names_list(kn_buffer *out, const kn_report *report, bool models)
{
    const kn_facts *facts = report->facts;
    for (size_t m = 0; models && m < facts->n_models; m++)
        if (facts->models[m].protects_values) {
            if (out->n > 0) kn_buffer_text(out, ", ");
            report_model_name(out, facts, &facts->models[m]);
        }
    for (uint32_t s = 0; !models && s < facts->tuples->n_table_sensitive; s++)
        if (!report_is_protected(report, s))
            kn_buffer_printf(out, "%s%s", out->n > 0 ? ", " : "", facts->tuples->sensitive[s].column->name);
}

static void inference(page *to, const kn_report *report)
{
    const kn_tuples *tuples = report->facts->tuples;
    uint64_t most = 0;
    kn_buffer models = {0}, bare = {0};
    page_say(to, "h3", KN_TEXT_INFERENCE, NULL, NULL, NULL);
    if (tuples->n_table_sensitive == 0) {
        page_say(to, "p", KN_TEXT_INFERENCE_NONE, NULL, NULL, NULL);
        return;
    }
    for (uint32_t s = 0; s < tuples->n_table_sensitive && report->disclosure_after != NULL; s++)
        if (report->disclosure_after[s].n_certain > most) most = report->disclosure_after[s].n_certain;
    if (report->disclosure_after != NULL)
        page_say(to, "p", KN_TEXT_INFERENCE_TEXT, page_count(to, most).text, NULL, NULL);
    names_list(&models, report, true);
    names_list(&bare, report, false);
    if (models.n > 0) page_say(to, "p", KN_TEXT_INFERENCE_MODELS, models.bytes, NULL, NULL);
    if (bare.n > 0) page_say(to, "p", KN_TEXT_INFERENCE_UNPROTECTED, bare.bytes, NULL, NULL);
    to->out.failed |= models.failed || bare.failed;
    kn_buffer_free(&models);
    kn_buffer_free(&bare);
}

void part_words(page *to, const kn_report *report)
{
    words smallest = page_count(to, report->after.smallest);
    page_section(to, "words", KN_TEXT_WORDS);
    page_say(to, "h3", KN_TEXT_SINGLING_OUT, NULL, NULL, NULL);
    page_say(to, "p", KN_TEXT_SINGLING_OUT_TEXT, smallest.text, NULL, NULL);
    page_say(to, "h3", KN_TEXT_LINKABILITY, NULL, NULL, NULL);
    page_say(to, "p", KN_TEXT_LINKABILITY_TEXT, smallest.text, NULL, NULL);
    inference(to, report);
    page_section_end(to);
}

void part_limits(page *to, const kn_report *report)
{
    static const kn_text limits[] = {KN_TEXT_LIMIT_RELEASES,  KN_TEXT_LIMIT_SEVERAL,    KN_TEXT_LIMIT_MINIMALITY,
                                     KN_TEXT_LIMIT_KNOWLEDGE, KN_TEXT_LIMIT_STATISTICS, KN_TEXT_LIMIT_LAW};
    const kn_table *table = report->facts->table;
    page_section(to, "assumptions", KN_TEXT_ASSUMPTIONS);
    page_raw(to, "<ul>\n");
    page_say(to, "li", KN_TEXT_ASSUME_QI, NULL, NULL, NULL);
    page_say(to, "li", KN_TEXT_ASSUME_ROLES, NULL, NULL, NULL);
    if (table->person != KN_NONE)
        page_say(to, "li", KN_TEXT_ASSUME_PERSON, table->columns[table->person].name, NULL, NULL);
    else page_say(to, "li", KN_TEXT_ASSUME_ROW, NULL, NULL, NULL);
    if (to->unit == KN_UNIT_HOUSEHOLD)
        page_say(to, "li", KN_TEXT_HOUSEHOLDS, table->columns[table->person].name, NULL, NULL);
    page_say(to, "li", KN_TEXT_ASSUME_TRUE, NULL, NULL, NULL);
    page_raw(to, "</ul>\n");
    page_section_end(to);
    page_section(to, "limits", KN_TEXT_NOT_PROTECTED);
    page_raw(to, "<ul class=\"whole\">\n");
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) page_say(to, "li", limits[i], NULL, NULL, NULL);
    page_raw(to, "</ul>\n");
    page_section_end(to);
}

void fact_row(page *to, kn_text name, const char *value)
{
    if (value == NULL || *value == '\0') return;
    page_row(to);
    page_th(to, page_text(to, name));
    page_raw(to, "<td><code>");
    page_escaped(to, value);
    page_raw(to, "</code></td>");
    page_row_end(to);
}

/* What ties the first page to one moment and its files. The original's hash is not among it: whoever knows all of a
 * table but one cell could try values until the hash fits. */
void part_origin(page *to, const kn_page_origin *origin, const char *release_file, const char *release_hash)
{
    page_table(to, KN_TEXT_SHORT_CAPTION, NULL, NULL);
    page_raw(to, "<tbody class=\"facts\">\n");
    fact_row(to, KN_TEXT_DATE, origin->date);
    fact_row(to, KN_TEXT_RELEASE_FILE, release_file);
    fact_row(to, KN_TEXT_RELEASE_HASH, release_hash);
    fact_row(to, KN_TEXT_POLICY, origin->policy_path);
    fact_row(to, KN_TEXT_POLICY_HASH, origin->policy_hash);
    page_table_end(to);
}

static void run_table(page *to, const kn_report *report)
{
    static const kn_text headings[] = {KN_TEXT_FIGURE_OF, KN_TEXT_VALUE};
    const kn_facts *facts = report->facts;
    kn_buffer algorithm = {0};
    char seconds[200], memory[80];
    words total = page_seconds(to, facts->seconds.total), search = page_seconds(to, facts->seconds.search);
    kn_buffer_printf(&algorithm, "%s%s", facts->algorithm, facts->algorithm_params != NULL ? ":" : "");
    if (facts->algorithm_params != NULL) kn_buffer_cut(&algorithm, facts->algorithm_params, 300);
    to->out.failed |= algorithm.failed;
    snprintf(seconds, sizeof seconds, page_text(to, KN_TEXT_TIME_VALUE), total.text, search.text);
    snprintf(memory, sizeof memory, "%.0f MB", (double)facts->peak_bytes / 1e6);
    page_table(to, KN_TEXT_RUN_CAPTION, NULL, NULL);
    page_head(to, headings, 2, 2);
    fact_row(to, KN_TEXT_VERSION, "kanon " KN_VERSION);
    fact_row(to, KN_TEXT_ALGORITHM, algorithm.bytes);
    fact_row(to, KN_TEXT_MEASURE, facts->objective->type->name);
    fact_row(to, KN_TEXT_SEED, page_count(to, facts->seed).text);
    fact_row(to, KN_TEXT_TIME, seconds);
    fact_row(to, KN_TEXT_MEMORY, memory);
    page_table_end(to);
    kn_buffer_free(&algorithm);
}

void part_settings(page *to, const kn_report *report)
{
    static const kn_text headings[] = {KN_TEXT_OPTION, KN_TEXT_VALUE, KN_TEXT_FROM};
    page_section(to, "settings", KN_TEXT_SETTINGS);
    run_table(to, report);
    if (report->n_settings > 0) {
        page_table(to, KN_TEXT_SETTINGS_CAPTION, NULL, NULL);
        page_head(to, headings, 3, 3);
        for (size_t i = 0; i < report->n_settings; i++) {
            const kn_report_setting *setting = &report->settings[i];
            page_row(to);
            page_th(to, setting->option);
            page_raw(to, "<td><code>");
            page_breaking(to, setting->value);
            if (setting->params != NULL && *setting->params != '\0') {
                page_raw(to, ":");
                page_escaped(to, setting->params);
            }
            page_raw(to, "</code></td>");
            page_td(to, setting->where != NULL ? setting->where : page_text(to, KN_TEXT_FROM_FLAG));
            page_row_end(to);
        }
        page_table_end(to);
    }
    page_section_end(to);
}

/* With the hash beside the signature: a page that is taken out of the report still names its file. */
void part_sign(page *to, const kn_report *report)
{
    static const kn_text lines[] = {KN_TEXT_SIGN_RECIPIENT, KN_TEXT_SIGN_CONDITIONS, KN_TEXT_SIGN_NAME,
                                    KN_TEXT_SIGN_DATE, KN_TEXT_SIGN_SIGNATURE};
    page_section(to, "sign", KN_TEXT_SIGN);
    page_say(to, "p", KN_TEXT_SIGN_TEXT, NULL, NULL, NULL);
    if (report->release_hash[0] != '\0') {
        page_table(to, KN_TEXT_SIGN_CAPTION, NULL, NULL);
        page_raw(to, "<tbody class=\"facts\">\n");
        fact_row(to, KN_TEXT_RELEASE_FILE, report->facts->output_name);
        fact_row(to, KN_TEXT_RELEASE_HASH, report->release_hash);
        page_table_end(to);
    }
    page_raw(to, "<div class=\"sign\">\n");
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) page_say(to, "div", lines[i], NULL, NULL, NULL);
    page_raw(to, "</div>\n");
    page_section_end(to);
}
