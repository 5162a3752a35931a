#include "classify.h"

#include "test/check.h"

#include "base/cleanup.h"

static const struct learn_places careful = {
    .home = "/home/u",
    .workspace = "/home/u/src/p",
    .own = { "/etc/coop", "/home/u/.config/coop", "/home/u/.local/state/coop", "/srv/log/audit" },
    .n_own = 4,
};

static void check(const struct learn_places *places, const char *path, enum learn_file file,
                  bool is_written, enum need_verdict expected)
{
    enum need_verdict verdict = learn_classify(places, path, file, is_written);

    if (verdict != expected)
        printf("# '%s': %d, not %d\n", path, (int)verdict, (int)expected);
    CHECK(verdict == expected);
}

TEST(ordinary_paths_are_suggested)
{
    static const char *const files[] = { "/etc/fstab",         "/opt/x/bin/t",   "/srv/data/list",
                                         "/var/lib/foo/state", "/tmp/fixture",   "/home/u/notes",
                                         "/usr/lib/passwd.py", "/data/tokenizer" };
    static const char *const directories[] = { "/etc/foo", "/opt/x", "/srv/data", "/var/lib/foo",
                                               "/home/u/data" };

    for (size_t i = 0; i < COUNT(files); i++)
        check(&careful, files[i], LEARN_FILE, false, NEED_OPEN);
    for (size_t i = 0; i < COUNT(directories); i++)
        check(&careful, directories[i], LEARN_DIRECTORY, false, NEED_OPEN);
}

TEST(directories_of_many_are_too_wide)
{
    static const char *const wide[] = { "/",        "/home", "/home/u",    "/home/other",
                                        "/etc",     "/opt",  "/srv",       "/var",
                                        "/var/lib", "/data", "/usr/lib",   "/mnt/d",
                                        "/root",    "/tmp",  "/home/u/src" };

    for (size_t i = 0; i < COUNT(wide); i++) {
        check(&careful, wide[i], LEARN_DIRECTORY, false, NEED_TOO_WIDE);
        check(&careful, wide[i], LEARN_DIRECTORY, true, NEED_TOO_WIDE);
    }
}

TEST(some_things_are_never_suggested)
{
    const struct learn_places all = { .home = "/home/u",
                                      .own = { "/etc/coop", "/srv/log/audit" },
                                      .n_own = 2,
                                      .consent = { true, true, true, true } };

    check(&all, "/proc/1/environ", LEARN_FILE, false, NEED_SYSTEM);
    check(&all, "/sys/kernel", LEARN_DIRECTORY, false, NEED_SYSTEM);
    check(&all, "/run/user/1000/bus", LEARN_SOCKET, false, NEED_SYSTEM);
    check(&all, "/var/run/docker.sock", LEARN_SOCKET, false, NEED_SYSTEM);
    check(&all, "/tmp/ssh-x/agent.1", LEARN_SOCKET, false, NEED_SOCKET);
    check(&all, "/srv/disk", LEARN_DEVICE, false, NEED_SYSTEM);
    check(&all, "/etc/coop/coop.toml", LEARN_FILE, false, NEED_COOP);
    check(&all, "/srv/log/audit/1.jsonl", LEARN_FILE, false, NEED_COOP);
    check(&all, "/srv/log", LEARN_DIRECTORY, false, NEED_COOP); /* the log is in it */
    check(&all, "/home/u/.bashrc", LEARN_FILE, true, NEED_DOTFILE_WRITE);
    check(&all, "/home/u/.ssh/config", LEARN_FILE, true, NEED_SECRET);
    check(&all, "/srv/a\nb", LEARN_FILE, false, NEED_UNSPELLABLE);
    check(&all, "/srv/a\xff", LEARN_FILE, false, NEED_UNSPELLABLE);
    check(&all,
          "/srv/\xe2\x80\xae"
          "evil",
          LEARN_FILE, false, NEED_UNSPELLABLE);
    check(&all, "/srv/\033[2J", LEARN_FILE, false, NEED_UNSPELLABLE);
}

TEST(secrets_need_a_flag_of_their_own)
{
    static const char *const secrets[] = {
        "/home/u/.ssh/id_rsa", "/etc/shadow",           "/srv/app/.env",
        "/srv/app/.env.local", "/srv/app/tls.key",      "/etc/ssl/private/x",
        "/home/u/.aws/config", "/srv/db-password.txt",  "/srv/API_SECRETS.y",
        "/home/u/.netrc",      "/home/u/.bash_history", "/etc/ssh/sshd_config",
        "/var/log/syslog",     "/srv/id_ed25519",
    };
    struct learn_places with = careful;

    with.consent.secrets = with.consent.dotfiles = true;
    for (size_t i = 0; i < COUNT(secrets); i++) {
        check(&careful, secrets[i], LEARN_FILE, false, NEED_SECRET);
        check(&with, secrets[i], LEARN_FILE, false, NEED_OPEN);
        check(&with, secrets[i], LEARN_FILE, true, NEED_SECRET);
    }
}

TEST(dotfiles_and_writing_need_a_flag)
{
    struct learn_places dotfiles = careful;
    struct learn_places writes = careful;

    dotfiles.consent.dotfiles = true;
    writes.consent.writes = true;
    check(&careful, "/home/u/.config/tool/conf", LEARN_FILE, false, NEED_DOTFILE);
    check(&dotfiles, "/home/u/.config/tool/conf", LEARN_FILE, false, NEED_OPEN);
    check(&dotfiles, "/home/u/.config/coop/coop.toml", LEARN_FILE, false, NEED_COOP);
    check(&dotfiles, "/home/u/.config", LEARN_DIRECTORY, false, NEED_COOP);
    check(&careful, "/srv/out", LEARN_DIRECTORY, true, NEED_WRITES);
    check(&writes, "/srv/out", LEARN_DIRECTORY, true, NEED_OPEN);
    check(&writes, "/home/u/.cache/x", LEARN_DIRECTORY, true, NEED_DOTFILE);
}
