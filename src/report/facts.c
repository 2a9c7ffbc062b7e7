/* Evaluates a release under every registered measure and every model in force. */
#include "report/facts.h"

#include <math.h>
#include <string.h>

kn_status kn_facts_losses(kn_facts *facts, kn_pool *pool, kn_error *err)
{
    kn_status status = KN_OK;
    kn_measure_report *report = NULL;
    KN_TRY(kn_measure_report_new(&report, facts->release, pool, err));
    KN_NEW(facts->losses, report->n);
    for (size_t i = 0; i < report->n; i++)
        facts->losses[facts->n_losses++] = (kn_loss){report->items[i].type->name, report->items[i].value};
done:
    kn_measure_report_free(report);
    return status;
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
        *fact = (kn_model_fact){.name = model->type->name, .holds = findings[m].holds, .worst = findings[m].worst};
        kn_buffer params = {0};
        for (size_t i = 0; i < model->args.n; i++)
            if (model->args.values[i].given)
                kn_buffer_printf(&params, "%s%s=%s", params.n != 0 ? "," : "", model->args.params[i].name,
                                 model->args.params[i].is_data ? "(given)" : model->args.values[i].text);
        KN_TRY(kn_buffer_finish(&fact->params, &params, err));
    }
done:
    kn_free(findings);
    return status;
}

kn_status kn_facts_measure(kn_facts *facts, const kn_models *models, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_objective *objective = facts->task->objective;
    KN_TRY(kn_facts_losses(facts, facts->task->pool, err));
    KN_TRY(judge_models(facts, models, facts->task->pool, err));
    KN_TRY(kn_objective_loss(&facts->loss, objective, facts->release, err));
    KN_NEW(facts->column_loss, facts->tuples->n_qis);
    for (uint32_t q = 0; q < facts->tuples->n_qis; q++)
        facts->column_loss[q] = kn_objective_column_loss(objective, facts->release, q);
done:
    return status;
}

void kn_facts_free(kn_facts *facts)
{
    for (size_t i = 0; i < facts->n_models; i++) kn_free(facts->models[i].params);
    kn_free(facts->models);
    kn_free(facts->losses);
    kn_free(facts->column_loss);
}
