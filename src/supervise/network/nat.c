#include "nat.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "net/nat_protocol.h"

int network_nat_start(struct network_gate *gate, const struct plan_nat *plan,
                      const struct host *host, coop_error **err)
{
    char veth[] = "veth";
    char user[] = "user";
    const int on = 1;
    int r = network_gate_prepare(gate, "coop-nat", err);

    if (r < 0)
        return r;
    /* Here, so that it holds for whatever comes first. */
    if (setsockopt(gate->their_fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0)
        return fail(err, errno, "prepare the socket of coop-nat");
    gate->tidies_up = true;
    return network_gate_spawn(gate, &plan->rules, host->is_root ? veth : user, err);
}

void network_nat_took(struct plan *plan, uint32_t method)
{
    static const char *const walls[] = {
        [NAT_VETH] = "network namespace + nat (veth) + seccomp",
        [NAT_PASTA] = "network namespace + nat (pasta) + seccomp",
        [NAT_SLIRP] = "network namespace + nat (slirp4netns) + seccomp",
    };

    if (method >= NAT_VETH && method < COUNT(walls))
        plan->enforced.walls[COOP_WALL_NETWORK] = walls[method];
}

int network_nat_explain(struct network_gate *gate, int r, coop_error **err)
{
    struct nat_answer answer;
    struct nat_words *words = &answer.words;

    if (gate->fd < 0 ||
        recv(gate->fd, &answer, sizeof answer, MSG_DONTWAIT) != (ssize_t)sizeof answer ||
        answer.magic != NAT_SOCKETS_MAGIC || !answer.error)
        return r;
    words->sentence[sizeof words->sentence - 1] = words->hint[sizeof words->hint - 1] = '\0';
    if (err) {
        coop_error_free(*err);
        *err = NULL;
    }
    (void)fail_kind(err, COOP_ERROR_SETUP, -r, "start the sandbox: %s", words->sentence);
    return words->hint[0] ? fail_hint(err, r, "%s", words->hint) : r;
}
