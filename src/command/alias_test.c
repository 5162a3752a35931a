/* worlds: user */
#include "alias.h"

#include "base/cleanup.h"
#include "command/rules.h"
#include "test/check.h"

/* A rule of one pattern for the program that the command names. */
static bool is_allowed(const char *pattern, bool is_blocked, const char *command)
{
    auto_command_rules struct command_rules rules = { 0 };
    auto_command_decision struct command_decision decision = { 0 };
    const struct origin at = { "coop.toml", 1, 1 };
    struct command_rule *rule;
    char name[32] = { 0 };

    memcpy(name, command, strcspn(command, " "));
    CHECK(command_rules_add(&rules, name, at, &rule, NULL) == 0);
    CHECK((is_blocked ? command_rule_block : command_rule_allow)(rule, pattern, at, NULL) == 0);
    CHECK(command_rules_decide_text(&rules, command, strlen(command), NULL, &decision, NULL) == 0);
    return decision.is_allowed;
}

struct row {
    const char *pattern;
    const char *command;
};

static void check_rows(const struct row *rows, size_t n, bool blocked_passes, bool allowed_passes)
{
    unsigned n_wrong = 0;

    for (size_t i = 0; i < n; i++) {
        bool as_blocked = is_allowed(rows[i].pattern, true, rows[i].command);
        bool as_allowed = is_allowed(rows[i].pattern, false, rows[i].command);

        if (as_blocked == blocked_passes && as_allowed == allowed_passes)
            continue;
        n_wrong++;
        printf("# %s: with '%s' blocked it is %s, with '%s' allowed %s\n", rows[i].command,
               rows[i].pattern, as_blocked ? "allowed" : "refused", rows[i].pattern,
               as_allowed ? "allowed" : "refused");
    }
    CHECK(n_wrong == 0);
}

#define ROWS(name, blocked_passes, allowed_passes, ...)                               \
    TEST(name)                                                                        \
    {                                                                                 \
        static const struct row rows[] = { __VA_ARGS__ };                             \
        check_rows(rows, sizeof rows / sizeof *rows, blocked_passes, allowed_passes); \
    }

/* clang-format off */
ROWS(docker_has_two_spellings, false, true,
    { "run", "docker run x" },
    { "run", "docker container run x" },
    { "run", "docker --context y run x" },
    { "run", "docker -H tcp://y container run x" },
    { "run", "docker --config y -D container run x" },
    { "run", "docker --log-level=debug container run x" },
    { "container run", "docker run x" },
    { "run --privileged", "docker container run --privileged x" },
    { "container run --privileged", "docker run --privileged x" },
    { "run -v", "docker container run --volume a:b x" },
    { "run --volume", "docker container run -v a:b x" },
    { "container", "docker run x" },
    { "container", "docker ps" },
    { "container", "docker container prune" },
    { "container -f", "docker rm --force x" },
    { "create", "docker container create x" },
    { "exec", "docker container exec x y" },
    { "start", "docker container start x" },
    { "stop", "docker container stop x" },
    { "kill", "docker container kill x" },
    { "cp", "docker container cp x:/y ." },
    { "attach", "docker container attach x" },
    { "commit", "docker container commit x" },
    { "ps", "docker container ls" },
    { "ps", "docker container list" },
    { "ps", "docker container ps" },
    { "container ls", "docker ps" },
    { "rm -f", "docker container rm --force x" },
    { "rm -f", "docker container remove -f x" },
    { "rmi -f", "docker image rm --force x" },
    { "rmi", "docker image remove x" },
    { "image rm", "docker rmi x" },
    { "images", "docker image ls" },
    { "images", "docker image list" },
    { "pull", "docker image pull x" },
    { "push", "docker image push x" },
    { "save", "docker image save x" },
    { "tag", "docker image tag x y" },
    { "build", "docker image build ." },
    { "build", "docker builder build ." },
    { "build", "docker buildx build ." },
    { "build", "docker buildx b ." },
    { "image build", "docker build ." },
    { "image build", "docker buildx build ." },
    { "buildx build", "docker build ." },
    { "builder build", "docker image build ." },
    { "build --push", "docker buildx build --push ." },
    { "image", "docker image build ." },
    { "image", "docker build ." },
    { "image", "docker pull x" },
    { "buildx", "docker buildx build ." },
    { "buildx", "docker image build ." },
    { "builder", "docker buildx ls" },
    { "volume rm", "docker volume remove x" },
    { "network ls", "docker network list" },
    { "stack rm", "docker stack down x" },
    { "stack up", "docker stack deploy x" },
    { "info", "docker system info" },
    { "system events", "docker events" })

ROWS(podman_and_nerdctl_have_them_too, false, true,
    { "run", "podman container run x" },
    { "run", "podman --root y container run x" },
    { "run", "podman --log-level debug run x" },
    { "container ls", "podman ps" },
    { "rmi -f", "podman image rm --force x" },
    { "init", "podman container init x" },
    { "unmount", "podman container umount x" },
    { "build", "podman buildx build ." },
    { "image prune", "podman buildx prune" },
    { "play kube", "podman kube play x" },
    { "kube play", "podman play kube x" },
    { "kube generate", "podman generate kube x" },
    { "generate", "podman kube generate x" },
    { "pod ps", "podman pod list" },
    { "run", "nerdctl container run x" },
    { "run", "nerdctl -n k8s.io run x" },
    { "run", "nerdctl --namespace=k8s.io container run x" },
    { "build", "nerdctl builder build ." },
    { "image build", "nerdctl build ." },
    { "namespace rm", "nerdctl ns remove x" })

ROWS(npm_has_many, false, true,
    { "install", "npm i x" },
    { "install", "npm in x" },
    { "install", "npm isntall x" },
    { "add", "npm install x" },
    { "install -g", "npm add --global x" },
    { "link -g", "npm ln --global x" },
    { "exec", "npm x y" },
    { "run", "npm run-script x" },
    { "run", "npm urn x" },
    { "run", "npm test" },
    { "run", "npm start" },
    { "test", "npm t" },
    { "test", "npm run test" },
    { "test", "npm rum test" },
    { "run test", "npm tst" },
    { "stop", "npm run-script stop" },
    { "rebuild", "npm rb" },
    { "uninstall", "npm un x" },
    { "uninstall", "npm remove x" },
    { "rm", "npm r x" },
    { "unlink", "npm rm x" },
    { "update", "npm upgrade" },
    { "ci", "npm clean-install" },
    { "ci", "npm ic" },
    { "config set", "npm c set a b" },
    { "config set", "npm set a b" },
    { "config", "npm get a" },
    { "get", "npm config get a" },
    { "install-test", "npm it" },
    { "install-ci-test", "npm sit" },
    { "install-ci-test", "npm clean-install-test" },
    { "view", "npm info x" },
    { "view", "npm show x" },
    { "search", "npm find x" },
    { "ls", "npm list" },
    { "ls", "npm la" },
    { "explain", "npm why x" },
    { "owner", "npm author ls" },
    { "dist-tag", "npm dist-tags ls" },
    { "init", "npm create x" },
    { "login", "npm adduser" })

ROWS(others_have_a_few, false, true,
    { "remote remove", "git remote rm x" },
    { "remote rm", "git remote remove x" },
    { "stash push", "git stash save" },
    { "push", "git send-pack x" },
    { "add", "git stage x" },
    { "create namespace", "kubectl create ns x" },
    { "create serviceaccount", "kubectl -n y create sa x" },
    { "config use", "kubectl config use-context x" },
    { "try-restart", "systemctl condrestart x" },
    { "force-reload", "systemctl try-reload-or-restart x" },
    { "build", "cargo b" })

ROWS(what_is_something_else_decides_by_itself, true, false,
    { "run", "docker compose run x" },
    { "run", "docker image ls run" },
    { "run", "docker container ls run" },
    { "container run", "docker container rm x" },
    { "ps", "docker compose ps" },
    { "ps", "docker images" },
    { "build", "docker compose build" },
    { "build", "docker buildx ls" },
    { "image", "docker buildx ls" },
    { "image", "docker run x" },
    { "image ls", "docker buildx ls" },
    { "image prune", "docker buildx prune" },
    { "buildx", "docker image ls" },
    { "buildx prune", "docker image prune" },
    { "rm", "docker volume rm x" },
    { "rm", "docker rmi x" },
    { "rm --force", "docker container rm x" },
    { "init", "docker container init x" }, /* of docker it is another program's */
    { "kube play", "podman generate kube x" },
    { "install", "npm ci" },
    { "init", "npm in x" },
    { "test", "npm run build" },
    { "run build", "npm test" },
    { "start", "npm stop" },
    { "config set", "npm get a" },
    { "remote remove", "git remote add x" },
    { "create namespace", "kubectl create sa x" },
    { "stop", "systemctl condrestart x" })

ROWS(a_flag_has_a_third_spelling, false, false,
    { "fetch --force", "git fetch x +main" },
    { "pull -f", "git pull x +main:main" },
    { "branch --delete", "git branch -D x" },
    { "branch --force", "git branch -D x" },
    { "branch --move", "git branch -M x" },
    { "switch --force", "git switch --discard-changes x" },
    { "switch --discard-changes", "git switch --force x" })

ROWS(where_a_spelling_cannot_be_told_the_answer_is_no, false, false,
    { "run", "docker container --x y run" },
    { "ps", "podman container --log-level debug list" },
    { "ps", "docker container \"$x\"" },
    { "ps", "docker container \"li$x\"" },
    { "build", "docker image --x build ." },
    { "build", "docker image \"$x\" ." },
    { "build", "docker buildx --builder x build ." },
    { "test", "npm run --silent test" },
    { "test", "npm tes" },
    { "run", "npm star" }, /* of npm's own, but also the beginning of another */
    { "uninstall", "npm uninst x" },
    { "uninstall", "npm remov x" },
    { "config set", "npm conf set x" },
    { "run", "npm runScript x" },
    { "login", "npm addUser" })
/* clang-format on */

TEST(what_a_group_adds_is_added_once)
{
    auto_command_rules struct command_rules rules = { 0 };
    auto_command_rules struct command_rules copy = { 0 };
    auto_command_rules struct command_rules again = { 0 };
    const struct origin at = { "coop.toml", 1, 1 };
    struct command_rule *rule;

    CHECK(command_rules_add(&rules, "docker", at, &rule, NULL) == 0);
    CHECK(command_rule_block(rule, "image", at, NULL) == 0);
    CHECK(rule->n_blocked == 2);
    CHECK_STR(rule->blocked[1].text, "buildx build");
    CHECK(command_rule_block(rule, "image", at, NULL) == 0);
    CHECK(command_rules_copy(&rules, &copy, NULL) == 0);
    CHECK(command_rules_copy(&copy, &again, NULL) == 0);
    CHECK(again.items[0].n_blocked == 2);
}
