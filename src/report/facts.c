/* Evaluates a release under every registered measure and every model in force. */
#include "report/facts.h"

#include "base/sentence.h"

#include "classes/column_cells.h"
#include "risk/risk.h"

#include <math.h>
#include <string.h>

static kn_status find_losses(kn_facts *facts, const kn_release *release, bool brief, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    kn_measure_report *report = NULL;
    KN_TRY(kn_measure_report_new(&report, release, brief, pool, err));
    KN_NEW(facts->losses, report->n);
    for (size_t i = 0; i < report->n; i++)
        facts->losses[facts->n_losses++] = (kn_loss){report->items[i].type->name, report->items[i].value};
done:
    kn_measure_report_free(report);
    return status;
}

kn_status kn_facts_losses(kn_facts *facts, kn_pool *pool, kn_error *err)
{
    return find_losses(facts, facts->release, false, pool, err);
}

static kn_status params_text(char **out, const kn_args *args, bool is_public, kn_error *err)
{
    kn_buffer text = {0};
    for (size_t i = 0; i < args->n; i++)
        if (args->values[i].given)
            kn_buffer_printf(&text, "%s%s=%s", text.n != 0 ? "," : "", args->params[i].name,
                             is_public && args->params[i].is_data ? "(given)" : args->values[i].text);
    return kn_buffer_finish(out, &text, err);
}

static bool names_values(const kn_args *args)
{
    for (size_t i = 0; i < args->n; i++)
        if (args->params[i].is_data && args->values[i].given) return true;
    return false;
}

static const char *column_of(const kn_args *args)
{
    for (size_t i = 0; i < args->n; i++)
        if (strcmp(args->params[i].name, "column") == 0 && args->values[i].given) return args->values[i].text;
    return NULL;
}

static kn_status judge_models(kn_facts *facts, const kn_models *models, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    kn_finding *findings = NULL;
    KN_NEW(facts->models, models->n);
    KN_NEW(findings, models->n);
    KN_TRY(kn_models_findings(findings, models, facts->release, pool, err));
    for (size_t m = 0; m < models->n; m++) {
        const kn_model *model = &models->items[m];
        kn_model_fact *fact = &facts->models[facts->n_models++];
        *fact = (kn_model_fact){.name = model->type->name,
                                .hides_values = names_values(&model->args),
                                .holds = findings[m].holds,
                                .worst = findings[m].worst,
                                .protects_values = (model->type->needs & KN_NEEDS_HISTOGRAM) != 0,
                                .column = column_of(&model->args)};
        KN_TRY(params_text(&fact->params, &model->args, false, err));
        KN_TRY(params_text(&fact->public_params, &model->args, true, err));
    }
done:
    kn_free(findings);
    return status;
}

static kn_status count_persons(kn_facts *facts, kn_error *err)
{
    kn_status status = KN_OK;
    kn_risk_classes classes = {0};
    kn_risk_sizes sizes;
    KN_TRY(kn_risk_classes_of_release(&classes, facts->release, err));
    kn_risk_sizes_count(&sizes, &classes, NULL, 1, KN_RISK_THRESHOLD);
    facts->n_released_persons = sizes.n_persons;
done:
    kn_risk_classes_free(&classes);
    return status;
}

kn_status kn_facts_measure(kn_facts *facts, const kn_models *models, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    kn_column_cells *columns = NULL;
    kn_release counted = *facts->release;
    KN_TRY(kn_columns_count(&columns, facts->release, pool, err));
    counted.columns = columns;
    KN_TRY(find_losses(facts, &counted, true, pool, err));
    KN_TRY(judge_models(facts, models, pool, err));
    KN_TRY(count_persons(facts, err));
    KN_TRY(kn_objective_loss(&facts->loss, facts->objective, &counted, err));
    KN_NEW(facts->column_loss, facts->tuples->n_qis);
    for (uint32_t q = 0; q < facts->tuples->n_qis; q++)
        KN_TRY(kn_objective_column_loss(&facts->column_loss[q], facts->objective, &counted, q, err));
done:
    kn_columns_free(columns, facts->release);
    return status;
}

double kn_facts_least(const kn_facts *facts)
{
    double least = kn_is_bounded(&facts->any) ? facts->any.value : NAN;
    if (facts->release->levels == NULL && facts->guarantee.theorem != NULL) least = fmax(least, facts->bound);
    return least;
}

double kn_facts_gap(const kn_facts *facts, double bound)
{
    const double rounding = 1e-8, gap = facts->loss > 0 ? (facts->loss - bound) / facts->loss : 0;
    return gap > rounding ? gap : 0;
}

kn_buffer kn_facts_unproven(const kn_facts *facts)
{
    const kn_guarantee *guarantee = &facts->guarantee;
    if (guarantee->column == KN_NONE) return kn_said(guarantee->unproven);
    return KN_SAID(guarantee->unproven, kn_piece_name(facts->tuples->domains[guarantee->column]->name));
}

void kn_facts_free(kn_facts *facts)
{
    for (size_t i = 0; i < facts->n_models; i++) {
        kn_free(facts->models[i].params);
        kn_free(facts->models[i].public_params);
    }
    kn_free(facts->models);
    kn_free(facts->losses);
    kn_free(facts->column_loss);
}
