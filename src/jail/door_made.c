#include "door_made.h"

#include <stddef.h>

#define N_REMEMBERED 8192u

static struct identity made[N_REMEMBERED];
static unsigned n_made;

void door_made(const struct identity *identity)
{
    made[n_made++ % N_REMEMBERED] = *identity;
}

void door_made_name(int directory_fd, const char *name)
{
    struct identity identity;

    if (identity_of(directory_fd, name, &identity))
        door_made(&identity);
}

bool door_made_is(const struct identity *identity)
{
    for (size_t i = 0; i < N_REMEMBERED && i < n_made; i++)
        if (identity_is(&made[i], identity))
            return true;
    return false;
}
