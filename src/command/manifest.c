#include "manifest.h"

#include <errno.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/json/read.h"
#include "base/printable.h"

static int wrong(coop_error **err, const char *name, const char *what)
{
    auto_buffer struct buffer shown = { 0 };

    printable_append(&shown, name, strnlen(name, 80));
    return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL, "the sub-command '%s' %s",
                     shown.data ? shown.data : "", what);
}

static int read_command(const char *name, const struct json_value *agent, struct command_rule *rule,
                        struct origin origin, coop_error **err)
{
    if (!agent || agent->kind != JSON_BOOL)
        return wrong(err, name,
                     "does not say whether agents may use it: 'agent' is no true or false");
    return agent->truth ? 0 : command_rule_block(rule, name, origin, err);
}

static int read_list(const struct json_value *list, struct command_rule *rule, struct origin origin,
                     coop_error **err)
{
    int r = 0;

    for (const struct json_value *item = list->first; item && r == 0; item = item->next) {
        const struct json_value *name = json_get(item, "name");

        if (!name || name->kind != JSON_TEXT)
            return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                             "an entry of 'commands' has no 'name'");
        r = read_command(name->text, json_get(item, "agent"), rule, origin, err);
    }
    return r;
}

static int read_map(const struct json_value *map, struct command_rule *rule, struct origin origin,
                    coop_error **err)
{
    int r = 0;

    for (const struct json_value *item = map->first; item && r == 0; item = item->next)
        r = read_command(item->name, item->kind == JSON_OBJECT ? json_get(item, "agent") : item,
                         rule, origin, err);
    return r;
}

int manifest_read(const char *text, size_t n, struct command_rule *rule, struct origin origin,
                  coop_error **err)
{
    auto_json_document struct json_document document = { 0 };
    int r = json_read(text, n, &document, err);

    if (r < 0)
        return r;
    const struct json_value *commands = json_get(document.root, "commands");
    if (commands && commands->kind == JSON_ARRAY)
        return read_list(commands, rule, origin, err);
    if (commands && commands->kind == JSON_OBJECT)
        return read_map(commands, rule, origin, err);
    return fail_kind(err, COOP_ERROR_BAD_POLICY, EINVAL,
                     "it has no 'commands' that are a list or an object");
}
