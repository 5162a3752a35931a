/*
 * siphash.h - a hash that nobody can aim at
 *
 * SipHash-1-3 (Aumasson, Bernstein). Who does not know the key cannot make names that all fall into
 * one slot, and so a file of 100,000 keys takes linear time also when an enemy wrote it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

uint64_t siphash(const uint64_t key[2], const void *bytes, size_t n);
