/*
 * review.h - may this text replace a repository's .git/config?
 *
 * A box may let git write its repository's configuration, but the next git on the host reads it
 * too. So a change passes only if each entry that is new, different, gone or moved is known to be
 * harmless: it can make git neither run a program, nor read or write outside the repository, nor
 * send anything elsewhere. What is not known is refused. The tables in the source say what is known.
 *
 * How: entries fall into harmless ones, by key *and* value, and all others. The others must stand in
 * both texts, the same ones in the same order (order matters to git: the last value wins, helpers
 * are asked in turn, an include overrides what stands before it). Harmless ones may come and go.
 *
 * Remotes. A new one is harmless when its URL is of a plain transport. The URL of one that is there
 * already can neither be changed nor removed, because the owner's next push would go where the box
 * wants it (removing is changing in two steps). A URL that is a local path is refused by default:
 * pushing to a local repository runs *its* hooks. Branches and remote.pushDefault may name only remotes
 * that a box has not added. Who writes the file puts `addedByBox` into
 * the section of each new remote (git_config_mark_remotes()); no box can remove that again, so a later
 * box knows. git itself chooses a remote called "origin", or the only
 * one there is: no box may add either. In a repository that the box itself has made, all that is
 * allowed. A remote whose URL is in an included or the user's own file only counts as a new one.
 *
 * Credentials. A box sees the configuration redacted (git_config/redact.h), so what it writes back
 * is redacted as well. The new text is therefore compared with the redacted old one, whatever holds
 * a redacted part must be unchanged, and `out` gets the new text with those parts put back.
 *
 * The same rules serve .git/config.worktree and the configuration of a submodule; see `place`.
 * Other programs than git may read these files with other rules; the gate knows only git's.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "coop/error.h"

struct git_config_place {
    /* How many directories the git directory lies below the work tree that it belongs to: 3 for
     * .git/modules/sub, whose core.worktree may say "../../../sub". 0: core.worktree is refused. */
    unsigned depth;
    /* Remotes may be local paths: for a submodule's first clone from such a place. */
    bool local_urls;
    /* The repository was made by the box that asks: its remotes are the box's own business. */
    bool is_new;
};

/*
 * `old` is what the file holds now, unredacted; size 0 if there is none. On success `out` gets the
 * text to be written in place of `new`. -EACCES: refused, and the sentence names line, key and
 * reason, never a value. -EINVAL, -EFBIG: one of them is nothing that git would read.
 */
int git_config_review(const struct git_config_place *place, const char *old, size_t old_size,
                      const char *new, size_t new_size, struct buffer *out, coop_error **err);

/* Marks the remotes of `text`, which has passed, that are not in `old`: a box has added them. */
int git_config_mark_remotes(const char *old, size_t old_size, struct buffer *text,
                            coop_error **err);
