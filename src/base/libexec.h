/*
 * libexec.h - where coop's other programs are
 *
 *   auto_free char *path = NULL;
 *   int r = libexec_find("coop-yaml", &path);     -ENOENT: it is not installed
 *
 * Whoever can name such a program runs code as the user of coop. So nothing that an agent may have
 * a hand in is asked: no variable of the environment, no PATH, no working directory. It is the
 * place that was compiled in, or, for a coop that runs where it was built, the file beside it.
 */
#pragma once

/* *out is the caller's to free. -ENOENT, -ENOMEM. */
int libexec_find(const char *name, char **out);

/*
 * The same for a program that lies at `executable` (NULL: not known). A file beside it counts only
 * if the executable is 'coop' and both belong to the same user: in a directory where everybody may
 * create files, anybody could have put it there.
 */
int libexec_search(const char *executable, const char *directory, const char *name, char **out);

extern const char libexec_directory[]; /* absolute; of this build's prefix */
