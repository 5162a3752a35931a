# report.awk - from lines of "group TAB name TAB field TAB value" to the table of goals
#
# awk -v json=0|1 -v history=FILE -v release=VERSION -f report.awk RESULTS. What was not measured is left out, never
# guessed. The file has one line for each release: version, kernel, then "what=measured", all with TABs between.

BEGIN { FS = "\t"; read_history() }

function read_history(   line, n, i, parts, pair) {
    while (history != "" && (getline line < history) > 0)
        if (line !~ /^#/)
            n = split(line, parts, "\t")
    last_version = n ? parts[1] : ""
    for (i = 3; i <= n; i++) {
        split(parts[i], pair, "=")
        last[pair[1]] = pair[2]
    }
    close(history)
}

function plain_name(what) {
    sub(/^ +/, "", what)
    gsub(/[=\t]/, " ", what)
    return what
}

function write_history(   i) {
    printf "%s\t%s", release, fact["kernel"] >>history
    for (i = 1; i <= n_goals; i++)
        printf "\t%s=%.4g", plain_name(g_what[i]), g_measured[i] >>history
    printf "\n" >>history
}

$1 == "machine" { machine[++n_facts] = $2; fact[$2] = $4; next }
{
    value[$1, $2, $3] = $4
    if (!(($1, $2) in seen)) {
        seen[$1, $2] = 1
        name[$1, ++count[$1]] = $2
    }
}

function has(group, what) { return ((group, what) in seen) }
function median(group, what) { return value[group, what, "median"] }

# One row: measured is a number; it meets the goal when at most (or, with least, at least) limit.
function goal(what, text, measured, unit, limit, least) {
    n_goals++
    g_what[n_goals] = what; g_text[n_goals] = text; g_measured[n_goals] = measured
    g_unit[n_goals] = unit; g_limit[n_goals] = limit; g_least[n_goals] = least
    g_met[n_goals] = least ? measured >= limit : measured <= limit
}

function ratio_goal(what, group, who, limit) {
    if (has(group, who) && has(group, "plain"))
        goal(what, sprintf("<= %.1f x plain", limit), median(group, who) / median(group, "plain"), "x", limit, 0)
}

function growth_goal(what, group, with, without, scale) {
    if (has(group, with) && has(group, without))
        goal(what, "<= +5 %", (median(group, with) / median(group, without) / scale - 1) * 100, "%", 5, 0)
}

function per_item(group, prefix, base, n) {
    return (median(group, prefix "-" n) - median(group, base)) / n
}

function item_goal(kind,   each) {
    if (!has("items", kind "-500"))
        return
    each = per_item("items", kind, "none", 500)
    goal("500 " kind ", each", "<= 15 us", each, "us", 15, 0)
    # Linear: the five hundredth costs what the hundredth does, with room for noise.
    goal("500 " kind ", each, against 100 " kind, "<= 1.25 x", each / per_item("items", kind, "none", 100), "x", 1.25, 0)
}

function memory_goal(what, who, payload) {
    if (has("memory", who) && has("memory", payload))
        goal(what, "<= 300 KiB", value["memory", who, "sum"] - value["memory", payload, "sum"], "KiB", 300, 0)
}

function rate_goal(   best, threads, n) {
    for (n = 1; n <= count["throughput"]; n++)
        if (name["throughput", n] ~ /^none-/ && value["throughput", name["throughput", n], "rate"] > best) {
            best = value["throughput", name["throughput", n], "rate"]
            threads = substr(name["throughput", n], 6)
        }
    if (best)
        goal("fresh boxes on 2 cores, " fact["seconds"] " s, " threads " threads", ">= 1000 /s", best, "/s", 1000, 1)
}

# How many times slower the reference is.
function reference_goal(what, group, who, reference, limit) {
    if (has(group, who) && has(group, reference))
        goal(what, sprintf(">= %d x faster", limit), median(group, reference) / median(group, who), "x", limit, 1)
}

function tree_goal(what, n, limit) {
    if (has("trees", "tree-" n) && has("trees", "tree-" n "-unprotected"))
        goal(what, "<= " limit " ms", (median("trees", "tree-" n) - median("trees", "tree-" n "-unprotected")) / 1000, "ms", limit, 0)
}

function call_goal(what, kind, limit) {
    if (has("calls", "coop-" kind))
        goal(what, "<= " limit " us", value["calls", "coop-" kind, "p10"], "us", limit, 0)
}

function set_goals(   plain) {
    ratio_goal("coop run, private network", "latency", "coop-none", 2.6)
    if (has("latency", "bwrap") && has("latency", "coop-none")) {
        plain = median("latency", "plain")
        goal("  its overhead, of bwrap's", "<= 0.30", \
             (median("latency", "coop-none") - plain) / (median("latency", "bwrap") - plain), "", 0.30, 0)
    }
    ratio_goal("library call, private network", "library", "none", 2.3)
    ratio_goal("library call, network off", "library", "off", 1.8)
    growth_goal("  from a process of 1 GiB", "conditions", "big", "small", 1)
    growth_goal("  from a host with 1,000 mounts", "conditions", "many-mounts", "few-mounts", 1)
    if (has("idle", "plain-n")) {
        plain = median("idle", "plain-n") / median("idle", "plain-0")
        growth_goal("  with " fact["boxes"] " idle boxes of another process", "idle", "other-n", "other-0", plain)
        growth_goal("  with " fact["boxes"] " idle boxes of its own", "idle", "holder-n", "holder-0", plain)
    }
    item_goal("masks")
    item_goal("binds")
    rate_goal()
    memory_goal("memory of an idle box, library", "library-none", "library-plain")
    memory_goal("memory of an idle box, coop run", "coop-none", "plain")
    reference_goal("MCP server, start to first answer, against node", "mcp-start", "coop", "node", 20)
    reference_goal("MCP, reading 4 KiB, against node", "mcp-read", "coop-4k", "node-4k", 3)
    reference_goal("  the same with read_file", "mcp-read", "coop-own-4k", "node-4k", 3)
    reference_goal("MCP, reading 400 KiB, against node", "mcp-read", "coop-400k", "node-400k", 3)
    if (has("mcp-bash", "mcp"))
        goal("MCP, 'bash true', against a library call", "<= 1.3 x", median("mcp-bash", "mcp") / median("mcp-bash", "library"), "x", 1.3, 0)
    tree_goal("start in 50,000 unchanged files, over unprotected", 794, 2)
    tree_goal("start in 200,000 unchanged files, likewise", 3121, 4)
    call_goal("open to write in the workspace, p10", "open-write", 18)
    call_goal("  in /tmp", "open-write-tmp", 14)
    call_goal("  /dev/null", "open-write-null", 13)
    call_goal("rename, p10", "rename", 30)
    call_goal("connect to a unix socket that is not there, p10", "connect-unix-missing", 22)
}

function shown(i,   format) {
    format = g_unit[i] == "/s" || g_unit[i] == "KiB" ? "%.0f %s" : g_unit[i] == "%" ? "%+.1f %s" : \
             g_unit[i] == "us" ? "%.1f %s" : "%.2f %s"
    return sprintf(format, g_measured[i], g_unit[i])
}

function verdict(i) {
    if (g_met[i])
        return "met"
    if (g_unit[i] == "%")
        return sprintf("missed by %.1f points", g_measured[i] - g_limit[i])
    return sprintf("missed by %.0f %%", (g_least[i] ? 1 - g_measured[i] / g_limit[i] : g_measured[i] / g_limit[i] - 1) * 100)
}

function print_goals(   i) {
    printf "%-50s %-16s %12s %12s  %s\n", "what", "goal", "measured", last_version, "met?"
    for (i = 1; i <= n_goals; i++)
        printf "%-50s %-16s %12s %12s  %s\n", g_what[i], g_text[i], shown(i), last[plain_name(g_what[i])], verdict(i)
}

# Rows of one group; with base, also the ratio to and the overhead over it.
function print_group(title, group, base,   i, who, cells) {
    if (!count[group])
        return
    printf "\n%s (microseconds)\n", title
    printf "%-20s %9s %9s %9s %9s %9s %9s %9s %9s %7s\n", "", "p10", "median", "p95", "p99", "cpu", "ratio", "p10 ratio", "overhead", "failed"
    for (i = 1; i <= count[group]; i++) {
        who = name[group, i]
        cells = base != "" ? sprintf("%9.2f %9.2f %9.0f", median(group, who) / median(group, base), \
                                     value[group, who, "p10"] / value[group, base, "p10"], \
                                     median(group, who) - median(group, base)) : sprintf("%9s %9s %9s", "", "", "")
        printf "%-20s %9.0f %9.0f %9.0f %9.0f %9s %s %7d\n", who, value[group, who, "p10"], median(group, who), value[group, who, "p95"], \
               value[group, who, "p99"], (((group, who, "cpu") in value) ? sprintf("%.0f", value[group, who, "cpu"]) : ""), \
               cells, value[group, who, "failed"]
    }
}

function item_line(title, group, prefix, zero,   n, i) {
    printf "%-20s", title
    for (i = 1; i <= 3; i++) {
        n = i == 1 ? 100 : i == 2 ? 250 : 500
        printf " %8.1f", per_item(group, prefix, zero, n)
    }
    printf "   %.1f ms in all at 500\n", median(group, prefix "-500") / 1000
}

function print_items(   kinds, i, k) {
    if (!has("items", "none"))
        return
    printf "\nmicroseconds for each of %8s %8s %8s\n", 100, 250, 500
    split("masks binds", kinds, " ")
    for (i = 1; i <= 2; i++) {
        k = kinds[i]
        item_line("library, " k, "items", k, "none")
        if (has("item-launchers", "coop-" k "-500"))
            item_line("coop run, " k, "item-launchers", "coop-" k, "coop-" k "-0")
        if (has("item-launchers", "bwrap-" k "-500"))
            item_line("bwrap, " k, "item-launchers", "bwrap-" k, "bwrap-" k "-0")
    }
}

function print_calls(   i, who) {
    if (!count["calls"])
        return
    printf "\none system call (microseconds)\n%-32s %9s %9s\n", "", "p10", "median"
    for (i = 1; i <= count["calls"]; i++) {
        who = name["calls", i]
        printf "%-32s %9.1f %9.1f\n", who, value["calls", who, "p10"], median("calls", who)
    }
}

function print_throughput(   i, who) {
    if (!count["throughput"])
        return
    printf "\nthroughput (starts a second; microseconds)\n%-20s %9s %9s %9s %9s %9s %7s\n", "", "rate", "at end", "median", "p95", "p99", "failed"
    for (i = 1; i <= count["throughput"]; i++) {
        who = name["throughput", i]
        printf "%-20s %9.0f %9.0f %9.0f %9.0f %9.0f %7d\n", who, value["throughput", who, "rate"], \
               value["throughput", who, "late_rate"], median("throughput", who), value["throughput", who, "p95"], \
               value["throughput", who, "p99"], value["throughput", who, "failed"]
    }
}

function print_memory(   i, who, j, fields, n) {
    if (!count["memory"])
        return
    n = split("sum pss slab stacks page_tables percpu available_drop processes", fields, " ")
    printf "\nmemory of each (KiB; sum = pss + slab + stacks + page tables)\n%-20s", ""
    for (j = 1; j <= n; j++)
        printf " %14s", fields[j]
    printf "\n"
    for (i = 1; i <= count["memory"]; i++) {
        who = name["memory", i]
        printf "%-20s", who
        for (j = 1; j <= n; j++)
            printf " %14.1f", value["memory", who, fields[j]]
        printf "\n"
    }
}

function print_text(   i) {
    for (i = 1; i <= n_facts; i++)
        printf "%s%s %s", (i > 1 ? ", " : ""), machine[i], fact[machine[i]]
    printf "\n"
    # Who needs more processor time loses more to others: then even ratios flatter the plain spawn.
    if (fact["load"] > 0.5)
        printf "The machine was busy when this began: the ratios are too high; p10 ratios suffer least.\n"
    printf "\n"
    print_goals()
    print_group("start of /bin/true", "latency", "plain")
    print_group("library calls, /bin/true", "library", "plain")
    print_group("the caller's and the host's size", "conditions", "")
    print_group("without (0) and with (n) idle boxes", "idle", "")
    print_group("MCP: start to first answer", "mcp-start", "")
    print_group("MCP: reading a file", "mcp-read", "")
    print_group("MCP: bash true", "mcp-bash", "library")
    print_group("large projects", "trees", "")
    print_calls()
    print_items()
    print_throughput()
    print_memory()
}

function quote(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    return "\"" text "\""
}

function print_json(   i, key, parts, separator) {
    printf "{\n  \"schema\": 1,\n  \"machine\": {"
    for (i = 1; i <= n_facts; i++)
        printf "%s\n    %s: %s", (i > 1 ? "," : ""), quote(machine[i]), quote(fact[machine[i]])
    printf "\n  },\n  \"goals\": ["
    for (i = 1; i <= n_goals; i++) {
        gsub(/^ +/, "", g_what[i])
        printf "%s\n    { \"what\": %s, \"goal\": %s, \"measured\": %.4f, \"unit\": %s, \"met\": %s }", (i > 1 ? "," : ""), \
               quote(g_what[i]), quote(g_text[i]), g_measured[i], quote(g_unit[i]), (g_met[i] ? "true" : "false")
    }
    printf "\n  ],\n  \"measurements\": ["
    for (key in value) {
        split(key, parts, SUBSEP)
        printf "%s\n    { \"group\": %s, \"name\": %s, \"field\": %s, \"value\": %s }", separator, quote(parts[1]), \
               quote(parts[2]), quote(parts[3]), value[key]
        separator = ","
    }
    printf "\n  ]\n}\n"
}

END {
    set_goals()
    if (release != "")
        write_history()
    if (json)
        print_json()
    else
        print_text()
}
