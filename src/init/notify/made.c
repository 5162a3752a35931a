#include "made.h"

#include <stddef.h>

#define N_REMEMBERED 8192u

static struct file_id made[N_REMEMBERED];
static unsigned n_made;

void notify_made(const struct file_id *identity)
{
    made[n_made++ % N_REMEMBERED] = *identity;
}

void notify_made_name(int directory_fd, const char *name)
{
    struct file_id identity;

    if (file_id_of(directory_fd, name, &identity))
        notify_made(&identity);
}

bool notify_made_is(const struct file_id *identity)
{
    for (size_t i = 0; i < N_REMEMBERED && i < n_made; i++)
        if (file_id_equal(&made[i], identity))
            return true;
    return false;
}
