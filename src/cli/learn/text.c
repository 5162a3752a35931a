/*
 * text.c - the policy of the next run, and the one that is suggested
 */
#include <errno.h>
#include <string.h>

#include "base/buffer.h"
#include "base/shell_word.h"
#include "cli/learn/learn.h"
#include "policy/path/path.h"

/* Then the directory itself is there because of what is shown in it. */
static bool has_open_below(const struct learning *learning, const struct need *directory)
{
    for (size_t i = 0; i < learning->needs.n; i++) {
        const struct need *need = &learning->needs.items[i];

        if (need_is_path(need) && need->verdict == NEED_OPEN && need != directory &&
            strcmp(need->what, directory->what) != 0 && path_is_within(need->what, directory->what))
            return true;
    }
    return false;
}

/* Was it looked at, or looked into? An empty directory shows what comes next. */
bool learn_is_stand_in(const struct learning *learning, const struct need *need)
{
    if (need->kind != NEED_READ || !need->is_directory || has_open_below(learning, need))
        return false;
    return need->verdict == NEED_TOO_WIDE ||
           (need->verdict == NEED_OPEN && need->round == learning->round);
}

struct choice {
    const struct learning *learning;
    bool is_trial;
};

static bool is_wanted(void *context, const struct need *need)
{
    const struct choice *choice = context;

    if (need->kind != NEED_READ || !need->is_directory)
        return true;
    return !has_open_below(choice->learning, need) &&
           !(choice->is_trial && learn_is_stand_in(choice->learning, need));
}

static bool is_of_home(const struct learning *learning, const struct learn_grants *grants)
{
    for (size_t i = 0; i < grants->n; i++)
        if (path_is_within(grants->items[i].path, learning->home))
            return true;
    return false;
}

int learn_text(const struct learning *learning, bool is_trial, const char *outcome,
               struct buffer *out)
{
    struct choice choice = { learning, is_trial };
    struct learn_grants grants;
    struct learn_hidden hidden = { 0 };
    auto_buffer struct buffer command = { 0 };

    int r = learn_collapse(&learning->needs, &learning->places, is_wanted, &choice, &grants);
    if (r < 0)
        return r;
    learn_search(learning, &grants, &hidden);
    for (size_t i = 0; learning->command[i]; i++) {
        if (i > 0)
            buffer_append_char(&command, ' ');
        shell_word_append(&command, learning->command[i]);
    }
    struct learned learned = {
        .command = command.failed || !command.data ? "" : command.data,
        .outcome = outcome,
        .grants = &grants,
        .needs = &learning->needs,
        .hidden = (const char *const *)hidden.paths,
        .n_hidden = hidden.n,
        .is_unsearched = hidden.is_unsearched,
        .home = learning->use_home && learning->home && (is_trial || is_of_home(learning, &grants))
                    ? learning->home
                    : NULL,
        .allow = learning->allow,
        .n_allow = learning->n_allow,
        .env_pass = learning->env_pass,
        .n_env_pass = learning->n_env_pass,
        .same_path = learning->same_path,
        .is_trial = is_trial,
    };
    memcpy(learned.limits, learning->limits, sizeof learned.limits);
    learn_write(&learned, out);
    learn_hidden_done(&hidden);
    learn_grants_done(&grants);
    return out->failed ? -ENOMEM : 0;
}
