/*
 * Two ptys: the caller's terminal ("screen" is the emulator's end, "tty" what coop gets as stdin and
 * stdout) and the box's ("box" is what the command has).
 */
#include "supervise/terminal.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>

#include "base/cleanup.h"
#include "supervise/terminal_private.h"
#include "test/check.h"

#define MEGABYTE (1 << 20)

struct scene {
    int screen;
    int tty;
    int box;
    int master;
    struct terminal *terminal;
};

static void set_nonblocking(int fd)
{
    CHECK(fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK) == 0);
}

static void make_ptys(struct scene *scene)
{
    *scene = (struct scene){ -1, -1, -1, -1, NULL };
    CHECK(terminal_make_pty(&scene->screen, &scene->tty, NULL) == 0);
    CHECK(terminal_make_pty(&scene->master, &scene->box, NULL) == 0);
}

static void open_scene(struct scene *scene, int in_fd, int out_fd)
{
    const struct terminal_options options = { .in_fd = in_fd,
                                              .out_fd = out_fd,
                                              .err_fd = -1,
                                              .master_fd = scene->master,
                                              .locale_is_utf8 = true };

    CHECK(terminal_open(&options, &scene->terminal, NULL) == 0);
    CHECK(terminal_enter(scene->terminal, NULL) == 0);
}

static void begin(struct scene *scene)
{
    make_ptys(scene);
    open_scene(scene, scene->tty, scene->tty);
}

static void end(struct scene *scene)
{
    terminal_close(scene->terminal);
    close_fd(&scene->screen);
    close_fd(&scene->tty);
    close_fd(&scene->box);
}

static void make_raw(int fd)
{
    struct termios settings;

    CHECK(tcgetattr(fd, &settings) == 0);
    cfmakeraw(&settings);
    CHECK(tcsetattr(fd, TCSANOW, &settings) == 0);
}

/* One round of the loop. `also` is a test's own end, waited for as well so that nothing spins. */
static void turn(struct scene *scene, int also, short events)
{
    struct pollfd fds[TERMINAL_POLL_FDS + 1];
    int timeout_ms = terminal_poll_timeout_ms(scene->terminal);

    terminal_poll_fill(scene->terminal, fds);
    fds[TERMINAL_POLL_FDS] = (struct pollfd){ .fd = also, .events = events };
    int n = poll(fds, COUNT(fds), timeout_ms < 0 ? 10000 : timeout_ms);
    CHECK(n > 0 || timeout_ms >= 0); /* nothing for so long: it will never come */
    terminal_poll_handle(scene->terminal, fds);
}

/* Relays until `fd` has delivered the text. */
static void expect(struct scene *scene, int fd, const char *text)
{
    char got[256] = "";
    size_t n = 0;

    set_nonblocking(fd);
    while (n < strlen(text)) {
        ssize_t r = read(fd, got + n, sizeof got - 1 - n);

        if (r > 0)
            n += (size_t)r;
        else
            turn(scene, fd, POLLIN);
    }
    got[n] = 0;
    CHECK_STR(got, text);
}

static bool write_text(int fd, const char *text)
{
    return write(fd, text, strlen(text)) == (ssize_t)strlen(text);
}

/* A terminal may deliver in pieces what was written. */
static bool is_next(int fd, const char *text)
{
    for (; *text; text++) {
        struct pollfd ready = { .fd = fd, .events = POLLIN };
        char c;

        if (poll(&ready, 1, 10000) != 1 || read(fd, &c, 1) != 1 || c != *text)
            return false;
    }
    return true;
}

static bool is_raw(int fd)
{
    struct termios settings;

    return tcgetattr(fd, &settings) == 0 && !(settings.c_lflag & (ICANON | ECHO | ISIG)) &&
           !(settings.c_oflag & OPOST) && !(settings.c_iflag & (IXON | ICRNL));
}

/* The rest of c_cc is not filled in by every libc. */
static bool is_same_settings(const struct termios *a, const struct termios *b)
{
    return a->c_iflag == b->c_iflag && a->c_oflag == b->c_oflag && a->c_cflag == b->c_cflag &&
           a->c_lflag == b->c_lflag && memcmp(a->c_cc, b->c_cc, VEOL2 + 1) == 0;
}

static char pattern(size_t i)
{
    return (char)('!' + i * 31 % 90);
}

TEST(a_pty_is_close_on_exec_and_carries_data)
{
    int master;
    int slave;
    char c = 0;

    CHECK(terminal_make_pty(&master, &slave, NULL) == 0);
    CHECK(fcntl(master, F_GETFD) == FD_CLOEXEC && fcntl(slave, F_GETFD) == FD_CLOEXEC);
    CHECK(write(slave, "x", 1) == 1 && read(master, &c, 1) == 1 && c == 'x');
    close_fd(&master);
    close_fd(&slave);
}

TEST(the_size_is_copied_and_follows)
{
    struct scene scene;
    struct winsize size = { .ws_row = 33, .ws_col = 111, .ws_xpixel = 5, .ws_ypixel = 6 };
    struct winsize got = { 0 };

    make_ptys(&scene);
    CHECK(ioctl(scene.screen, TIOCSWINSZ, &size) == 0);
    open_scene(&scene, scene.tty, scene.tty);
    CHECK(ioctl(scene.box, TIOCGWINSZ, &got) == 0);
    CHECK(memcmp(&size, &got, sizeof size) == 0);
    size.ws_col = 77;
    CHECK(ioctl(scene.screen, TIOCSWINSZ, &size) == 0);
    terminal_resize(scene.terminal);
    CHECK(ioctl(scene.box, TIOCGWINSZ, &got) == 0 && got.ws_col == 77);
    end(&scene);
}

TEST(without_a_terminal_the_size_is_the_usual_one)
{
    struct scene scene;
    struct winsize got = { 0 };

    make_ptys(&scene);
    open_scene(&scene, -1, -1);
    CHECK(ioctl(scene.box, TIOCGWINSZ, &got) == 0 && got.ws_row == 24 && got.ws_col == 80);
    CHECK(terminal_suspend(scene.terminal, NULL) == 0);
    end(&scene);
}

TEST(the_box_gets_the_callers_keys_but_not_raw_mode)
{
    struct scene scene;
    struct termios settings;

    make_ptys(&scene);
    CHECK(tcgetattr(scene.tty, &settings) == 0);
    settings.c_cc[VERASE] = '#';
    CHECK(tcsetattr(scene.tty, TCSANOW, &settings) == 0);
    open_scene(&scene, scene.tty, scene.tty);
    CHECK(tcgetattr(scene.box, &settings) == 0);
    CHECK(settings.c_cc[VERASE] == '#' && settings.c_lflag & ICANON && settings.c_iflag & IUTF8);
    end(&scene);
}

TEST(raw_mode_is_set_and_restored)
{
    struct scene scene;
    struct termios before;
    struct termios after;

    make_ptys(&scene);
    CHECK(tcgetattr(scene.tty, &before) == 0);
    open_scene(&scene, scene.tty, scene.tty);
    CHECK(is_raw(scene.tty));
    terminal_restore(scene.terminal);
    CHECK(tcgetattr(scene.tty, &after) == 0 && is_same_settings(&before, &after));
    terminal_restore(scene.terminal);
    CHECK(terminal_enter(scene.terminal, NULL) == 0 && is_raw(scene.tty));
    /* A shell that was given the terminal in between has changed it. */
    CHECK(tcsetattr(scene.tty, TCSANOW, &before) == 0);
    CHECK(terminal_continue(scene.terminal, NULL) == 0 && is_raw(scene.tty));
    terminal_close(take_ptr(scene.terminal));
    CHECK(tcgetattr(scene.tty, &after) == 0 && is_same_settings(&before, &after));
    end(&scene);
}

TEST(opening_alone_changes_nothing)
{
    struct scene scene;
    struct termios before;
    struct termios after;

    make_ptys(&scene);
    CHECK(tcgetattr(scene.tty, &before) == 0);
    const struct terminal_options options = { scene.tty, scene.tty, -1, scene.master, true };
    CHECK(terminal_open(&options, &scene.terminal, NULL) == 0);
    CHECK(tcgetattr(scene.tty, &after) == 0 && is_same_settings(&before, &after));
    end(&scene);
}

TEST(the_callers_descriptors_stay_blocking)
{
    struct scene scene;

    begin(&scene);
    CHECK(!(fcntl(scene.tty, F_GETFL) & O_NONBLOCK));
    end(&scene);
}

TEST(only_output_is_raw_if_stdin_is_no_terminal)
{
    struct scene scene;
    struct termios settings;
    int ends[2];

    make_ptys(&scene);
    CHECK(pipe(ends) == 0);
    open_scene(&scene, ends[0], scene.tty);
    CHECK(tcgetattr(scene.tty, &settings) == 0);
    CHECK(!(settings.c_oflag & OPOST) && settings.c_lflag & ISIG && settings.c_lflag & ICANON);
    make_raw(scene.box);
    CHECK(write_text(ends[1], "from the pipe"));
    expect(&scene, scene.box, "from the pipe");
    end(&scene);
    close_fd(&ends[0]);
    close_fd(&ends[1]);
}

TEST(keys_travel_as_bytes)
{
    struct scene scene;

    begin(&scene);
    make_raw(scene.box);
    CHECK(write_text(scene.screen, "\003\032\034a\r\377"));
    expect(&scene, scene.box, "\003\032\034a\r\377");
    end(&scene);
}

TEST(output_is_filtered)
{
    struct scene scene;

    begin(&scene);
    CHECK(write_text(scene.box, "a\033]52;c;eA==\ab\033[1mc\n"));
    expect(&scene, scene.screen, "ab\033[1mc\r\n");
    CHECK(terminal_filter(scene.terminal)->counts[TERM_FILTER_CLIPBOARD] == 1);
    end(&scene);
}

TEST(a_terminal_without_utf8_is_told_from_one_with_it)
{
    struct scene scene;
    struct termios settings;

    for (int is_utf8 = 0; is_utf8 < 2; is_utf8++) {
        make_ptys(&scene);
        CHECK(tcgetattr(scene.tty, &settings) == 0);
        settings.c_iflag = is_utf8 ? settings.c_iflag | IUTF8 : settings.c_iflag & ~(tcflag_t)IUTF8;
        CHECK(tcsetattr(scene.tty, TCSANOW, &settings) == 0);
        const struct terminal_options options = { scene.tty, scene.tty, -1, scene.master, false };
        CHECK(terminal_open(&options, &scene.terminal, NULL) == 0);
        CHECK(terminal_enter(scene.terminal, NULL) == 0);
        CHECK(write_text(scene.box, "\304\23321t."));
        expect(&scene, scene.screen, is_utf8 ? "\304\23321t." : "\304.");
        end(&scene);
    }
}

TEST(a_megabyte_goes_out_through_a_slow_reader)
{
    struct scene scene;
    size_t n_written = 0;
    size_t n_read = 0;
    char buffer[777];

    begin(&scene);
    make_raw(scene.box);
    set_nonblocking(scene.box);
    set_nonblocking(scene.screen);
    while (n_read < MEGABYTE) {
        char chunk[5000];
        size_t n = 0;

        for (; n < sizeof chunk && n_written + n < MEGABYTE; n++)
            chunk[n] = pattern(n_written + n);
        ssize_t r = write(scene.box, chunk, n);
        if (r > 0)
            n_written += (size_t)r;
        turn(&scene, scene.screen, POLLIN);
        r = read(scene.screen, buffer, sizeof buffer);
        for (ssize_t i = 0; i < r; i++)
            CHECK(buffer[i] == pattern(n_read++));
    }
    CHECK(n_written == MEGABYTE);
    end(&scene);
}

TEST(a_megabyte_goes_in_through_a_slow_reader)
{
    struct scene scene;
    size_t n_written = 0;
    size_t n_read = 0;
    char buffer[555];

    begin(&scene);
    make_raw(scene.box);
    set_nonblocking(scene.box);
    set_nonblocking(scene.screen);
    while (n_read < MEGABYTE) {
        char chunk[3000];
        size_t n = 0;

        for (; n < sizeof chunk && n_written + n < MEGABYTE; n++)
            chunk[n] = pattern(n_written + n);
        ssize_t r = write(scene.screen, chunk, n);
        if (r > 0)
            n_written += (size_t)r;
        turn(&scene, scene.box, POLLIN);
        r = read(scene.box, buffer, sizeof buffer);
        for (ssize_t i = 0; i < r; i++)
            CHECK(buffer[i] == pattern(n_read++));
    }
    end(&scene);
}

/* Nobody reads the caller's terminal: the loop must go on and the box must wait. */
TEST(a_stalled_terminal_blocks_the_box_and_not_the_loop)
{
    struct scene scene;
    struct pollfd fds[TERMINAL_POLL_FDS];
    char chunk[4096];
    size_t total = 0;
    ssize_t r;

    begin(&scene);
    make_raw(scene.box);
    set_nonblocking(scene.box);
    memset(chunk, 'x', sizeof chunk);
    do {
        r = write(scene.box, chunk, sizeof chunk);
        total += r > 0 ? (size_t)r : 0;
        CHECK(total < MEGABYTE);
        terminal_poll_fill(scene.terminal, fds);
        CHECK(poll(fds, COUNT(fds), 10) >= 0);
        terminal_poll_handle(scene.terminal, fds);
        terminal_poll_fill(scene.terminal, fds);
    } while (fds[1].fd != -1);       /* until the box is not read any more */
    CHECK(fds[2].events == POLLOUT); /* the terminal is waited for */
    CHECK(fds[0].events & POLLIN);   /* keys still work */
    while ((r = write(scene.box, chunk, sizeof chunk)) > 0)
        CHECK((total += (size_t)r) < MEGABYTE);
    CHECK(errno == EAGAIN);
    terminal_restore(scene.terminal); /* must not block either */
    CHECK(!is_raw(scene.tty));
    end(&scene);
}

TEST(the_end_of_the_box_is_seen_after_all_output)
{
    struct scene scene;

    begin(&scene);
    CHECK(write_text(scene.box, "\033[?1049h\033[?1003hlast words"));
    close_fd(&scene.box);
    while (!(terminal_state(scene.terminal) & TERMINAL_DONE))
        turn(&scene, -1, 0);
    CHECK(terminal_state(scene.terminal) & TERMINAL_BOX_CLOSED);
    CHECK(!(terminal_state(scene.terminal) & TERMINAL_CALLER_GONE));
    CHECK(is_next(scene.screen, "\033[?1049h\033[?1003hlast words\033[?1003l\033[?1049l"));
    end(&scene);
}

TEST(restoring_undoes_what_the_command_left)
{
    struct scene scene;

    begin(&scene);
    CHECK(write_text(scene.box, "\033[?25l"));
    expect(&scene, scene.screen, "\033[?25l");
    terminal_restore(scene.terminal);
    CHECK(is_next(scene.screen, "\033[?25h"));
    end(&scene);
}

static size_t read_until_end(struct scene *scene, char *buffer, size_t size)
{
    size_t n = 0;
    ssize_t r = -1;

    set_nonblocking(scene->box);
    while (r != 0) {
        r = read(scene->box, buffer + n, size - n);
        if (r < 0)
            turn(scene, scene->box, POLLIN);
        else
            n += (size_t)r;
    }
    return n;
}

TEST(the_end_of_a_pipe_is_an_end_of_file_inside)
{
    static const char *const texts[] = { "", "line\n", "half a line" };

    for (size_t i = 0; i < COUNT(texts); i++) {
        struct scene scene;
        char buffer[64];
        int ends[2];

        make_ptys(&scene);
        CHECK(pipe(ends) == 0);
        open_scene(&scene, ends[0], -1);
        CHECK(write_text(ends[1], texts[i]));
        close_fd(&ends[1]);
        size_t n = read_until_end(&scene, buffer, sizeof buffer);
        CHECK(n == strlen(texts[i]) && memcmp(buffer, texts[i], n) == 0);
        CHECK(terminal_state(scene.terminal) & TERMINAL_INPUT_ENDED);
        end(&scene);
        close_fd(&ends[0]);
    }
}

TEST(no_stdin_is_an_end_of_file_inside)
{
    struct scene scene;
    char buffer[8];

    make_ptys(&scene);
    open_scene(&scene, -1, -1);
    CHECK(read_until_end(&scene, buffer, sizeof buffer) == 0);
    end(&scene);
}

TEST(a_terminal_that_goes_away_is_noticed)
{
    struct scene scene;

    begin(&scene);
    close_fd(&scene.screen);
    while (!(terminal_state(scene.terminal) & TERMINAL_CALLER_GONE))
        turn(&scene, -1, 0);
    /* The box is read on, so that it cannot be held up, and the loop comes to its end. */
    CHECK(write_text(scene.box, "into the void"));
    close_fd(&scene.box);
    while (!(terminal_state(scene.terminal) & TERMINAL_DONE))
        turn(&scene, -1, 0);
    end(&scene);
}

TEST(a_closed_stdout_is_noticed_even_when_silent)
{
    struct scene scene;
    int ends[2];

    make_ptys(&scene);
    CHECK(pipe(ends) == 0);
    open_scene(&scene, scene.tty, ends[1]);
    close_fd(&ends[0]);
    while (!(terminal_state(scene.terminal) & TERMINAL_CALLER_GONE))
        turn(&scene, -1, 0);
    end(&scene);
    close_fd(&ends[1]);
}

TEST(what_is_no_pty_is_refused_and_left_open)
{
    int ends[2];
    struct terminal *terminal = NULL;
    auto_error coop_error *err = NULL;

    CHECK(pipe(ends) == 0);
    const struct terminal_options options = { -1, -1, -1, ends[0], true };
    CHECK(terminal_open(&options, &terminal, &err) == -ENOTTY);
    CHECK(strstr(coop_error_message(err), "pseudo-terminal"));
    CHECK(terminal == NULL && fcntl(ends[0], F_GETFD) >= 0);
    close_fd(&ends[0]);
    close_fd(&ends[1]);
}

/* In the child: the box's terminal becomes its own, and it waits to be killed. */
_Noreturn static void wait_on_terminal(int tty, int ready)
{
    (void)setsid();
    if (ioctl(tty, TIOCSCTTY, 0) < 0 || write(ready, "r", 1) != 1)
        _exit(1);
    while (true)
        pause();
}

TEST(a_signal_reaches_the_foreground_inside)
{
    struct scene scene;
    int ready[2];
    int status = 0;
    char c;

    begin(&scene);
    CHECK(pipe(ready) == 0);
    pid_t pid = fork();
    if (pid == 0)
        wait_on_terminal(scene.box, ready[1]);
    CHECK(read(ready[0], &c, 1) == 1);
    CHECK(terminal_signal(scene.terminal, SIGKILL) == -EINVAL);
    CHECK(terminal_signal(scene.terminal, SIGINT) == 0);
    CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    end(&scene);
    close_fd(&ready[0]);
    close_fd(&ready[1]);
}

TEST(the_interrupt_key_acts_inside_and_not_on_the_caller)
{
    struct scene scene;
    int ready[2];
    int status = 0;
    char c;

    begin(&scene);
    CHECK(pipe(ready) == 0);
    pid_t pid = fork();
    if (pid == 0)
        wait_on_terminal(scene.box, ready[1]);
    CHECK(read(ready[0], &c, 1) == 1);
    CHECK(write_text(scene.screen, "\003"));
    turn(&scene, -1, 0);
    CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGINT);
    end(&scene);
    close_fd(&ready[0]);
    close_fd(&ready[1]);
}

/*
 * Job control needs a shell: a session leader with the tty as its controlling terminal, and the job
 * as its child in a process group of its own. The shell exits with the number of the step that
 * failed, 0 if none did.
 */
#define STEP(number, condition) \
    do {                        \
        if (!(condition))       \
            _exit(number);      \
    } while (0)

static int run_shell(struct scene *scene, void (*shell)(struct scene *scene))
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        (void)alarm(20); /* a stopped job must not hang the suite */
        STEP(90, setsid() > 0 && ioctl(scene->tty, TIOCSCTTY, 0) == 0);
        (void)signal(SIGTTOU, SIG_IGN);
        shell(scene);
        _exit(0);
    }
    CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
    if (WIFSIGNALED(status))
        printf("# the shell died of signal %d\n", WTERMSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

static bool open_in_job(struct scene *scene)
{
    const struct terminal_options options = { scene->tty, scene->tty, -1, scene->master, true };

    (void)signal(SIGTTOU, SIG_DFL);
    return terminal_open(&options, &scene->terminal, NULL) == 0 &&
           terminal_enter(scene->terminal, NULL) == 0;
}

/* Hands the terminal to the child's group; the child waits until `go` is readable. */
static pid_t start_job(struct scene *scene, void (*job)(struct scene *scene, int go),
                       bool is_foreground, int *out_go)
{
    int go[2];
    char c;

    STEP(91, pipe(go) == 0);
    pid_t pid = fork();
    if (pid == 0) {
        (void)setpgid(0, 0);
        STEP(1, read(go[0], &c, 1) == 1);
        job(scene, go[0]);
        _exit(0);
    }
    STEP(92, setpgid(pid, pid) == 0 || errno == EACCES);
    if (is_foreground)
        STEP(93, tcsetpgrp(scene->tty, pid) == 0);
    STEP(94, write(go[1], "g", 1) == 1);
    *out_go = go[1];
    return pid;
}

static void suspending_job(struct scene *scene, int go)
{
    struct winsize size;

    (void)go;
    STEP(2, open_in_job(scene) && is_raw(scene->tty));
    STEP(3, terminal_suspend(scene->terminal, NULL) == 1);
    STEP(4, is_raw(scene->tty));
    STEP(5, ioctl(scene->box, TIOCGWINSZ, &size) == 0 && size.ws_col == 99);
    terminal_close(scene->terminal);
    STEP(6, !is_raw(scene->tty));
}

static void shell_that_suspends(struct scene *scene)
{
    struct winsize size = { .ws_row = 10, .ws_col = 99 };
    int status = 0;
    int go;
    pid_t pid = start_job(scene, suspending_job, true, &go);

    STEP(10, waitpid(pid, &status, WUNTRACED) == pid);
    if (WIFEXITED(status))
        _exit(WEXITSTATUS(status));
    STEP(11, WIFSTOPPED(status) && WSTOPSIG(status) == SIGTSTP);
    STEP(12, tcsetpgrp(scene->tty, getpgrp()) == 0);
    STEP(13, !is_raw(scene->tty));
    STEP(14, ioctl(scene->tty, TIOCSWINSZ, &size) == 0);
    STEP(15, tcsetpgrp(scene->tty, pid) == 0 && kill(-pid, SIGCONT) == 0);
    STEP(16, waitpid(pid, &status, WUNTRACED) == pid && WIFEXITED(status));
    _exit(WEXITSTATUS(status));
}

TEST(suspending_stops_the_job_and_gives_the_terminal_back)
{
    struct scene scene;

    make_ptys(&scene);
    CHECK(run_shell(&scene, shell_that_suspends) == 0);
    close_fd(&scene.master);
    end(&scene);
}

static void background_job(struct scene *scene, int go)
{
    struct pollfd fds[TERMINAL_POLL_FDS];
    char c;

    STEP(2, open_in_job(scene) && !is_raw(scene->tty));
    terminal_poll_fill(scene->terminal, fds);
    STEP(3, fds[0].fd == -1 && terminal_poll_timeout_ms(scene->terminal) > 0);
    /* Output goes on. */
    STEP(4, write_text(scene->box, "from behind"));
    STEP(5, poll(fds, COUNT(fds), 10000) > 0);
    terminal_poll_handle(scene->terminal, fds);
    STEP(6, !is_raw(scene->tty));
    /* The shell has been told by that output, and brings the job to the foreground. */
    STEP(7, read(go, &c, 1) == 1);
    terminal_poll_fill(scene->terminal, fds);
    (void)poll(fds, COUNT(fds), 0);
    terminal_poll_handle(scene->terminal, fds);
    STEP(8, is_raw(scene->tty) && terminal_poll_timeout_ms(scene->terminal) == -1);
    terminal_close(scene->terminal);
    STEP(9, !is_raw(scene->tty));
}

static void shell_with_a_background_job(struct scene *scene)
{
    int status = 0;
    int go;
    pid_t pid = start_job(scene, background_job, false, &go);

    STEP(20, is_next(scene->screen, "from behind"));
    STEP(21, tcsetpgrp(scene->tty, pid) == 0 && write(go, "g", 1) == 1);
    STEP(22, waitpid(pid, &status, WUNTRACED) == pid);
    STEP(23, WIFEXITED(status));
    _exit(WEXITSTATUS(status));
}

TEST(in_the_background_the_terminal_is_left_alone)
{
    struct scene scene;

    make_ptys(&scene);
    CHECK(run_shell(&scene, shell_with_a_background_job) == 0);
    close_fd(&scene.master);
    end(&scene);
}

static void job_that_ends_in_the_background(struct scene *scene, int go)
{
    char c;

    STEP(2, open_in_job(scene) && is_raw(scene->tty));
    STEP(3, write(scene->tty, "r", 1) == 1 && read(go, &c, 1) == 1);
    terminal_close(scene->terminal);
    STEP(4, is_raw(scene->tty));
}

static void shell_that_takes_the_terminal(struct scene *scene)
{
    int status = 0;
    int go;
    char c;
    pid_t pid = start_job(scene, job_that_ends_in_the_background, true, &go);

    STEP(20, read(scene->screen, &c, 1) == 1);
    STEP(21, tcsetpgrp(scene->tty, getpgrp()) == 0 && write(go, "g", 1) == 1);
    STEP(22, waitpid(pid, &status, WUNTRACED) == pid);
    STEP(23, WIFEXITED(status));
    _exit(WEXITSTATUS(status));
}

TEST(settings_are_not_restored_over_another_foreground_job)
{
    struct scene scene;

    make_ptys(&scene);
    CHECK(run_shell(&scene, shell_that_takes_the_terminal) == 0);
    close_fd(&scene.master);
    end(&scene);
}

static struct terminal *terminal_to_restore;

static void restore_and_die(int signal)
{
    terminal_restore(terminal_to_restore);
    _exit(signal);
}

TEST(a_signal_handler_can_restore)
{
    struct scene scene;
    int status = 0;

    begin(&scene);
    CHECK(is_raw(scene.tty));
    terminal_to_restore = scene.terminal;
    pid_t pid = fork();
    if (pid == 0) {
        (void)signal(SIGTERM, restore_and_die);
        (void)raise(SIGTERM);
    }
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == SIGTERM);
    CHECK(!is_raw(scene.tty));
    end(&scene);
}

TEST(a_pending_answer_is_not_left_to_the_shell)
{
    struct scene scene;
    int n = -1;

    begin(&scene);
    CHECK(write_text(scene.box, "\033[6n"));
    expect(&scene, scene.screen, "\033[6n");
    CHECK(write_text(scene.screen, "\033[1;1R"));
    struct pollfd answer = { .fd = scene.tty, .events = POLLIN };
    CHECK(poll(&answer, 1, 10000) == 1);
    CHECK(ioctl(scene.tty, FIONREAD, &n) == 0 && n == 6);
    terminal_restore(scene.terminal);
    CHECK(ioctl(scene.tty, FIONREAD, &n) == 0 && n == 0);
    end(&scene);
}

/* Reopening is refused: the terminal is exclusive, or (for root, whom that does not stop) belongs to
 * another user. */
_Noreturn static void relay_without_reopening(struct scene *scene, const char *text, size_t n)
{
    (void)alarm(20);
    STEP(1, ioctl(scene->tty, TIOCEXCL) == 0);
    STEP(2, setresuid(65534, 65534, 65534) == 0 || errno == EPERM || errno == EINVAL);
    STEP(3, open_in_job(scene));
    STEP(4, scene->terminal->out.piece > 0);
    STEP(5, write(scene->box, text, n) == (ssize_t)n);
    close_fd(&scene->box);
    while (!(terminal_state(scene->terminal) & TERMINAL_DONE)) {
        struct pollfd fds[TERMINAL_POLL_FDS];

        terminal_poll_fill(scene->terminal, fds);
        STEP(6, poll(fds, COUNT(fds), 10000) > 0);
        terminal_poll_handle(scene->terminal, fds);
    }
    terminal_close(scene->terminal);
    _exit(0);
}

TEST(works_where_the_terminal_cannot_be_reopened)
{
    struct scene scene;
    char text[2000];
    char got[sizeof text];
    size_t n = 0;
    int status = 0;

    make_ptys(&scene);
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = pattern(i);
    pid_t pid = fork();
    if (pid == 0)
        relay_without_reopening(&scene, text, sizeof text);
    close_fd(&scene.box);
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    while (n < sizeof got) {
        ssize_t r = read(scene.screen, got + n, sizeof got - n);

        CHECK(r > 0);
        n += (size_t)r;
    }
    CHECK(memcmp(text, got, n) == 0);
    close_fd(&scene.master);
    end(&scene);
}

TEST(writes_to_a_socket_without_blocking)
{
    struct scene scene;
    int ends[2];

    make_ptys(&scene);
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    open_scene(&scene, -1, ends[0]);
    CHECK(write_text(scene.box, "to the socket"));
    expect(&scene, ends[1], "to the socket");
    close_fd(&ends[1]);
    CHECK(write_text(scene.box, "to nobody")); /* without SIGPIPE */
    struct pollfd master = { .fd = scene.master, .events = POLLIN };
    CHECK(poll(&master, 1, 10000) == 1);
    terminal_write_output(scene.terminal);
    CHECK(terminal_state(scene.terminal) & TERMINAL_CALLER_GONE);
    end(&scene);
    close_fd(&ends[0]);
}
