/*
 * gen.c - turn rules.h into BPF programs, at build time
 *
 *   seccomp_gen OUTPUT.c
 *
 * When a filter is loaded, the kernel runs it in its head for every system call number, to note the
 * numbers that are always allowed, and then compiles it. So depth times numbers plus length is the
 * price of each load. A list, which libseccomp emits, is deep everywhere; here the numbers are cut
 * into ranges with one answer each, and the ranges become the search tree that is cheapest in that
 * sum. Checks of arguments stand behind the tree, the answers at the very end:
 *
 *   architecture? | tree over the numbers | argument checks, call by call | answers
 *
 * Of libseccomp only the tables of names and numbers are used. A program longer than the reach of a
 * BPF jump (255) stops the build; they are less than half of that.
 */
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/seccomp/rules.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
    N_RULES = COUNT(seccomp_rules),
    MAX_NR = 1023,
    MAX_RANGES = 256,
    MAX_LABELS = 1024,
    MAX_LENGTH = 4096,
    /* What one instruction costs in the kernel's checks and compiler, in steps of its dry run. */
    INSTRUCTION_PRICE = 60,
    /* Longer chains would save a little length; kernels before 5.11 pay for depth at every call. */
    MAX_CHAIN = 2,
};

struct gen_target {
    const char *name;
    uint32_t scmp_arch;
    uint32_t audit_arch;
    const struct seccomp_newer_call *extra;
    size_t n_extra;
};

static const struct gen_target targets[] = {
    { "x86_64", SCMP_ARCH_X86_64, AUDIT_ARCH_X86_64, seccomp_newer_calls_x86_64,
      COUNT(seccomp_newer_calls_x86_64) },
    { "aarch64", SCMP_ARCH_AARCH64, AUDIT_ARCH_AARCH64, NULL, 0 },
};

/* The rules as one architecture sees them. */
struct numbers {
    int rule_nr[N_RULES]; /* -1: no such call here */
    bool is_known[MAX_NR + 1];
    int newest;
};

/* Numbers first..last go to `label`. */
struct range {
    uint32_t first;
    uint32_t last;
    int label;
};

/* How the ranges i..j are told apart: by asking for single numbers, or by a split before `split`. */
struct choice {
    unsigned long cost;
    int split; /* 0: the ranges that differ from `common` are single numbers, asked for in turn */
    int common;
};

struct instruction {
    uint16_t code;
    uint32_t k;
    int if_true; /* labels */
    int if_false;
};

struct program {
    struct instruction code[MAX_LENGTH];
    int length;
    int label_at[MAX_LABELS]; /* -1: not placed yet */
    int n_labels;
    bool records;         /* refusals ask the listener: SECCOMP_NOTIFY_DENIED */
    uint32_t returns[16]; /* the answer of label i, for i < n_returns; placed last */
    int n_returns;
    struct range ranges[MAX_RANGES];
    int n_ranges;
    struct choice choices[MAX_RANGES][MAX_RANGES];
};

enum { NEXT = -1 }; /* the label of the instruction that follows */

static _Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));
static _Noreturn void die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)fputs("seccomp_gen: ", stderr);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
    va_end(args);
    exit(1);
}

/* Names and numbers */

static int newer_nr(const struct gen_target *target, const char *call)
{
    for (size_t i = 0; i < COUNT(seccomp_newer_calls); i++)
        if (strcmp(seccomp_newer_calls[i].call, call) == 0)
            return seccomp_newer_calls[i].nr;
    for (size_t i = 0; i < target->n_extra; i++)
        if (strcmp(target->extra[i].call, call) == 0)
            return target->extra[i].nr;
    return -1;
}

/* -1 for a call that this architecture lacks. */
static int call_nr(const struct gen_target *target, const char *call)
{
    int nr = seccomp_syscall_resolve_name_arch(target->scmp_arch, call);
    int newer = newer_nr(target, call);

    if (nr == __NR_SCMP_ERROR && newer < 0)
        die("no architecture knows a system call '%s'", call);
    if (nr >= 0 && newer >= 0 && nr != newer)
        die("libseccomp has '%s' as %d on %s, we as %d", call, nr, target->name, newer);
    if (nr < 0)
        nr = newer;
    if (nr > MAX_NR)
        die("the number of '%s' is out of range: %d", call, nr);
    return nr < 0 ? -1 : nr;
}

static void learn_newer(struct numbers *numbers, const struct gen_target *target,
                        const struct seccomp_newer_call *calls, size_t n_calls)
{
    for (size_t i = 0; i < n_calls; i++) {
        int nr = call_nr(target, calls[i].call);

        numbers->is_known[nr] = true;
        if (numbers->newest < nr)
            numbers->newest = nr;
    }
}

/*
 * The bound is our own list, not libseccomp's: a number that only libseccomp knows has not been
 * looked at, and the same source shall give the same programs everywhere.
 */
static void learn_numbers(struct numbers *numbers, const struct gen_target *target)
{
    memset(numbers, 0, sizeof *numbers);
    learn_newer(numbers, target, seccomp_newer_calls, COUNT(seccomp_newer_calls));
    learn_newer(numbers, target, target->extra, target->n_extra);
    for (int nr = 0; nr < numbers->newest; nr++) {
        char *name = seccomp_syscall_resolve_num_arch(target->scmp_arch, nr);

        numbers->is_known[nr] |= name != NULL;
        free(name);
    }
    for (size_t i = 0; i < N_RULES; i++)
        numbers->rule_nr[i] = call_nr(target, seccomp_rules[i].call);
}

/* The assembler: jumps go to labels, which are resolved at the end */

static int new_label(struct program *program)
{
    if (program->n_labels == MAX_LABELS)
        die("too many labels");
    program->label_at[program->n_labels] = -1;
    return program->n_labels++;
}

static void place(struct program *program, int label)
{
    program->label_at[label] = program->length;
}

static void add_jump(struct program *program, uint16_t code, uint32_t k, int if_true, int if_false)
{
    if (program->length == MAX_LENGTH)
        die("program too long");
    program->code[program->length++] = (struct instruction){ code, k, if_true, if_false };
}

static void add(struct program *program, uint16_t code, uint32_t k)
{
    add_jump(program, code, k, NEXT, NEXT);
}

static uint32_t low_word(unsigned arg)
{
    return (uint32_t)(offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t));
}

/* Labels of answers come first, so a label below n_returns is an answer. */
static int answer_label(const struct program *program, int answer)
{
    uint32_t value = SECCOMP_RET_ERRNO | (uint32_t)answer;

    if (answer == SECCOMP_ANSWER_ALLOW)
        value = SECCOMP_RET_ALLOW;
    else if (answer == SECCOMP_ANSWER_NOTIFY || (program->records && answer != ENOSYS))
        value = SECCOMP_RET_USER_NOTIF;
    for (int i = 0; i < program->n_returns; i++)
        if (program->returns[i] == value)
            return i;
    die("no label for the answer %d", answer);
}

static void reserve_answers(struct program *program)
{
    static const uint32_t returns[] = {
        SECCOMP_RET_ALLOW,         SECCOMP_RET_ERRNO | EPERM,        SECCOMP_RET_ERRNO | ENOSYS,
        SECCOMP_RET_ERRNO | EBUSY, SECCOMP_RET_ERRNO | EAFNOSUPPORT, SECCOMP_RET_USER_NOTIF,
    };

    for (size_t i = 0; i < COUNT(returns); i++)
        program->returns[new_label(program)] = returns[i];
    program->n_returns = program->n_labels;
}

/* Argument checks */

static bool rule_holds(const struct seccomp_rule *rule, unsigned variant)
{
    return (variant & rule->variant_mask) == rule->variant_value;
}

static bool is_unconditional(const struct seccomp_rule *rule)
{
    return rule->conditions[0].kind == SECCOMP_CONDITION_NONE;
}

/* The next rule for `nr` in this variant at or after `i`; N_RULES if there is none. */
static size_t find_rule(const struct numbers *numbers, unsigned variant, int nr, size_t i)
{
    while (i < N_RULES && !(numbers->rule_nr[i] == nr && rule_holds(&seccomp_rules[i], variant)))
        i++;
    return i;
}

/* `held` is the argument whose low word stands in the accumulator, or -1. */
static void add_condition(struct program *program, const struct seccomp_condition *condition,
                          int *held, int if_true, int if_false)
{
    if (*held != (int)condition->arg)
        add(program, BPF_LD | BPF_W | BPF_ABS, low_word(condition->arg));
    *held = (int)condition->arg;
    switch (condition->kind) {
    case SECCOMP_CONDITION_EQUAL:
        if (condition->mask != UINT32_MAX) {
            add(program, BPF_ALU | BPF_AND | BPF_K, condition->mask);
            *held = -1;
        }
        add_jump(program, BPF_JMP | BPF_JEQ | BPF_K, condition->value, if_true, if_false);
        return;
    case SECCOMP_CONDITION_ANY_BIT:
        add_jump(program, BPF_JMP | BPF_JSET | BPF_K, condition->mask, if_true, if_false);
        return;
    case SECCOMP_CONDITION_POINTER:
        add_jump(program, BPF_JMP | BPF_JEQ | BPF_K, 0, NEXT, if_true);
        add(program, BPF_LD | BPF_W | BPF_ABS, low_word(condition->arg) + 4);
        add_jump(program, BPF_JMP | BPF_JEQ | BPF_K, 0, if_false, if_true);
        *held = -1;
        return;
    case SECCOMP_CONDITION_NONE:
        break;
    }
    die("a rule has an empty condition");
}

static void add_checks(struct program *program, const struct numbers *numbers, unsigned variant,
                       size_t i)
{
    int nr = numbers->rule_nr[i];
    int held = -1;

    while (i < N_RULES && !is_unconditional(&seccomp_rules[i])) {
        const struct seccomp_rule *rule = &seccomp_rules[i];
        int yes = answer_label(program, rule->answer);
        int no = answer_label(program, SECCOMP_ANSWER_ALLOW);
        bool has_next;

        i = find_rule(numbers, variant, nr, i + 1);
        has_next = i < N_RULES && !is_unconditional(&seccomp_rules[i]);
        if (has_next)
            no = new_label(program);
        else if (i < N_RULES)
            no = answer_label(program, seccomp_rules[i].answer);

        if (rule->conditions[1].kind == SECCOMP_CONDITION_NONE) {
            add_condition(program, &rule->conditions[0], &held, yes, no);
        } else {
            if (rule->conditions[0].kind == SECCOMP_CONDITION_POINTER)
                die("a pointer condition of '%s' does not stand last", rule->call);
            add_condition(program, &rule->conditions[0], &held, NEXT, no);
            add_condition(program, &rule->conditions[1], &held, yes, no);
            held = -1; /* the next rule is reached from both */
        }
        if (has_next)
            place(program, no);
    }
}

/* The tree */

/* Numbers that nobody has; -1 is what a tracer writes to skip a call, and skips it must stay. */
static void add_unknown_check(struct program *program)
{
    add_jump(program, BPF_JMP | BPF_JEQ | BPF_K, UINT32_MAX,
             answer_label(program, SECCOMP_ANSWER_ALLOW), answer_label(program, ENOSYS));
}

static void add_range(struct program *program, uint32_t first, uint32_t last, int label)
{
    int n = program->n_ranges;

    if (n > 0 && program->ranges[n - 1].label == label) {
        program->ranges[n - 1].last = last;
        return;
    }
    if (n == MAX_RANGES)
        die("too many ranges");
    program->ranges[n] = (struct range){ first, last, label };
    program->n_ranges++;
}

/* Whether the checks that begin with rules i and j, of two calls, are the same: they stand once then. */
static bool are_alike(const struct numbers *numbers, unsigned variant, size_t i, size_t j)
{
    int i_nr = numbers->rule_nr[i];
    int j_nr = numbers->rule_nr[j];

    while (i < N_RULES && j < N_RULES) {
        const struct seccomp_rule *a = &seccomp_rules[i];
        const struct seccomp_rule *b = &seccomp_rules[j];

        if (a->answer != b->answer ||
            memcmp(a->conditions, b->conditions, sizeof a->conditions) != 0)
            return false;
        if (is_unconditional(a))
            return true;
        i = find_rule(numbers, variant, i_nr, i + 1);
        j = find_rule(numbers, variant, j_nr, j + 1);
    }
    return i == j;
}

static int checks_label(struct program *program, const struct numbers *numbers, unsigned variant,
                        size_t rule_of_label[MAX_LABELS], size_t i)
{
    int label = program->n_returns;

    while (label < program->n_labels && !are_alike(numbers, variant, rule_of_label[label], i))
        label++;
    if (label == program->n_labels)
        rule_of_label[new_label(program)] = i;
    return label;
}

/* Cuts all numbers into ranges; `rule_of_label` remembers which checks are still to be written. */
static void cut_ranges(struct program *program, const struct numbers *numbers, unsigned variant,
                       size_t rule_of_label[MAX_LABELS])
{
    for (int nr = 0; nr <= numbers->newest; nr++) {
        size_t i = find_rule(numbers, variant, nr, 0);
        int label = answer_label(program, SECCOMP_ANSWER_ALLOW);

        if (!numbers->is_known[nr]) {
            label = answer_label(program, ENOSYS);
        } else if (i < N_RULES && is_unconditional(&seccomp_rules[i])) {
            label = answer_label(program, seccomp_rules[i].answer);
        } else if (i < N_RULES) {
            label = checks_label(program, numbers, variant, rule_of_label, i);
        }
        add_range(program, (uint32_t)nr, (uint32_t)nr, label);
    }
    add_range(program, (uint32_t)numbers->newest + 1, UINT32_MAX, new_label(program));
}

/* For how many numbers the kernel will walk to this range. */
static unsigned long range_weight(const struct range *range)
{
    return range->last == UINT32_MAX ? 8 : range->last - range->first + 1;
}

/* The cost of asking for single numbers in turn, or the highest where that is no way. */
static struct choice choose_chain(const struct program *program, int i, int j)
{
    int widest = i;
    unsigned long weight = 0;
    unsigned long cost = 0;
    unsigned long asked = 0;

    for (int m = i; m <= j; m++)
        if (range_weight(&program->ranges[m]) > range_weight(&program->ranges[widest]))
            widest = m;
    for (int m = i; m <= j; m++) {
        const struct range *range = &program->ranges[m];

        if (range->label == program->ranges[widest].label) {
            weight += range_weight(range);
            continue;
        }
        if (range->first != range->last || asked == MAX_CHAIN)
            return (struct choice){ (unsigned long)-1, 0, 0 };
        cost += ++asked;
    }
    cost += asked * weight + asked * INSTRUCTION_PRICE;
    return (struct choice){ cost, 0, program->ranges[widest].label };
}

/* The cheapest tree over every run of ranges, from the short runs to the whole. */
static void choose_tree(struct program *program)
{
    for (int length = 1; length <= program->n_ranges; length++) {
        for (int i = 0; i + length <= program->n_ranges; i++) {
            int j = i + length - 1;
            unsigned long price = INSTRUCTION_PRICE;
            struct choice best = choose_chain(program, i, j);

            for (int m = i; m <= j; m++)
                price += range_weight(&program->ranges[m]);
            for (int split = i + 1; split <= j; split++) {
                unsigned long cost =
                    price + program->choices[i][split - 1].cost + program->choices[split][j].cost;

                if (cost < best.cost)
                    best = (struct choice){ cost, split, 0 };
            }
            program->choices[i][j] = best;
        }
    }
}

static void add_chain(struct program *program, int i, int j)
{
    int common = program->choices[i][j].common;
    int last = j;

    while (program->ranges[last].label == common)
        last--;
    for (int m = i; m <= last; m++)
        if (program->ranges[m].label != common)
            add_jump(program, BPF_JMP | BPF_JEQ | BPF_K, program->ranges[m].first,
                     program->ranges[m].label, m == last ? common : NEXT);
}

/* A single range needs no instruction: whoever would jump here jumps to its label. */
static int subtree_label(struct program *program, int i, int j)
{
    return i == j ? program->ranges[i].label : new_label(program);
}

static void add_tree(struct program *program, int i, int j)
{
    int split = program->choices[i][j].split;

    if (i == j)
        return;
    if (split == 0) {
        add_chain(program, i, j);
        return;
    }
    int right = subtree_label(program, split, j);
    int left = subtree_label(program, i, split - 1);

    add_jump(program, BPF_JMP | BPF_JGE | BPF_K, program->ranges[split].first, right, left);
    if (i < split - 1)
        place(program, left);
    add_tree(program, i, split - 1);
    if (split < j)
        place(program, right);
    add_tree(program, split, j);
}

/* Only the answers that somebody gives. */
static void add_answers(struct program *program)
{
    bool is_used[MAX_LABELS] = { false };

    for (int i = 0; i < program->length; i++) {
        if (program->code[i].if_true != NEXT)
            is_used[program->code[i].if_true] = true;
        if (program->code[i].if_false != NEXT)
            is_used[program->code[i].if_false] = true;
    }
    for (int i = 0; i < program->n_returns; i++) {
        if (!is_used[i])
            continue;
        place(program, i);
        add(program, BPF_RET | BPF_K, program->returns[i]);
    }
}

static void build(struct program *program, const struct gen_target *target,
                  const struct numbers *numbers, unsigned variant)
{
    static size_t rule_of_label[MAX_LABELS];

    memset(program, 0, sizeof *program);
    memset(rule_of_label, 0, sizeof rule_of_label);
    program->records = variant & SECCOMP_NOTIFY_DENIED;
    reserve_answers(program);
    cut_ranges(program, numbers, variant, rule_of_label);
    choose_tree(program);

    add(program, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
    add_jump(program, BPF_JMP | BPF_JEQ | BPF_K, target->audit_arch, NEXT,
             answer_label(program, ENOSYS));
    add(program, BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    add_tree(program, 0, program->n_ranges - 1);
    for (int i = 0; i < program->n_ranges; i++) {
        int label = program->ranges[i].label;

        if (label < program->n_returns || program->label_at[label] >= 0)
            continue;
        place(program, label);
        if (i == program->n_ranges - 1)
            add_unknown_check(program);
        else
            add_checks(program, numbers, variant, rule_of_label[label]);
    }
    add_answers(program);
}

/* Output */

static unsigned jump_offset(const struct program *program, int from, int label)
{
    int offset = label == NEXT ? 0 : program->label_at[label] - from - 1;

    if (offset < 0 || offset > UINT8_MAX)
        die("instruction %d jumps %d instructions, 0 to 255 are possible", from, offset);
    return (unsigned)offset;
}

static void print_program(FILE *out, const struct program *program, const char *arch,
                          unsigned variant)
{
    (void)fprintf(out, "static const struct sock_filter %s_%u[] = {\n", arch, variant);
    for (int i = 0; i < program->length; i++) {
        const struct instruction *instruction = &program->code[i];

        (void)fprintf(out, "    { 0x%02x, %u, %u, 0x%xu },\n", (unsigned)instruction->code,
                      jump_offset(program, i, instruction->if_true),
                      jump_offset(program, i, instruction->if_false), (unsigned)instruction->k);
    }
    (void)fputs("};\n\n", out);
}

static void print_condition(FILE *out, const struct seccomp_condition *condition)
{
    switch (condition->kind) {
    case SECCOMP_CONDITION_NONE:
        break;
    case SECCOMP_CONDITION_EQUAL:
        (void)fprintf(out, "argument %u", condition->arg);
        if (condition->mask != 0xffffffff)
            (void)fprintf(out, " & %#x", condition->mask);
        (void)fprintf(out, " is %#x", condition->value);
        break;
    case SECCOMP_CONDITION_ANY_BIT:
        (void)fprintf(out, "argument %u has a bit of %#x", condition->arg, condition->mask);
        break;
    case SECCOMP_CONDITION_POINTER:
        (void)fprintf(out, "argument %u is not 0", condition->arg);
        break;
    }
}

/* Words for people. */
static void print_conditions(FILE *out, const struct seccomp_rule *rule)
{
    (void)fputc('"', out);
    print_condition(out, &rule->conditions[0]);
    if (rule->conditions[1].kind != SECCOMP_CONDITION_NONE)
        (void)fputs(" and ", out);
    print_condition(out, &rule->conditions[1]);
    (void)fputc('"', out);
}

static void print_denied(FILE *out, const struct numbers *numbers, const char *arch)
{
    (void)fprintf(out, "static const struct seccomp_denied %s_denied[] = {\n", arch);
    for (int nr = 0; nr <= numbers->newest; nr++) {
        bool depends = false;

        for (size_t i = 0; i < N_RULES; i++) {
            const struct seccomp_rule *rule = &seccomp_rules[i];

            if (numbers->rule_nr[i] != nr)
                continue;
            depends |= !is_unconditional(rule); /* also of what earlier rules leave over */
            if (rule->answer == SECCOMP_ANSWER_ALLOW)
                continue;
            (void)fprintf(out, "    { \"%s\", %d, %d, %u, %u, %s, ", rule->call, nr,
                          rule->answer == SECCOMP_ANSWER_NOTIFY ? 0 : rule->answer,
                          rule->variant_mask, rule->variant_value, depends ? "true" : "false");
            print_conditions(out, rule);
            (void)fputs(" },\n", out);
        }
    }
    (void)fputs("};\n\n", out);
}

static const char *newer_name(const struct seccomp_newer_call *calls, size_t n, int nr)
{
    for (size_t i = 0; i < n; i++)
        if (calls[i].nr == nr)
            return calls[i].call;
    return NULL;
}

static void print_names(FILE *out, const struct gen_target *target, int newest)
{
    (void)fprintf(out, "static const char *const %s_names[%d] = {\n", target->name, newest + 1);
    for (int nr = 0; nr <= newest; nr++) {
        char *known = seccomp_syscall_resolve_num_arch(target->scmp_arch, nr);
        const char *name = known;

        if (!name)
            name = newer_name(seccomp_newer_calls, COUNT(seccomp_newer_calls), nr);
        if (!name && target->extra)
            name = newer_name(target->extra, target->n_extra, nr);
        if (name)
            (void)fprintf(out, "    [%d] = \"%s\",\n", nr, name);
        free(known);
    }
    (void)fputs("};\n\n", out);
}

static void print_arch(FILE *out, const struct gen_target *target)
{
    static struct program program;
    static struct numbers numbers;

    learn_numbers(&numbers, target);
    for (unsigned variant = 0; variant < SECCOMP_N_VARIANTS; variant++) {
        if (seccomp_plain_variant(variant) != variant)
            continue;
        build(&program, target, &numbers, variant);
        print_program(out, &program, target->name, variant);
    }
    (void)fprintf(out, "static const struct seccomp_program %s_programs[] = {\n", target->name);
    for (unsigned variant = 0; variant < SECCOMP_N_VARIANTS; variant++)
        (void)fprintf(out, "    { %s_%u, sizeof %s_%u / sizeof *%s_%u },\n", target->name,
                      seccomp_plain_variant(variant), target->name, seccomp_plain_variant(variant),
                      target->name, seccomp_plain_variant(variant));
    (void)fputs("};\n\n", out);
    print_denied(out, &numbers, target->name);
    print_names(out, target, numbers.newest);
    (void)fprintf(out,
                  "const struct seccomp_arch seccomp_arch_%s = {\n"
                  "    \"%s\", 0x%xu, %d, %s_programs, %s_denied,\n"
                  "    sizeof %s_denied / sizeof *%s_denied, %s_names,\n"
                  "};\n",
                  target->name, target->name, (unsigned)target->audit_arch, numbers.newest,
                  target->name, target->name, target->name, target->name, target->name);
}

int main(int argc, char *argv[])
{
    FILE *out;

    if (argc != 2)
        die("usage: seccomp_gen OUTPUT.c");
    out = fopen(argv[1], "we");
    if (!out)
        die("cannot write '%s'", argv[1]);
    (void)fputs("/* Generated by seccomp_gen from plan/seccomp/rules.h. */\n"
                "#include \"plan/seccomp/seccomp.h\"\n",
                out);
    for (size_t i = 0; i < COUNT(targets); i++) {
        (void)fputc('\n', out);
        print_arch(out, &targets[i]);
    }
    if (ferror(out) || fclose(out) != 0)
        die("cannot write '%s'", argv[1]);
    return 0;
}
