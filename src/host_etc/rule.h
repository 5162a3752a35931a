/*
 * rule.h - which names of /etc a box may have
 *
 * A name is admitted if a package ships it or the table of generated files has it, if everybody may read it by
 * the mode bits of the file and of every directory above it (whoever asks: root too), and if the
 * credential recogniser finds nothing in it. Everything else is local and stays out. Some names stay out
 * whatever ships them.
 *
 *   etc_shipped_load(root_fd, &shipped, err);
 *   etc_walk(root_fd, &shipped, visit, context, err);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "coop/error.h"

/* The names below /etc that packages ship, sorted. */
struct etc_shipped {
    char **names;
    size_t n;
    size_t capacity;
    bool has_database; /* else a table stands in for it */
};

enum etc_verdict {
    ETC_ADMITTED,
    ETC_LOCAL,   /* nobody ships it */
    ETC_CLOSED,  /* not everybody may read it */
    ETC_REFUSED, /* by its name */
    ETC_MADE_UP, /* the box has one of its own */
    ETC_SECRET,  /* by what is in it */
    ETC_ODD      /* neither file, directory nor link; or too large */
};

struct etc_entry {
    const char *name; /* below /etc; "" is /etc itself */
    const struct stat *st;
    enum etc_verdict verdict;
    bool is_shipped;
    const char *why;   /* the table's reason, or what the recogniser found; NULL: neither */
    const char *bytes; /* of an admitted file or link: what is in it */
    size_t n;
};

/* Not 0: the walk ends with it. */
typedef int etc_visit(void *context, const struct etc_entry *entry);

/* Reads the database of dpkg or pacman below the directory. */
int etc_shipped_load(int root_fd, struct etc_shipped *out, coop_error **err);
bool etc_shipped_has(const struct etc_shipped *shipped, const char *name);
void etc_shipped_done(struct etc_shipped *shipped);

/* By the tables alone: ETC_REFUSED, ETC_MADE_UP, ETC_ADMITTED (generated) or ETC_LOCAL. */
enum etc_verdict etc_rule_name(const char *name, bool has_database, const char **why);

/* Visits what is below root_fd's etc, directories before what is in them. A directory that is not admitted
 * is visited and not entered. */
int etc_walk(int root_fd, const struct etc_shipped *shipped, etc_visit *visit, void *context,
             coop_error **err);
