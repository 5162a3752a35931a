#include "print.h"

#include <string.h>

#include "base/json/write.h"
#include "base/printable.h"
#include "plan/print/place.h"

static const char *const stage_names[] = { [PHASE_BOX] = "box",
                                           [PHASE_EARLY] = "beside",
                                           [PHASE_COMMAND] = "command",
                                           [PHASE_SEAL] = "seal",
                                           [PHASE_LAST] = "seal" };

static const char *const wall_names[] = { "files",      "processes", "network", "syscalls",
                                          "privileges", "protected", "commands" };

/* The step, and what it comes to where that can be seen already. */
static void describe(const struct plan *plan, size_t index, char *out, size_t size)
{
    const struct step *step = &plan->steps[index];

    plan_describe_step(plan, index, out, size);
    if (step->kind != STEP_HIDE)
        return;
    size_t n = strlen(out);
    struct print_place place = print_place_find(plan, index, step->target);
    if (place.kind == PLACE_ABSENT)
        (void)snprintf(out + n, size - n, ": nothing is there, so nothing is hidden");
    else if (place.kind == PLACE_LINK)
        (void)snprintf(out + n, size - n, ": a symbolic link, which will be refused");
}

void plan_print_text(const struct plan *plan, struct buffer *out)
{
    char words[1024];

    buffer_printf(out, "tier: %s\n", coop_tier_name(plan->tier));
    for (int i = 0; i < COOP_WALL_COUNT; i++)
        buffer_printf(out, "  %-11s %s\n", wall_names[i],
                      plan->enforced.walls[i] ? plan->enforced.walls[i] : "not enforced");
    for (int i = 0; i < COOP_LIMIT_COUNT; i++)
        if (plan->policy->limits[i] != COOP_LIMIT_NONE)
            buffer_printf(out, "  %-11s %llu, %s\n", policy_limit_names[i],
                          (unsigned long long)plan->policy->limits[i],
                          plan->enforced.limits[i] ? plan->enforced.limits[i] : "not enforced");
    buffer_append_string(out, "steps:\n");
    for (size_t i = 0; i < plan->n_steps; i++) {
        describe(plan, i, words, sizeof words);
        buffer_printf(out, "%4zu  %-8s ", i + 1, stage_names[plan->steps[i].phase]);
        printable_append(out, words, strlen(words));
        buffer_append_char(out, '\n');
    }
    buffer_append_string(out, "environment:\n");
    for (size_t i = 0; i < plan->n_environment; i++) {
        /* Names only: a value may be a secret. */
        buffer_append_string(out, "      ");
        printable_append(out, plan->environment[i], strcspn(plan->environment[i], "="));
        buffer_append_char(out, '\n');
    }
    buffer_append_string(out, "execute:\n      ");
    printable_append(out, plan->argv[0], strlen(plan->argv[0]));
    buffer_append_char(out, '\n');
}

void plan_print_json(const struct plan *plan, struct buffer *out)
{
    struct json_writer json;
    char words[1024];

    json_write_init(&json, out, true);
    json_write_object_begin(&json);
    json_write_key(&json, "version");
    json_write_uint(&json, 1);
    json_write_key(&json, "tier");
    json_write_text(&json, coop_tier_name(plan->tier));
    json_write_key(&json, "walls");
    json_write_object_begin(&json);
    for (int i = 0; i < COOP_WALL_COUNT; i++) {
        json_write_key(&json, wall_names[i]);
        json_write_text(&json, plan->enforced.walls[i]);
    }
    json_write_object_end(&json);
    json_write_key(&json, "steps");
    json_write_array_begin(&json);
    for (size_t i = 0; i < plan->n_steps; i++) {
        describe(plan, i, words, sizeof words);
        json_write_object_begin(&json);
        json_write_key(&json, "stage");
        json_write_text(&json, stage_names[plan->steps[i].phase]);
        json_write_key(&json, "kind");
        json_write_text(&json, step_rows[plan->steps[i].kind].name);
        json_write_key(&json, "words");
        json_write_text(&json, words);
        json_write_object_end(&json);
    }
    json_write_array_end(&json);
    json_write_key(&json, "environment");
    json_write_array_begin(&json);
    for (size_t i = 0; i < plan->n_environment; i++)
        json_write_string(&json, plan->environment[i], strcspn(plan->environment[i], "="));
    json_write_array_end(&json);
    json_write_object_end(&json);
    json_write_finish(&json);
}
