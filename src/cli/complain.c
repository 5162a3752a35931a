#include "complain.h"

#include <stdio.h>

#include "base/buffer.h"

void cli_complain(const struct findings *findings, bool all)
{
    auto_buffer struct buffer text = { 0 };

    for (size_t i = 0; i < findings->n; i++)
        if (all || findings->items[i].severity == SEVERITY_ERROR)
            finding_print(&text, &findings->items[i]);
    if (findings->n_dropped > 0)
        buffer_printf(&text, "and %zu more\n", findings->n_dropped);
    if (!text.failed && text.data)
        (void)fputs(text.data, stderr);
}
