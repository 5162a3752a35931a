#include "yaml.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/libexec.h"
#include "config/yaml/private.h"

#define PROGRAM "coop-yaml"

static int complain(struct findings *findings, const char *name, int r, const char *fix,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));
static int complain(struct findings *findings, const char *name, int r, const char *fix,
                    const char *format, ...)
{
    char message[512];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    findings_add(findings, SEVERITY_ERROR, (struct origin){ .name = name }, fix, "%s", message);
    return r;
}

/* Why there is no whole answer. */
static int complain_outcome(const struct yaml_program *program, const struct yaml_outcome *outcome,
                            const char *name, struct findings *findings)
{
    int number = outcome->number;

    switch (outcome->ending) {
    case YAML_NOT_STARTED:
        return complain(findings, name, -number, NULL, "start '%s', which reads YAML: %s",
                        program->path, strerror(number));
    case YAML_TOO_LATE:
        return complain(findings, name, -ETIME, "write the file in TOML instead",
                        "'%s' did not read the file in %d seconds", program->path,
                        program->timeout_ms / 1000);
    case YAML_EXITED:
        return complain(findings, name, -EIO, NULL,
                        "'%s', which reads YAML, ended early with exit status %d", program->path,
                        number);
    case YAML_KILLED:
        return complain(findings, name, -EIO, NULL,
                        "'%s', which reads YAML, was ended by signal %d%s", program->path, number,
                        number == SIGKILL || number == SIGXCPU
                            ? ", perhaps because the file takes too much time or memory"
                            : "");
    case YAML_ENDED_UNSEEN:
        return complain(findings, name, -EIO, NULL, "'%s', which reads YAML, ended early",
                        program->path);
    case YAML_FAILED:
        return complain(findings, name, -number, NULL, "talk to '%s', which reads YAML: %s",
                        program->path, strerror(number));
    case YAML_ENDED_WELL:
        break;
    }
    return complain(findings, name, -EIO, "install a coop-yaml of the same version as coop",
                    "'%s', which reads YAML, gave an answer that makes no sense", program->path);
}

int yaml_read_with(const struct yaml_program *program, const char *name, const char *text, size_t n,
                   struct document **out, struct findings *findings)
{
    struct document *document = document_new(name);
    struct yaml_stream stream = { .document = document, .findings = findings };
    int r = 0;

    if (!document) {
        findings->failed = true;
        return -ENOMEM;
    }
    struct yaml_outcome outcome = yaml_converse(program, text, n, &stream);
    if (outcome.fed == -ENOMEM ||
        (outcome.ending == YAML_NOT_STARTED && outcome.number == ENOMEM)) {
        findings->failed = true;
        r = -ENOMEM;
    } else if (outcome.fed == -EINVAL || (stream.is_done && outcome.fed == 0)) {
        r = stream.n_errors > 0 ? -EINVAL : 0;
    } else {
        r = complain_outcome(program, &outcome, name, findings);
    }
    yaml_stream_done(&stream);
    if (r < 0)
        document_free(document);
    else
        *out = document;
    return r;
}

int yaml_read(const char *name, const char *text, size_t n, struct document **out,
              struct findings *findings)
{
    auto_free char *path = NULL;

    if (n > NODE_TEXT_MAX)
        return complain(findings, name, -EINVAL, NULL, "the file is larger than %zu MiB",
                        NODE_TEXT_MAX >> 20);
    int r = libexec_find(PROGRAM, &path);
    if (r == -ENOMEM) {
        findings->failed = true;
        return r;
    }
    if (r < 0)
        return complain(findings, name, -ENOPKG, "write the file in TOML instead",
                        "reading YAML needs '%s', which is not installed", PROGRAM);
    const struct yaml_program program = { path, YAML_TIMEOUT_MS };
    return yaml_read_with(&program, name, text, n, out, findings);
}

bool yaml_is_name(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}
