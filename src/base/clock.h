/*
 * clock.h - the time that does not jump
 */
#pragma once

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline int64_t clock_now_ms(void)
{
    return (int64_t)(clock_now_ns() / 1000000u);
}
