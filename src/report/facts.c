/* Evaluates a release under every registered measure and every model in force. */
#include "report/facts.h"

#include <math.h>
#include <string.h>

kn_status kn_facts_losses(kn_facts *facts, kn_error *err)
{
    kn_status status = KN_OK;
    size_t n;
    const kn_measure *const *all = kn_measure_all(&n);
    kn_objective *objective = NULL;
    KN_NEW(facts->losses, n);
    for (size_t i = 0; i < n; i++) {
        kn_loss *loss = &facts->losses[facts->n_losses++];
        *loss = (kn_loss){all[i]->name, NAN};
        if (all[i]->needs != 0 && facts->tuples->n_sensitive == 0) continue;
        kn_error ignored = {{0}}; /* a measure may need a choice of column that the user did not have to make */
        status = kn_objective_new(&objective, all[i]->name, facts->tuples, &ignored);
        if (status == KN_USAGE) {
            status = KN_OK;
            continue;
        }
        if (status != KN_OK) KN_FAIL(status, "%s", ignored.message);
        KN_TRY(kn_objective_loss(&loss->value, objective, facts->release, err));
        kn_objective_free(objective);
        objective = NULL;
    }
done:
    kn_objective_free(objective);
    return status;
}

static kn_status judge_models(kn_facts *facts, const kn_models *models, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_release *r = facts->release;
    kn_histogram *buffer = NULL;
    uint32_t n_seen = r->n_classes + (r->n_suppressed != 0 && r->n_removed == 0);
    KN_NEW(facts->models, models->n);
    KN_NEW(buffer, facts->tuples->n_sensitive);
    for (size_t m = 0; m < models->n; m++) {
        const kn_model *model = &models->items[m];
        kn_model_fact *fact = &facts->models[facts->n_models++];
        *fact = (kn_model_fact){.name = model->type->name, .holds = true, .worst = NAN};
        kn_buffer params = {0};
        for (size_t i = 0; i < model->args.n; i++)
            if (model->args.values[i].given)
                kn_buffer_printf(&params, "%s%s=%s", params.n != 0 ? "," : "", model->args.params[i].name,
                                 model->args.values[i].text);
        KN_TRY(kn_buffer_finish(&fact->params, &params, err));
        for (uint32_t c = 0; c < n_seen; c++) {
            kn_class_counts counts = kn_release_class(r, c, buffer);
            double value = model->type->value(model->state, &counts);
            bool worse = model->type->worst_is_least ? value < fact->worst : value > fact->worst;
            if (isnan(fact->worst) || worse) fact->worst = value;
            fact->holds &= model->type->holds(model->state, &counts);
        }
    }
done:
    kn_free(buffer);
    return status;
}

kn_status kn_facts_measure(kn_facts *facts, const kn_models *models, kn_error *err)
{
    kn_status status = KN_OK;
    const kn_objective *objective = facts->task->objective;
    KN_TRY(kn_facts_losses(facts, err));
    KN_TRY(judge_models(facts, models, err));
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
