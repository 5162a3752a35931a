/*
 * denial_words.h - which rule refused it, where that stands, why, and what would permit it
 *
 * The words are those of `coop why`: policy/decide/decide.h answers.
 */
#pragma once

struct coop_box;

/* Fills in all records that have no words yet. What no rule refuses is none, and goes. */
void denial_words(struct coop_box *box);
/* The same while the box lives, and nothing goes: what comes has places already. */
void denial_words_so_far(struct coop_box *box);
