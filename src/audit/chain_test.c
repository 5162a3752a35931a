/*
 * chain_test.c - what is written can be trusted, whatever happens to the writers
 */
#include "chain.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "audit/files.h"
#include "audit/record.h"
#include "audit/verify.h"
#include "base/cleanup.h"
#include "test/check.h"

#define KILLS   500
#define WRITERS 8

/* ---- a log for each test */

struct world {
    char directory[256];
    struct audit_settings settings;
};

static void world_init(struct world *world)
{
    CHECK(mkdtemp(check_temporary(world->directory, sizeof world->directory, "chain")));
    world->settings = (struct audit_settings){
        .mode = AUDIT_ON,
        .directory = world->directory,
        .max_size = AUDIT_NONE,
        .max_age_ms = AUDIT_NONE,
        .keep = AUDIT_NONE,
    };
}

static void world_done(struct world *world)
{
    char command[sizeof world->directory + 16];

    (void)snprintf(command, sizeof command, "rm -rf '%s'", world->directory);
    CHECK(system(command) == 0);
}

static int add_text(const struct world *world, const char *command)
{
    const struct audit_record record = { .event = "run", .command = command, .end = "exited" };

    return audit_append(&world->settings, &record, NULL);
}

static void add(const struct world *world, int n)
{
    for (int i = 0; i < n; i++) {
        char command[32];

        (void)snprintf(command, sizeof command, "command %d", i);
        CHECK(add_text(world, command) == 0);
    }
}

static char *path_of(const struct world *world, const char *name)
{
    static char path[320];

    (void)snprintf(path, sizeof path, "%s/%s", world->directory, name);
    return path;
}

static char *read_all(const struct world *world, const char *name, size_t *n)
{
    auto_close int fd = open(path_of(world, name), O_RDONLY);
    struct stat stat_of = { 0 };

    CHECK(fd >= 0 && fstat(fd, &stat_of) == 0);
    char *text = calloc(1, (size_t)stat_of.st_size + 1);
    *n = text ? (size_t)read(fd, text, (size_t)stat_of.st_size) : 0;
    return text;
}

static void write_all(const struct world *world, const char *name, const char *text, size_t n)
{
    auto_close int fd = open(path_of(world, name), O_WRONLY | O_TRUNC | O_CREAT, 0600);

    CHECK(fd >= 0 && write(fd, text, n) == (ssize_t)n);
}

/* The report's problems, or "" if there are none. */
static const char *verified(const struct world *world, struct verify_report *report)
{
    static char problems[4096];

    CHECK(verify_log(&world->settings, NULL, report, NULL) == 0);
    (void)snprintf(problems, sizeof problems, "%s",
                   report->problems.data ? report->problems.data : "");
    verify_report_done(report);
    return problems;
}

static bool finds(const struct world *world, const char *problem)
{
    struct verify_report report;
    const char *problems = verified(world, &report);
    bool is_found = strstr(problems, problem) != NULL;

    if (!is_found)
        printf("# expected '%s', got:\n# %s\n", problem, problems);
    return is_found;
}

static char *line_at(char *text, int n)
{
    while (n-- > 0)
        text = strchr(text, '\n') + 1;
    return text;
}

/* ---- the form */

TEST(chains_records_and_names_the_last_one)
{
    struct world world;
    struct verify_report report;
    struct chain_head head;

    world_init(&world);
    add(&world, 5);
    CHECK_STR(verified(&world, &report), "");
    CHECK(report.n_records == 5 && report.first_seq == 1 && report.last_seq == 5);
    auto_close int fd = open(world.directory, O_RDONLY | O_DIRECTORY);
    CHECK(chain_read_head(fd, &head) && head.seq == 5);
    CHECK_STR(head.hash, report.last_hash);
    world_done(&world);
}

TEST(is_for_this_user_alone)
{
    struct world world;
    struct stat stat_of;

    world_init(&world);
    (void)chmod(world.directory, 0755);
    add(&world, 1);
    CHECK(stat(world.directory, &stat_of) == 0 && (stat_of.st_mode & 0777) == 0700);
    CHECK(stat(path_of(&world, CHAIN_FILE), &stat_of) == 0 && (stat_of.st_mode & 0777) == 0600);
    CHECK(stat(path_of(&world, CHAIN_HEAD), &stat_of) == 0 && (stat_of.st_mode & 0777) == 0600);
    world_done(&world);
}

TEST(follows_no_link)
{
    struct world world;
    struct stat stat_of;
    char target[320];

    world_init(&world);
    (void)snprintf(target, sizeof target, "%s/elsewhere", world.directory);
    CHECK(symlink(target, path_of(&world, CHAIN_FILE)) == 0);
    CHECK(add_text(&world, "x") == -ELOOP);
    CHECK(stat(target, &stat_of) < 0);
    CHECK(unlink(path_of(&world, CHAIN_FILE)) == 0);
    add(&world, 1);
    CHECK(link(path_of(&world, CHAIN_FILE), target) == 0); /* a second name is somebody's trick */
    CHECK(add_text(&world, "x") == -EPERM);
    world_done(&world);
}

/* ---- tampering */

TEST(finds_a_changed_byte)
{
    struct world world;
    size_t n;

    world_init(&world);
    add(&world, 5);
    auto_free char *text = read_all(&world, CHAIN_FILE, &n);
    memcpy(strstr(line_at(text, 2), "command 2"), "command 7", 9);
    write_all(&world, CHAIN_FILE, text, n);
    CHECK(finds(&world, CHAIN_FILE ":3: record 3 was changed"));
    world_done(&world);
}

TEST(finds_a_record_that_was_written_anew)
{
    struct world world;
    size_t n;
    unsigned char digest[SHA256_BYTES];
    char hex[SHA256_HEX_SIZE];
    struct sha256 hash;

    world_init(&world);
    add(&world, 5);
    auto_free char *text = read_all(&world, CHAIN_FILE, &n);
    char *line = line_at(text, 2);
    char *end = strchr(line, '\n');
    memcpy(strstr(line, "command 2"), "command 7", 9);
    sha256_init(&hash); /* as whoever changed it would do */
    sha256_update(&hash, line, (size_t)(end - line) - CHAIN_TAIL_LENGTH);
    sha256_final(&hash, digest);
    sha256_hex(digest, hex);
    memcpy(end - 2 - 64, hex, 64);
    write_all(&world, CHAIN_FILE, text, n);
    CHECK(finds(&world, CHAIN_FILE ":4: record 4 does not follow the record before it"));
    world_done(&world);
}

TEST(finds_every_changed_byte)
{
    struct world world;
    size_t n;
    int n_missed = 0;

    world_init(&world);
    add(&world, 3);
    auto_free char *text = read_all(&world, CHAIN_FILE, &n);
    for (size_t i = 0; i < n; i++) {
        struct verify_report report;

        text[i] ^= 1;
        write_all(&world, CHAIN_FILE, text, n);
        (void)verified(&world, &report);
        n_missed += report.n_problems == 0;
        text[i] ^= 1;
    }
    CHECK(n_missed == 0);
    world_done(&world);
}

TEST(finds_a_removed_line)
{
    struct world world;
    size_t n;

    world_init(&world);
    add(&world, 5);
    auto_free char *text = read_all(&world, CHAIN_FILE, &n);
    char *third = line_at(text, 2);
    char *fourth = line_at(text, 3);
    size_t gone = (size_t)(fourth - third);
    memmove(third, fourth, strlen(fourth) + 1);
    write_all(&world, CHAIN_FILE, text, n - gone);
    CHECK(finds(&world, CHAIN_FILE ":3: record 3 is missing"));
    world_done(&world);
}

TEST(finds_lines_that_changed_places)
{
    struct world world;
    size_t n;

    world_init(&world);
    add(&world, 4);
    auto_free char *text = read_all(&world, CHAIN_FILE, &n);
    auto_free char *other = strdup(text);
    char *second = line_at(text, 1);
    char *third = line_at(text, 2);
    char *fourth = line_at(text, 3);
    size_t n_third = (size_t)(fourth - third);
    memcpy(other + (second - text), third, n_third);
    memcpy(other + (second - text) + n_third, second, (size_t)(third - second));
    write_all(&world, CHAIN_FILE, other, n);
    CHECK(finds(&world, "record 2 stands behind record 3"));
    world_done(&world);
}

TEST(finds_a_tail_that_was_cut_and_still_does_later)
{
    struct world world;
    size_t n;

    world_init(&world);
    add(&world, 5);
    auto_free char *text = read_all(&world, CHAIN_FILE, &n);
    write_all(&world, CHAIN_FILE, text, (size_t)(line_at(text, 3) - text));
    CHECK(finds(&world, "the last 2 records are missing: the head says there are 5"));
    add(&world, 1);
    CHECK(finds(&world, "the records 4 to 5 are missing"));
    world_done(&world);
}

TEST(finds_half_a_record_that_was_cut)
{
    struct world world;
    size_t n;

    world_init(&world);
    add(&world, 5);
    auto_free char *text = read_all(&world, CHAIN_FILE, &n);
    write_all(&world, CHAIN_FILE, text, n - 20); /* a writer that was killed never moved the head */
    CHECK(finds(&world, "the last 1 records are missing"));
    world_done(&world);
}

TEST(finds_that_all_records_are_gone)
{
    struct world world;

    world_init(&world);
    add(&world, 5);
    CHECK(unlink(path_of(&world, CHAIN_FILE)) == 0);
    CHECK(finds(&world, "the last 5 records are missing"));
    add(&world, 1);
    CHECK(finds(&world, "the records before 6 are missing"));
    world_done(&world);
}

TEST(finds_an_older_head)
{
    struct world world;
    size_t n;

    world_init(&world);
    add(&world, 2);
    auto_free char *head = read_all(&world, CHAIN_HEAD, &n);
    add(&world, 3);
    write_all(&world, CHAIN_HEAD, head, n);
    CHECK(finds(&world, "the head is older than the records"));
    CHECK(unlink(path_of(&world, CHAIN_HEAD)) == 0);
    CHECK(finds(&world, "the head is missing"));
    world_done(&world);
}

TEST(compares_a_head_that_was_noted_elsewhere)
{
    struct world world;
    struct verify_report report;
    struct verify_anchor anchor = { .seq = 2 };

    world_init(&world);
    add(&world, 2);
    (void)verified(&world, &report);
    memcpy(anchor.hash, report.last_hash, sizeof anchor.hash);
    add(&world, 2);
    CHECK(verify_log(&world.settings, &anchor, &report, NULL) == 0 && report.n_problems == 0);
    verify_report_done(&report);
    anchor.hash[0] = anchor.hash[0] == 'a' ? 'b' : 'a';
    CHECK(verify_log(&world.settings, &anchor, &report, NULL) == 0 && report.n_problems == 1);
    verify_report_done(&report);
    world_done(&world);
}

/* ---- rotation */

TEST(goes_on_in_a_new_file_and_misses_one_that_is_gone)
{
    struct world world;
    struct verify_report report;
    char name[CHAIN_NAME_SIZE];

    world_init(&world);
    world.settings.max_size = 3000;
    add(&world, 30);
    CHECK_STR(verified(&world, &report), "");
    CHECK(report.n_records == 30 && report.n_files > 4);
    auto_audit_files struct audit_files files = { 0 };
    auto_close int fd = open(world.directory, O_RDONLY | O_DIRECTORY);
    CHECK(audit_files_list(fd, &files, NULL) == 0 && files.n == report.n_files - 1);
    CHECK(files.first[0] == 1);
    chain_file_name(files.first[1], name);
    CHECK(unlink(path_of(&world, name)) == 0);
    CHECK(finds(&world, "are missing"));
    world_done(&world);
}

TEST(goes_on_in_a_new_file_when_one_is_old)
{
    struct world world;
    struct verify_report report;

    world_init(&world);
    world.settings.max_age_ms = 1; /* the file's first record is older than that soon */
    add(&world, 1);
    CHECK(usleep(5000) == 0);
    add(&world, 1);
    CHECK_STR(verified(&world, &report), "");
    CHECK(report.n_files == 2);
    world_done(&world);
}

TEST(removes_what_is_too_much_and_says_so)
{
    struct world world;
    struct verify_report report;
    char name[CHAIN_NAME_SIZE];

    world_init(&world);
    world.settings.max_size = 3000;
    world.settings.keep = 2;
    add(&world, 30);
    CHECK_STR(verified(&world, &report), "");
    CHECK(report.n_files == 3 && report.first_seq > 1 && report.last_seq == 30);
    CHECK(report.pruned_seq == report.first_seq - 1);
    chain_file_name(report.first_seq, name);
    CHECK(unlink(path_of(&world, name)) == 0); /* one more than coop removed */
    CHECK(finds(&world, "no record says that coop removed them"));
    world_done(&world);
}

/* ---- what a killed writer leaves */

TEST(takes_a_torn_record_out_and_goes_on)
{
    struct world world;
    struct verify_report report;
    size_t n;

    world_init(&world);
    add(&world, 3);
    auto_close int fd = open(path_of(&world, CHAIN_FILE), O_WRONLY | O_APPEND);
    CHECK(write(fd, "{\"seq\":4,\"time", 14) == 14);
    CHECK_STR(verified(&world, &report), "");
    CHECK(report.torn_bytes == 14 && report.n_records == 3);
    add(&world, 2);
    CHECK_STR(verified(&world, &report), "");
    CHECK(report.n_torn == 1 && report.torn_bytes == 0 && report.last_seq == 5);
    auto_free char *torn = read_all(&world, CHAIN_TORN, &n);
    CHECK_STR(torn, "{\"seq\":4,\"time\n");
    world_done(&world);
}

TEST(goes_on_when_the_head_is_behind)
{
    struct world world;
    struct verify_report report;
    size_t n;

    world_init(&world);
    add(&world, 3);
    auto_free char *head = read_all(&world, CHAIN_HEAD, &n);
    add(&world, 1);
    write_all(&world, CHAIN_HEAD, head, n);
    CHECK_STR(verified(&world, &report), "");
    CHECK(report.is_head_behind);
    add(&world, 1);
    CHECK_STR(verified(&world, &report), "");
    CHECK(report.last_seq == 5 && !report.is_head_behind);
    world_done(&world);
}

TEST(leaves_foreign_bytes_in_a_file_of_their_own)
{
    struct world world;

    world_init(&world);
    add(&world, 2);
    auto_close int fd = open(path_of(&world, CHAIN_FILE), O_WRONLY | O_APPEND);
    CHECK(write(fd, "hello\n", 6) == 6);
    add(&world, 2);
    CHECK(finds(&world, "audit-000000000001.jsonl:3: this is no record"));
    world_done(&world);
}

struct shared {
    _Atomic uint64_t done[WRITERS]; /* records whose writing was acknowledged */
};

/* Of all sizes, also such that take several pages, which a kill can part. */
static _Noreturn void write_for_ever(const struct world *world, _Atomic uint64_t *done,
                                     unsigned seed)
{
    static char text[60001];

    memset(text, 'x', sizeof text - 1);
    for (;;) {
        size_t n = (size_t)rand_r(&seed) % (rand_r(&seed) % 4 ? 500 : sizeof text - 1);
        char kept = text[n];

        text[n] = '\0';
        if (add_text(world, text) == 0)
            *done += 1;
        text[n] = kept;
    }
}

static pid_t start(const struct world *world, struct shared *shared, int i)
{
    pid_t pid = fork();

    if (pid == 0)
        write_for_ever(world, &shared->done[i], (unsigned)getpid() ^ (unsigned)time(NULL));
    return pid;
}

TEST(survives_500_kills_of_writers)
{
    struct world world;
    struct verify_report report;
    pid_t pids[WRITERS];
    unsigned seed = 1;
    uint64_t n_done = 0;
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    CHECK(shared != MAP_FAILED);
    world_init(&world);
    world.settings.max_size = (uint64_t)4 << 20;
    for (int i = 0; i < WRITERS; i++)
        pids[i] = start(&world, shared, i);
    for (int kills = 0; kills < KILLS; kills++) {
        int i = rand_r(&seed) % WRITERS;

        (void)nanosleep(&(struct timespec){ 0, rand_r(&seed) % 3000000 }, NULL);
        CHECK(kill(pids[i], SIGKILL) == 0 && waitpid(pids[i], NULL, 0) == pids[i]);
        pids[i] = start(&world, shared, i);
    }
    for (int i = 0; i < WRITERS; i++)
        CHECK(kill(pids[i], SIGKILL) == 0 && waitpid(pids[i], NULL, 0) == pids[i]);
    for (int i = 0; i < WRITERS; i++)
        n_done += shared->done[i];
    CHECK_STR(verified(&world, &report), "");
    printf("# %llu acknowledged, %llu found, %llu torn, %llu files\n", (unsigned long long)n_done,
           (unsigned long long)report.n_records, (unsigned long long)report.n_torn,
           (unsigned long long)report.n_files);
    CHECK(n_done > KILLS);
    CHECK(report.n_records >= n_done);
    CHECK(report.n_records <= n_done + KILLS + WRITERS);
    (void)munmap(shared, sizeof *shared);
    world_done(&world);
}

/* ---- at once */

/* In a process or thread of its own nothing is checked. */
static void *thread_main(void *argument)
{
    bool is_bad = false;

    for (int i = 0; i < 100; i++)
        is_bad |= add_text(argument, "at once") < 0;
    return is_bad ? argument : NULL;
}

TEST(threads_and_processes_write_at_once)
{
    struct world world;
    struct verify_report report;
    pid_t pids[16];

    world_init(&world);
    for (int i = 0; i < 16; i++) {
        pids[i] = fork();
        if (pids[i] == 0) {
            pthread_t thread;
            void *bad = NULL;

            if (pthread_create(&thread, NULL, thread_main, &world) != 0 || thread_main(&world) ||
                pthread_join(thread, &bad) != 0)
                _exit(1);
            _exit(bad != NULL);
        }
    }
    for (int i = 0; i < 16; i++) {
        int status = 1;

        CHECK(waitpid(pids[i], &status, 0) == pids[i] && status == 0);
    }
    CHECK_STR(verified(&world, &report), "");
    CHECK(report.n_records == 16 * 200);
    world_done(&world);
}
