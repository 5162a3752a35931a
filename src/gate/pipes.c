#include "pipes.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define PATIENCE 256

static struct gate_pipe *make(void)
{
    struct gate_pipe *pipe = malloc(sizeof *pipe);
    int fds[2];

    if (!pipe)
        return NULL;
    if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0) {
        free(pipe);
        return NULL;
    }
    *pipe = (struct gate_pipe){ fds[0], fds[1] };
    return pipe;
}

/* A small one costs more than copying, and the user has others that are worth it. */
static bool make_large(const struct gate_pipe *pipe)
{
    return fcntl(pipe->write_fd, F_SETPIPE_SZ, GATE_PIPE_BYTES) >= 0;
}

struct gate_pipe *gate_pipes_take(struct gate_pipes *pipes)
{
    if (pipes->n_kept > 0)
        return pipes->kept[--pipes->n_kept];
    if (pipes->n == GATE_PIPES_MOST)
        return NULL;
    if (pipes->n_refused > 0) {
        pipes->n_refused--;
        return NULL;
    }
    struct gate_pipe *pipe = make();
    if (pipe) {
        pipes->n++;
        if (make_large(pipe))
            return pipe;
        gate_pipes_drop(pipes, pipe);
    }
    pipes->n_refused = PATIENCE;
    return NULL;
}

void gate_pipes_give(struct gate_pipes *pipes, struct gate_pipe *pipe)
{
    if (pipes->n_kept < GATE_PIPES_KEPT)
        pipes->kept[pipes->n_kept++] = pipe;
    else
        gate_pipes_drop(pipes, pipe);
}

void gate_pipes_drop(struct gate_pipes *pipes, struct gate_pipe *pipe)
{
    (void)close(pipe->read_fd);
    (void)close(pipe->write_fd);
    free(pipe);
    pipes->n--;
}
