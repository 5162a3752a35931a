/*
 * schema.h - every key that a configuration may have, as one table
 *
 * The rows are made from src/settings when coop is built. The table decides what the reader accepts, what a key means when nobody wrote it, what a project
 * file may do with it, and what `coop config schema` and coop-policy(5) say. A path names a key:
 *
 *   sandbox.memory        a key of [sandbox]
 *   commands.*.blocked    "*" stands for a name that the author chooses: [commands.git]
 *   users[].trust         a key in each table of the list [[users]]
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum schema_type {
    SCHEMA_TABLE,  /* of keys of its own, or of names that the author chooses */
    SCHEMA_TABLES, /* a list of tables */
    SCHEMA_BOOL,
    SCHEMA_WORD, /* one of `words` */
    SCHEMA_COUNT,
    SCHEMA_DECIMAL,
    SCHEMA_SIZE,
    SCHEMA_DURATION,
    SCHEMA_TEXT,
    SCHEMA_PATH,     /* absolute, from ~, or relative to the workspace */
    SCHEMA_TARGET,   /* a path in the box, absolute */
    SCHEMA_VARIABLE, /* the name of an environment variable */
    SCHEMA_HOST,     /* HOST[:PORT], *.HOST[:PORT], ADDRESS[/BITS][:PORT] */
    SCHEMA_EXPECTATION,
    SCHEMA_COMMAND, /* a text for the shell, or a list of words */
};

/* What a file inside the workspace, written by the agent's side, may do with a key. */
enum schema_project {
    PROJECT_NEVER,     /* not have it, approved or not */
    PROJECT_SAME,      /* repeat the owner's value; all else needs the owner's approval */
    PROJECT_SMALLER,   /* a number: at most the owner's */
    PROJECT_STRICTER,  /* towards the first of `words`; a bool: towards `strict` */
    PROJECT_NETWORK,   /* the keys that choose the network, taken together */
    PROJECT_FEWER,     /* a list: what is also in the owner's */
    PROJECT_MORE,      /* a list: added to the owner's */
    PROJECT_WORKSPACE, /* the workspace itself, or as SAME */
    PROJECT_WITHIN,    /* a directory in the owner's */
    PROJECT_MOUNTS,    /* the owner's mounts or fewer, or read-only */
    PROJECT_COMMANDS,  /* commands that are allowed anyway */
    PROJECT_FREE,      /* anything: it gives nothing away */
};

enum schema_flag {
    SCHEMA_LIST = 1,         /* a list of `type` */
    SCHEMA_REQUIRED = 2,     /* its table must have it */
    SCHEMA_NONE = 4,         /* the word "none" lifts the limit, or stands for the empty table */
    SCHEMA_STRICT_TRUE = 8,  /* a bool whose stricter value is true; otherwise it is false */
    SCHEMA_UNSET_ALL = 16,   /* a list that nobody wrote allows everything */
    SCHEMA_NO_OVERRIDE = 32, /* not in the `sandbox` of a user or a cron entry */
    SCHEMA_SECRET = 64,      /* its value is never shown */
};

struct schema_row {
    const char *path;
    size_t path_size; /* with its NUL: every start looks for half of all keys */
    enum schema_type type;
    enum schema_project project;
    unsigned flags;
    const char *fallback; /* the default as it would be written, without quotes; NULL: not set */
    const char *help;     /* a sentence */
    const char *const *words; /* SCHEMA_WORD: strictest first, NULL at the end */
    const char *other_word;   /* SCHEMA_WORD: another for ... */
    const char *other_means;  /* ... this one of them; NULL: there is none */
    const char *also;         /* the path of another spelling of the same key; NULL: none */
    const char *same_as;      /* this is another spelling of that path */
    const char *like;         /* SCHEMA_TABLE: has the keys of that table */
    const char *short_for;    /* SCHEMA_TABLE at the top: a text instead of it is this key of it */
};

extern const struct schema_row schema_rows[]; /* ends with a NULL path */

/* By its path as written in the table; NULL: no such row. */
const struct schema_row *schema_find(const char *path);

/* A key in a table, or in each table of a list; `parent` NULL: at the top. NULL: no such key. */
const struct schema_row *schema_child(const struct schema_row *parent, const char *key, size_t n);

/* Walks the keys of a table in the table's order: start with `after` NULL, end with NULL. */
const struct schema_row *schema_next_child(const struct schema_row *parent,
                                           const struct schema_row *after);

/* The last part of the path: "memory"; "*" for names that the author chooses. */
const char *schema_key(const struct schema_row *row);

/* A word that is another for one of row->words, which *means is; NULL: there is none. */
const char *schema_other_word(const struct schema_row *row, const char **means);
/* Where the word stands in row->words; -1: nowhere. */
int schema_word(const struct schema_row *row, const char *word);
