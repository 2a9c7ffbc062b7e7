/* The report that somebody signs: what was asked, guaranteed, lost and risked, in one file without script. */
#include "report/html_parts.h"

#include <math.h>
#include <string.h>

static kn_text role_text(kn_role role)
{
    switch (role) {
    case KN_ROLE_IDENTIFIER: return KN_TEXT_ROLE_IDENTIFIER;
    case KN_ROLE_QUASI: return KN_TEXT_ROLE_QUASI;
    case KN_ROLE_SENSITIVE: return KN_TEXT_ROLE_SENSITIVE;
    case KN_ROLE_INSENSITIVE: return KN_TEXT_ROLE_INSENSITIVE;
    default: return KN_TEXT_ROLE_DROPPED;
    }
}

static kn_text type_text(kn_type type)
{
    switch (type) {
    case KN_TYPE_INT: return KN_TEXT_TYPE_INT;
    case KN_TYPE_DECIMAL: return KN_TEXT_TYPE_DECIMAL;
    case KN_TYPE_DATE: return KN_TEXT_TYPE_DATE;
    default: return KN_TEXT_TYPE_TEXT;
    }
}

/* A model names its column, or there is only one to name. Models that only count persons protect no value. */
bool report_is_protected(const kn_report *report, uint32_t sensitive)
{
    const kn_facts *facts = report->facts;
    const char *name = facts->tuples->sensitive[sensitive].column->name;
    for (size_t m = 0; m < facts->n_models; m++) {
        const kn_model_fact *model = &facts->models[m];
        if (model->protects_values && (model->column == NULL || strcmp(model->column, name) == 0)) return true;
    }
    return false;
}

static void technique_quasi(page *to, const kn_report *report, const kn_column *column)
{
    const kn_tuples *tuples = report->facts->tuples;
    const kn_release *release = report->facts->release;
    for (uint32_t q = 0; q < tuples->n_qis; q++) {
        const kn_domain *domain = tuples->domains[q];
        if (domain->column != column) continue;
        if (domain->kind == KN_DOMAIN_RANGES) page_say(to, "td", KN_TEXT_TECH_RANGES, NULL, NULL, NULL);
        const bool is_grouped = domain->naming == KN_NAMES_GROUP;
        if (is_grouped) page_say(to, "td", KN_TEXT_TECH_GROUPS, NULL, NULL, NULL);
        if (is_grouped) return;
        if (domain->subsets != NULL) {
            words n_subsets = page_count(to, domain->subsets->root - domain->subsets->n_codes);
            page_say(to, "td", KN_TEXT_TECH_SUBSETS, n_subsets.text, NULL, NULL);
            return;
        }
        if (domain->kind == KN_DOMAIN_SETS) page_say(to, "td", KN_TEXT_TECH_SETS, NULL, NULL, NULL);
        if (domain->kind != KN_DOMAIN_TREE) return;
        words n_levels = page_count(to, domain->tree->n_levels - 1);
        if (release->levels != NULL)
            page_say(to, "td", KN_TEXT_TECH_TREE_LEVEL, page_count(to, release->levels[q]).text, n_levels.text, NULL);
        else page_say(to, "td", KN_TEXT_TECH_TREE, n_levels.text, NULL, NULL);
        return;
    }
    page_td(to, "");
}

static void technique(page *to, const kn_report *report, const kn_column *column)
{
    kn_text text = KN_TEXT_TECH_COPIED;
    const kn_tuples *tuples = report->facts->tuples;
    if (column->role == KN_ROLE_QUASI) {
        technique_quasi(to, report, column);
        return;
    }
    if (column->role == KN_ROLE_IDENTIFIER) text = column->is_person ? KN_TEXT_TECH_PERSON : KN_TEXT_TECH_REMOVED;
    if (column->role == KN_ROLE_DROPPED) text = KN_TEXT_TECH_DROPPED;
    for (uint32_t s = 0; column->role == KN_ROLE_SENSITIVE && s < tuples->n_table_sensitive; s++)
        if (tuples->sensitive[s].column == column)
            text = report_is_protected(report, s) ? KN_TEXT_TECH_SENSITIVE : KN_TEXT_TECH_SENSITIVE_BARE;
    page_say(to, "td", text, NULL, NULL, NULL);
}

/* COL=SPEC of a setting that tells how a column was computed. */
static void derived_columns(page *to, const kn_report *report)
{
    const kn_table *table = report->facts->table;
    for (size_t i = 0; i < report->n_settings; i++)
        for (uint32_t c = 0; strcmp(report->settings[i].option, "derive") == 0 && c < table->n_columns; c++) {
            const size_t n = strlen(table->columns[c].name);
            const char *value = report->settings[i].value;
            if (strncmp(value, table->columns[c].name, n) == 0 && value[n] == '=')
                page_say(to, "p", KN_TEXT_DERIVED, table->columns[c].name, value + n + 1, NULL);
        }
}

void part_asked(page *to, const kn_report *report)
{
    static const kn_text headings[] = {KN_TEXT_COLUMN, KN_TEXT_ROLE, KN_TEXT_TYPE, KN_TEXT_TECHNIQUE};
    const kn_facts *facts = report->facts;
    page_section(to, "asked", KN_TEXT_ASKED);
    page_say(to, "p", KN_TEXT_ASKED_TEXT, facts->data_name, page_count(to, facts->tuples->n_rows).text,
             page_count(to, facts->table->n_columns).text);
    page_table(to, KN_TEXT_ROLES_CAPTION, NULL, NULL);
    page_head(to, headings, 4, 4);
    for (uint32_t c = 0; c < facts->table->n_columns; c++) {
        const kn_column *column = &facts->table->columns[c];
        page_row(to);
        page_th(to, column->name);
        page_td_word(to, page_text(to, role_text(column->role)));
        page_td(to, column->codes != NULL ? page_text(to, type_text(column->type)) : "–");
        technique(to, report, column);
        page_row_end(to);
    }
    page_table_end(to);
    derived_columns(to, report);
    page_section_end(to);
}

/* Otherwise the command asked for it. */
static bool is_from_policy(const kn_report *report, const kn_model_fact *model)
{
    for (size_t i = 0; i < report->n_settings; i++)
        if (report->settings[i].params != NULL && report->settings[i].params == model->public_params)
            return report->settings[i].where != NULL;
    return false;
}

/* In words, without values of the data: which ones a model protects is for whoever wrote them down. */
static void asked_cell(page *to, const kn_report *report, const kn_model_fact *model)
{
    kn_buffer text = {0};
    report_promise(&text, to, model, report_protected_column(report->facts, model));
    page_raw(to, "<td class=\"v\">");
    if (!text.failed) page_user(to, text.bytes);
    if (model->hides_values) {
        page_raw(to, "; ");
        page_escaped(
            to, page_text(to, is_from_policy(report, model) ? KN_TEXT_VALUES_OF_POLICY : KN_TEXT_VALUES_OF_COMMAND));
    }
    page_raw(to, "</td>");
    to->out.failed |= text.failed;
    kn_buffer_free(&text);
}

static void models_table(page *to, const kn_report *report)
{
    static const kn_text headings[] = {KN_TEXT_MODEL, KN_TEXT_PARAMETERS, KN_TEXT_HOLDS, KN_TEXT_WORST};
    const kn_facts *facts = report->facts;
    page_table(to, KN_TEXT_MODELS_CAPTION, NULL, NULL);
    page_head(to, headings, 4, 3);
    for (size_t m = 0; m < facts->n_models; m++) {
        const kn_model_fact *model = &facts->models[m];
        page_row(to);
        page_th(to, model->name);
        asked_cell(to, report, model);
        page_td_word(to, page_text(to, model->holds ? KN_TEXT_YES : KN_TEXT_STATE_BROKEN));
        page_td_figure(to, page_number(to, model->worst).text);
        page_row_end(to);
    }
    page_table_end(to);
}

static void finding(page *to, const kn_check *check, const kn_catalogue *catalogue)
{
    kn_buffer detail = {0};
    kn_check_detail(&detail, check, catalogue);
    if (detail.failed) to->out.failed = true;
    else page_td_values(to, detail.bytes);
    kn_buffer_free(&detail);
}

/* Models are called as the user calls them, with the column that tells those of one name apart. */
static void check_name(page *to, const kn_facts *facts, size_t slot)
{
    kn_buffer name = {0};
    const size_t m = slot - KN_SLOT_MODELS;
    const bool is_model = slot >= KN_SLOT_MODELS && m < facts->n_models &&
                          strcmp(facts->models[m].name, facts->verdict->checks[slot].name) == 0;
    if (is_model) report_model_name(&name, facts, &facts->models[m]);
    if (is_model) page_th(to, name.failed ? "" : name.bytes);
    else if (strcmp(facts->verdict->checks[slot].name, KN_CHECK_LEVELS) == 0)
        page_th(to, page_text(to, KN_TEXT_CHECK_LEVELS));
    else if (slot >= KN_SLOT_MODELS) page_th(to, facts->verdict->checks[slot].name);
    else page_th(to, page_text(to, (kn_text)(KN_TEXT_CHECK_TABLE + slot)));
    to->out.failed |= name.failed;
    kn_buffer_free(&name);
}

/* What was found of each class stands in the appendix: what is to be signed does not grow with the columns. */
void part_guaranteed(page *to, const kn_report *report)
{
    static const kn_text headings[] = {KN_TEXT_CHECK, KN_TEXT_RESULT, KN_TEXT_FINDING};
    static const kn_text states[] = {KN_TEXT_STATE_HOLDS, KN_TEXT_STATE_BROKEN, KN_TEXT_STATE_NOT_MADE};
    const kn_verdict *verdict = report->facts->verdict;
    page_section(to, "guaranteed", KN_TEXT_GUARANTEED);
    page_say(to, "p", KN_TEXT_GUARANTEED_TEXT, NULL, NULL, NULL);
    models_table(to, report);
    if (verdict == NULL) {
        page_say(to, "p", KN_TEXT_NOT_VERIFIED, NULL, NULL, NULL);
        page_section_end(to);
        return;
    }
    page_say(to, "p", KN_TEXT_CHECKED_TEXT, NULL, NULL, NULL);
    page_table(to, KN_TEXT_CHECKS_CAPTION, NULL, NULL);
    page_head(to, headings, 3, 3);
    for (size_t i = 0; i < verdict->n_checks; i++) {
        page_row(to);
        check_name(to, report->facts, i);
        page_td_word(to, page_text(to, states[verdict->checks[i].state]));
        finding(to, &verdict->checks[i], kn_language_brief(to->language));
        page_row_end(to);
    }
    page_table_end(to);
    page_section_end(to);
}

void part_worst(page *to, const kn_report *report)
{
    static const kn_text headings[] = {KN_TEXT_CHECK, KN_TEXT_FINDING};
    const kn_verdict *verdict = report->facts->verdict;
    if (verdict == NULL || report->redact || verdict->n_checks <= KN_SLOT_MODELS) return;
    page_table(to, KN_TEXT_WORST_CAPTION, NULL, NULL);
    page_head(to, headings, 2, 2);
    for (size_t i = KN_SLOT_MODELS; i < verdict->n_checks; i++) {
        page_row(to);
        check_name(to, report->facts, i);
        finding(to, &verdict->checks[i], kn_language_sentences(to->language));
        page_row_end(to);
    }
    page_table_end(to);
}

/* "... (see --model)" and "...; --trim removes it" are for whoever runs the program, not for whoever signs. */
static size_t without_flag(const kn_buffer *text)
{
    if (text->n == 0) return 0;
    const char *open = text->bytes[text->n - 1] == ')' ? strrchr(text->bytes, '(') : NULL;
    if (open != NULL && open > text->bytes && strstr(open, " --") != NULL) return (size_t)(open - 1 - text->bytes);
    const char *clause = strrchr(text->bytes, ';');
    return clause != NULL && strstr(clause, " --") != NULL ? (size_t)(clause - text->bytes) : text->n;
}

static void warnings_list(page *to, const kn_buffer *warnings)
{
    kn_buffer text = {0};
    if (warnings == NULL || warnings->n == 0) return;
    page_say(to, "h3", KN_TEXT_WARNINGS, NULL, NULL, NULL);
    page_raw(to, "<ul>\n");
    for (const char *at = warnings->bytes; !warnings->failed && !text.failed && at < warnings->bytes + warnings->n;) {
        kn_buffer_clear(&text);
        at = kn_sentence_text(&text, at, kn_language_sentences(to->language));
        page_raw(to, "<li>");
        if (!text.failed) page_escape(to, text.bytes, without_flag(&text));
        page_raw(to, "</li>\n");
    }
    page_raw(to, "</ul>\n");
    to->out.failed |= text.failed;
    kn_buffer_free(&text);
}

static void part_short(page *to, const kn_report *report)
{
    const kn_facts *facts = report->facts;
    const kn_release *release = facts->release;
    bool holds = facts->verdict == NULL || facts->verdict->state == KN_VERDICT_HOLDS;
    for (size_t m = 0; m < facts->n_models; m++) holds &= facts->models[m].holds;
    page_section(to, "short", KN_TEXT_SHORT);
    if (!holds) page_say(to, "p class=\"verdict broken\"", KN_TEXT_BROKEN_SOME, NULL, NULL, NULL);
    else if (facts->verdict == NULL) page_say(to, "p class=\"verdict\"", KN_TEXT_NOT_VERIFIED, NULL, NULL, NULL);
    else page_say(to, "p class=\"verdict\"", KN_TEXT_HOLDS_ALL, NULL, NULL, NULL);
    part_origin(to, &report->origin, facts->output_name, report->release_hash);
    page_raw(to, "<ul>\n");
    page_say(to, "li", KN_TEXT_SHORT_PEOPLE, page_count(to, report->after.n_persons).text,
             page_count(to, report->after.n_classes).text, page_count(to, report->after.smallest).text);
    if (to->unit == KN_UNIT_HOUSEHOLD)
        page_say(to, "li", KN_TEXT_HOUSEHOLDS, facts->table->columns[facts->table->person].name, NULL, NULL);
    page_say(to, "li", KN_TEXT_SHORT_ROWS, page_count(to, facts->tuples->n_rows - release->n_removed).text,
             page_count(to, facts->tuples->n_rows).text, page_count(to, release->n_suppressed).text);
    page_say(to, "li", KN_TEXT_SHORT_RISK, page_percent(to, report->before.prosecutor.highest).text,
             page_percent(to, report->after.prosecutor.highest).text, NULL);
    page_say(to, "li", KN_TEXT_SHORT_LOSS, page_number(to, facts->loss).text, facts->objective->type->name, NULL);
    page_raw(to, "</ul>\n");
    warnings_list(to, report->warnings);
    page_section_end(to);
}

static void contents(page *to, const kn_report *report)
{
    static const struct {
        const char *id;
        kn_text heading;
    } parts[] = {
        {"short", KN_TEXT_SHORT},       {"asked", KN_TEXT_ASKED},          {"guaranteed", KN_TEXT_GUARANTEED},
        {"lost", KN_TEXT_LOST},         {"optimum", KN_TEXT_OPTIMUM},      {"risk", KN_TEXT_RISK},
        {"words", KN_TEXT_WORDS},       {"limits", KN_TEXT_NOT_PROTECTED}, {"sign", KN_TEXT_SIGN},
        {"appendix", KN_TEXT_APPENDIX}, {"compared", KN_TEXT_COMPARED},    {"values", KN_TEXT_VALUES},
        {"search", KN_TEXT_SEARCH},     {"sizes", KN_TEXT_SIZES},          {"sets", KN_TEXT_SETS},
        {"look", KN_TEXT_LOOK},         {"settings", KN_TEXT_SETTINGS},
    };
    page_raw(to, "<nav aria-label=\"");
    page_escaped(to, page_text(to, KN_TEXT_CONTENTS));
    page_raw(to, "\">\n<ol>\n");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (parts[i].heading == KN_TEXT_COMPARED && !can_be_compared(report)) continue;
        kn_buffer_printf(&to->out, "<li><a href=\"#%s\">", parts[i].id);
        page_escaped(to, page_text(to, parts[i].heading));
        page_raw(to, "</a></li>\n");
    }
    page_raw(to, "</ol>\n</nav>\n");
}

kn_status kn_report_html(char **out, const kn_report *report, kn_error *err)
{
    kn_status status = KN_OK;
    page to = {.language = report->language, .unit = kn_facts_unit(report->facts)};
    *out = NULL;
    page_open(&to, KN_TEXT_TITLE, KN_TEXT_SUBTITLE, report->facts->data_name);
    contents(&to, report);
    part_short(&to, report);
    part_asked(&to, report);
    part_guaranteed(&to, report);
    KN_TRY(part_lost(&to, report, err));
    part_optimum(&to, report);
    part_risk(&to, report);
    part_words(&to, report);
    part_limits(&to, report);
    part_sign(&to, report);
    page_raw(&to, "<div class=\"appendix\">\n");
    page_say(&to, "h2 id=\"appendix\"", KN_TEXT_APPENDIX, NULL, NULL, NULL);
    page_say(&to, "p", KN_TEXT_APPENDIX_TEXT, NULL, NULL, NULL);
    KN_TRY(part_compared(&to, report, err));
    part_values(&to, report);
    KN_TRY(part_search(&to, report, err));
    KN_TRY(part_sizes(&to, report, err));
    part_sets(&to, report);
    part_classes(&to, report);
    part_settings(&to, report);
    page_raw(&to, "</div>\n");
    page_close(&to);
    KN_TRY(kn_buffer_finish(out, &to.out, err));
done:
    kn_buffer_free(&to.out);
    return status;
}
