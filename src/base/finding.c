#include "base/finding.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/printable.h"

const char *const severity_names[] = {
    [SEVERITY_INFO] = "info",
    [SEVERITY_WARNING] = "warning",
    [SEVERITY_ERROR] = "error",
};

void findings_add(struct findings *findings, enum severity severity, struct origin origin,
                  const char *fix, const char *format, ...)
{
    struct finding finding = { .severity = severity, .origin = origin };
    va_list args;

    if (severity == SEVERITY_ERROR)
        findings->n_errors++;
    if (findings->n == FINDINGS_MAX) {
        findings->n_dropped++;
        return;
    }
    va_start(args, format);
    if (vasprintf(&finding.message, format, args) < 0)
        finding.message = NULL;
    va_end(args);
    finding.fix = fix ? strdup(fix) : NULL;
    if (!finding.message || (fix && !finding.fix)) {
        free(finding.message);
        free(finding.fix);
        findings->failed = true;
        return;
    }
    findings->items[findings->n++] = finding;
}

void findings_done(struct findings *findings)
{
    for (size_t i = 0; i < findings->n; i++) {
        free(findings->items[i].message);
        free(findings->items[i].fix);
    }
    findings->n = 0;
}

void origin_print(struct buffer *out, struct origin origin)
{
    if (!origin.name) {
        buffer_append_string(out, "built-in default");
        return;
    }
    printable_append(out, origin.name, strlen(origin.name));
    if (origin.line)
        buffer_printf(out, ":%u:%u", origin.line, origin.column);
}

void finding_print(struct buffer *out, const struct finding *finding)
{
    origin_print(out, finding->origin);
    buffer_printf(out, ": %s: ", severity_names[finding->severity]);
    printable_append(out, finding->message, strlen(finding->message));
    if (finding->fix) {
        buffer_append_string(out, "; ");
        printable_append(out, finding->fix, strlen(finding->fix));
    }
    buffer_append_char(out, '\n');
}

int findings_fail(const struct findings *findings, coop_error **err)
{
    auto_buffer struct buffer text = { 0 };
    size_t n_shown = 0;

    if (findings->failed)
        return fail_no_memory(err);
    if (findings->n_errors == 0)
        return 0;
    for (size_t i = 0; i < findings->n; i++) {
        const struct finding *finding = &findings->items[i];

        if (finding->severity != SEVERITY_ERROR)
            continue;
        if (n_shown++ > 0)
            buffer_append_char(&text, '\n');
        origin_print(&text, finding->origin);
        buffer_append_string(&text, ": ");
        printable_append(&text, finding->message, strlen(finding->message));
        if (finding->fix) {
            buffer_append_string(&text, "; ");
            printable_append(&text, finding->fix, strlen(finding->fix));
        }
    }
    if (findings->n_errors > n_shown)
        buffer_printf(&text, "\nand %zu more errors", findings->n_errors - n_shown);
    if (text.failed)
        return fail_no_memory(err);
    return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "%s", text.data);
}
