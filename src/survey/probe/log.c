#include "log.h"

#include "base/cleanup.h"
#include "base/log.h"

void probe_log(const coop_log *log, const coop_probe *probe)
{
    struct log_span span;

    log_span_begin(&span, log, "probe");
    log_write(&span, COOP_LOG_INFO, "%s, kernel %s", coop_probe_summary(probe),
              coop_probe_kernel(probe));
    for (size_t i = 0; i < coop_probe_n_capabilities(probe); i++) {
        const coop_capability *capability = coop_probe_capability(probe, i);

        log_write(&span,
                  capability->available || !capability->needed ? COOP_LOG_DEBUG : COOP_LOG_WARN,
                  "%s: %s%s%s", capability->name, capability->available ? "yes" : "no",
                  capability->detail ? ", " : "", capability->detail ? capability->detail : "");
    }
}

void probe_print_missing(struct buffer *out)
{
    static const char *const names[] = { "user-namespaces", "mount-namespace", "landlock",
                                         "seccomp" };
    const char *before = "";
    coop_probe *probe = NULL;

    if (coop_probe_new(&probe, NULL) < 0)
        return;
    for (size_t i = 0; i < COUNT(names); i++) {
        const coop_capability *capability = coop_probe_find(probe, names[i]);

        if (!capability || capability->available)
            continue;
        buffer_printf(out, "%s%s: %s", before, capability->title, capability->detail);
        before = "; ";
    }
    coop_probe_free(probe);
}
