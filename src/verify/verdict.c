/* Checks to a verdict, and the verdict as a status, as text and as JSON. Whoever asks whether a release may leave asks
 * here: nobody else looks at the states of single checks. */
#include "verify/verify.h"

#include "base/json_writer.h"

static bool is_left_open(const kn_check *check) { return check->asked && check->state == KN_CHECK_NOT_MADE; }

kn_verdict_state kn_verdict_of_checks(const kn_check *checks, size_t n_checks)
{
    bool is_open = n_checks == 0;
    for (size_t i = 0; i < n_checks; i++) {
        if (checks[i].state == KN_CHECK_BROKEN) return KN_VERDICT_BROKEN;
        is_open |= is_left_open(&checks[i]);
    }
    return is_open ? KN_VERDICT_UNDECIDED : KN_VERDICT_HOLDS;
}

void kn_verdict_free(kn_verdict *verdict)
{
    if (verdict == NULL) return;
    for (size_t i = 0; i < verdict->n_checks; i++) kn_buffer_free(&verdict->checks[i].detail);
    kn_free(verdict->checks);
    kn_free(verdict);
}

void kn_check_detail(kn_buffer *out, const kn_check *check, const kn_catalogue *catalogue)
{
    if (check->detail.n == 0) kn_sentence_say(out, kn_said(KN_SAY_NOT_MADE), catalogue);
    else kn_sentence_text(out, check->detail.bytes, catalogue);
}

kn_status kn_verdict_status(const kn_verdict *verdict, kn_error *err)
{
    kn_status status = KN_OK;
    kn_buffer detail = {0};
    if (verdict->state == KN_VERDICT_HOLDS) return KN_OK;
    bool is_broken = verdict->state == KN_VERDICT_BROKEN;
    for (size_t i = 0; i < verdict->n_checks; i++) {
        const kn_check *check = &verdict->checks[i];
        if (!(is_broken ? check->state == KN_CHECK_BROKEN : is_left_open(check))) continue;
        kn_check_detail(&detail, check, NULL);
        KN_FAIL(KN_NOT_MET, "%s %s: %s", check->name, is_broken ? "does not hold" : "could not be checked",
                detail.failed ? "out of memory" : detail.bytes);
    }
    KN_FAIL(KN_NOT_MET, "nothing was checked");
done:
    kn_buffer_free(&detail);
    return status;
}

/* "undecided" is what the verdict waits for, "not made" what nobody asked for. */
static const char *state_name(const kn_check *check)
{
    static const char *const names[] = {"holds", "broken", "not made"};
    return is_left_open(check) ? "undecided" : names[check->state];
}

kn_status kn_verdict_text(char **out, const kn_verdict *verdict, kn_error *err)
{
    static const char *const states[] = {"Holds", "BROKEN", "Undecided"};
    kn_buffer text = {0};
    kn_buffer_printf(&text, "%s: %llu row%s in %llu class%s, %llu suppressed, smallest class %llu%s%s\n",
                     states[verdict->state], (unsigned long long)verdict->n_rows, verdict->n_rows == 1 ? "" : "s",
                     (unsigned long long)verdict->n_classes, verdict->n_classes == 1 ? "" : "es",
                     (unsigned long long)verdict->n_suppressed, (unsigned long long)verdict->smallest_class,
                     verdict->counted != NULL ? " " : "", verdict->counted != NULL ? verdict->counted : "");
    for (size_t i = 0; i < verdict->n_checks; i++) {
        const kn_check *check = &verdict->checks[i];
        kn_buffer_printf(&text, "  %-9s %s: ", check->state == KN_CHECK_BROKEN ? "BROKEN" : state_name(check),
                         check->name);
        kn_check_detail(&text, check, NULL);
        kn_buffer_char(&text, '\n');
    }
    return kn_buffer_finish(out, &text, err);
}

kn_status kn_verdict_json(char **out, const kn_verdict *verdict, kn_error *err)
{
    kn_json json = {0};
    kn_buffer detail = {0};
    kn_json_object(&json, NULL);
    if (verdict->state == KN_VERDICT_UNDECIDED) kn_json_null(&json, "holds");
    else kn_json_bool(&json, "holds", verdict->state == KN_VERDICT_HOLDS);
    kn_json_count(&json, "rows", verdict->n_rows);
    kn_json_count(&json, "classes", verdict->n_classes);
    kn_json_count(&json, "suppressed", verdict->n_suppressed);
    kn_json_count(&json, "smallest_class", verdict->smallest_class);
    kn_json_text(&json, "classes_count", verdict->counted != NULL ? verdict->counted : "rows");
    kn_json_array(&json, "checks");
    for (size_t i = 0; i < verdict->n_checks; i++) {
        const kn_check *check = &verdict->checks[i];
        kn_json_object(&json, NULL);
        kn_json_text(&json, "name", check->name);
        kn_json_text(&json, "state", state_name(check));
        kn_json_real(&json, "worst", check->worst);
        /* Details name classes and cells; only the reason why a check was not made is free of values. */
        kn_buffer_clear(&detail);
        if (check->state == KN_CHECK_NOT_MADE) kn_check_detail(&detail, check, NULL);
        kn_json_bytes(&json, "detail", detail.bytes, detail.n);
        json.out.failed |= detail.failed;
        kn_json_end(&json);
    }
    kn_json_end(&json);
    kn_json_end(&json);
    kn_buffer_free(&detail);
    return kn_json_finish(out, &json, err);
}
