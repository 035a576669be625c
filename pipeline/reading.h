/* What the readers of a job document's parts share. Inside pipeline/ only.
 *
 * A part is a table of members: each row has its name and who reads its value. Names that are
 * unknown or stand twice are refused, with line and column, as is whatever a reader refuses.
 */
#ifndef PINFOLD_PIPELINE_READING_H
#define PINFOLD_PIPELINE_READING_H

#include "pipeline/job.h"
#include "spec/document.h"

struct reading {
	struct job *job;
	struct document d;
	int (*configure)(struct spec *s, struct err *e); /* the configuration files; NULL: none */
	bool of_template;				 /* what it says are defaults */
};

/* One value, and where it stands. */
struct place {
	struct slice value;
	size_t name_at; /* of the member's name */
	const char *name;
};

struct job_member {
	const char *name; /* NULL ends the table */
	int (*read)(struct reading *r, const struct place *p, void *into, struct err *e);
	size_t offset; /* of what read() is to fill, in what the table is for */
};

/* Message and kind are in *e; returns -1. at: of what is to blame. */
int reading_refuse(const struct reading *r, size_t at, const char *key, struct err *e);

/* The value at p is that of the row. */
int reading_member(struct reading *r, const struct job_member *row, const struct place *p,
		   void *into, struct err *e);
/* The members of the object at p. */
int reading_object(struct reading *r, const struct place *p, const struct job_member *rows,
		   void *into, struct err *e);
/* Members whose names are data, none of them twice, or elements: each goes to read. */
struct reading_each {
	int (*read)(struct reading *r, const struct place *p, void *into, struct err *e);
	void *into;
	size_t most; /* more are refused */
};
/* bracket: '{' for members, '[' for elements. */
int reading_each(struct reading *r, const struct place *p, char bracket,
		 const struct reading_each *each, struct err *e);
size_t reading_count(const struct reading *r, const struct place *p);

/* Values. On failure *e names the place. */
int reading_text(struct reading *r, const struct place *p, const char **text, struct err *e);
int reading_bool(struct reading *r, const struct place *p, bool *value, struct err *e);
int reading_number(struct reading *r, const struct place *p, double *value, struct err *e);
/* "64M" or a number of bytes; not 0, not none. */
int reading_size(struct reading *r, const struct place *p, uint64_t *bytes, struct err *e);
int reading_time(struct reading *r, const struct place *p, uint64_t *ns, struct err *e);
int reading_files(struct reading *r, const struct place *p, uint64_t *count, struct err *e);
/* For rows of a table: the same of the field at their offset. */
int member_text(struct reading *r, const struct place *p, void *field, struct err *e);
int member_strings(struct reading *r, const struct place *p, void *field, struct err *e);
int member_bool(struct reading *r, const struct place *p, void *field, struct err *e);
int member_size(struct reading *r, const struct place *p, void *field, struct err *e);
int member_time(struct reading *r, const struct place *p, void *field, struct err *e);
/* Its place among words, NULL-terminated. */
int reading_word(struct reading *r, const struct place *p, const char *const *words, int *word,
		 struct err *e);
/* Lower-case letters, digits, _ and -; JOB_NAME_MAX bytes. */
bool reading_is_name(const char *text);
/* An array of strings, NULL-terminated. */
int reading_strings(struct reading *r, const struct place *p, const char ***list, struct err *e);
/* A parameter's value as text: a string, a number as it is spelled, true or false. */
int reading_value(struct reading *r, const struct place *p, const char **text, struct err *e);

/* The parts, each with its place in struct job. */
int read_source(struct reading *r, const struct place *p, void *into, struct err *e);
int read_analyse(struct reading *r, const struct place *p, void *into, struct err *e);
int read_lang(struct reading *r, const struct place *p, void *into, struct err *e);
int read_matrix(struct reading *r, const struct place *p, void *into, struct err *e);
int read_cost(struct reading *r, const struct place *p, void *into, struct err *e);
int read_stages(struct reading *r, const struct place *p, void *into, struct err *e);

/* The spec keys of an object that has others besides: both specs of the stage. */
int read_stage_keys(struct reading *r, const struct place *p, const char *const *others,
		    struct job_stage *s, struct err *e);

/* The stages of a language's template, and then check_job(): they are a document of their own. */
int read_template(struct reading *r, struct err *e);

/* What only the whole can tell: read.c calls it last, with what a template gave instead of the stages. */
int check_job(struct reading *r, struct err *e);

#endif
