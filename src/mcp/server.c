#include "server.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/error.h"
#include "mcp/alias/alias.h"
#include "mcp/call.h"

static void run_call(void *call, struct pool_thread *thread)
{
    call_run(call, thread);
}

int server_init(struct server *server, const struct options *options, coop_error **err)
{
    *server = (struct server){ .options = options };
    server->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    server->tick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (server->stop_fd < 0 || server->tick_fd < 0)
        return fail(err, errno, "make an event descriptor");
    (void)pthread_mutex_init(&server->lock, NULL);
    (void)pthread_cond_init(&server->has_left, NULL);
    server->pool = pool_new(SERVER_CALLS, SERVER_WAITING, run_call);
    server->commands = pool_new(SERVER_COMMANDS, SERVER_WAITING, run_call);
    if (!server->pool || !server->commands)
        return fail_no_memory(err);
    return options->filesystem_names ? alias_read_schemas(&server->alias_schemas, err) : 0;
}

void server_stop(void *server)
{
    (void)!write(((struct server *)server)->stop_fd, &(uint64_t){ 1 }, sizeof(uint64_t));
}

void server_enter(struct server *server)
{
    (void)pthread_mutex_lock(&server->lock);
    server->n_executing++;
    (void)pthread_mutex_unlock(&server->lock);
}

void server_leave(struct server *server)
{
    (void)pthread_mutex_lock(&server->lock);
    server->n_executing--;
    (void)pthread_cond_broadcast(&server->has_left);
    (void)pthread_mutex_unlock(&server->lock);
}

void server_await_all(struct server *server)
{
    (void)pthread_mutex_lock(&server->lock);
    while (server->n_executing > 0)
        (void)pthread_cond_wait(&server->has_left, &server->lock);
    (void)pthread_mutex_unlock(&server->lock);
}
