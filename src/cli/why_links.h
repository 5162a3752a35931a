/*
 * why_links.h - what the policy's text does not know: where links lead, what a file's own mode says
 *
 * The box follows the same links, so an answer about a link is one about where it leads; a hard link is
 * one more name of a file, and the box hides what has a hidden one. What is
 * refused by the file itself, on the host as in the box, is no rule's doing and is only said.
 */
#pragma once

#include "base/buffer.h"
#include "policy/decide/decide.h"

/*
 * `answer` is policy_decide()'s, and is replaced where a link leads to something else. `note` gets a sentence
 * or nothing. Borrows all.
 */
int why_links(const struct decide_subject *subject, const struct decide_question *question,
              struct decide_answer *answer, struct buffer *note, coop_error **err);
