#include "lifetime.h"

#include <errno.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/quantity.h"
#include "run_config/run_config.h"

static int64_t began_ms(const coop_tools *tools)
{
    (void)pthread_mutex_lock(&tools->shared->lock);
    int64_t began = tools->shared->began_ms;
    (void)pthread_mutex_unlock(&tools->shared->lock);
    return began;
}

void lifetime_continue(coop_tools *tools, const coop_tools *before)
{
    tools->shared->began_ms = began_ms(before);
}

uint64_t lifetime_left_ms(coop_tools *tools)
{
    uint64_t most = tools->identity->run.session_timeout_ms;

    if (most == 0)
        return UINT64_MAX;
    uint64_t gone = (uint64_t)(clock_now_ms() - began_ms(tools));
    return gone < most ? most - gone : 1;
}

int lifetime_check(coop_tools *tools, coop_error **err)
{
    const struct policy_run *run = &tools->identity->run;
    auto_buffer struct buffer origin = { 0 };
    int64_t now = clock_now_ms();
    char most[32];

    (void)pthread_mutex_lock(&tools->shared->lock);
    if (tools->shared->began_ms == 0)
        tools->shared->began_ms = now;
    int64_t began = tools->shared->began_ms;
    (void)pthread_mutex_unlock(&tools->shared->lock);
    if (run->session_timeout_ms == 0 || (uint64_t)(now - began) < run->session_timeout_ms)
        return 0;
    quantity_format_duration_us(run->session_timeout_ms * 1000, most);
    origin_print(&origin, run->session_timeout_origin);
    int r = fail_kind(err, COOP_ERROR_DENIED, EACCES,
                      "the session is over: it was limited to %s (sandbox.session_timeout, %s)",
                      most, origin.data ? origin.data : "");
    return fail_hint(err, r, "start a new session");
}
