#include "commands/files.h"

#include "base/fd.h"
#include "spec/parse.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One file that the run reads or writes. */
struct party {
	const char *option;
	const char *path; /* NULL: it came open, as fd */
	int fd;
	bool writes;
	/* The file itself, or where it does not exist yet, the folder and the name in it. */
	bool known;
	mode_t type;
	dev_t dev;
	ino_t ino;
	char name[NAME_MAX + 1]; /* "": it exists */
};

enum { PARTIES_MAX = 10 };

struct parties {
	struct party all[PARTIES_MAX];
	size_t len;
};

static void add(struct parties *p, const char *option, const char *path, int fd, bool writes)
{
	struct party *new = &p->all[p->len++];
	*new = (struct party){.option = option, .path = path, .fd = fd, .writes = writes};
}

/* "fd:N" is a descriptor to these. */
static void add_document(struct parties *p, const char *option, const char *where)
{
	const bool open = strncmp(where, "fd:", 3) == 0;
	add(p, option, open ? NULL : where, open ? (int)strtol(where + 3, NULL, 10) : -1, true);
}

static void add_input(struct parties *p, const char *option, const char *where)
{
	const bool open = strcmp(where, "-") == 0;
	add(p, option, open ? NULL : where, open ? STDIN_FILENO : -1, false);
}

/* A stream of the caller's counts as far as it is used. */
static void collect(struct parties *p, const struct spec *s, const char *spec_file)
{
	p->len = 0;
	if (spec_file)
		add_input(p, "--spec", spec_file);
	if (s->seccomp_file)
		add(p, "--seccomp", s->seccomp_file, -1, false);
	if (s->stdin_kind == STDIN_FILE)
		add(p, "--stdin", s->stdin_file, -1, false);
	else if (s->stdin_kind == STDIN_CALLER)
		add(p, "the caller's stdin", NULL, STDIN_FILENO, false);
	add(p, s->stdout_file ? "--stdout" : "the caller's stdout", s->stdout_file, STDOUT_FILENO,
	    true);
	if (s->stderr_file)
		add(p, "--stderr", s->stderr_file, -1, true);
	add(p, "the caller's stderr", NULL, STDERR_FILENO, true); /* our own messages go there */
	if (s->result)
		add_document(p, "--result", s->result);
	if (s->events)
		add_document(p, "--events", s->events);
	if (s->audit && strcmp(s->audit, "syslog") != 0)
		add(p, "--audit", s->audit, -1, true);
	if (s->rules.audit && strcmp(s->rules.audit, "syslog") != 0)
		add(p, "the host's audit", s->rules.audit, -1, true);
}

static void identify_new(struct party *p)
{
	char path[PATH_MAX], folder[PATH_MAX];
	struct stat st;
	snprintf(path, sizeof(path), "%s", p->path);
	for (int links = 0; links < FD_LINKS_MAX && fd_follow(path); links++)
		;
	const char *name = fd_split(path, folder);
	if (strlen(name) > NAME_MAX || stat(folder, &st) < 0)
		return; /* opening it will tell */
	snprintf(p->name, sizeof(p->name), "%s", name);
	p->known = true;
	p->type = S_IFREG;
	p->dev = st.st_dev;
	p->ino = st.st_ino;
}

/* What does not exist yet can be one with another path alone. */
static void identify(struct party *p, bool other_paths)
{
	struct stat st;
	if ((p->path ? stat(p->path, &st) : fstat(p->fd, &st)) == 0) {
		p->known = true;
		p->type = st.st_mode & S_IFMT;
		p->dev = st.st_dev;
		p->ino = st.st_ino;
	} else if (p->path && other_paths && errno == ENOENT) {
		identify_new(p);
	}
}

static bool is_document(const struct party *p)
{
	return p->writes && p->option[0] == '-';
}

static bool is_events(const struct party *p)
{
	return strcmp(p->option, "--events") == 0;
}

/* Through a pipe one goes behind the other, which is what a program's own two streams do at any
 * terminal, and what a result does behind them. Not so events, which come in between, nor a program
 * that reads what is written here, nor two who read: what the one has taken, the other does not
 * see. */
static bool pipe_clash(const struct party *a, const struct party *b)
{
	return !a->writes || !b->writes || is_events(a) || is_events(b);
}

static bool same(const struct party *a, const struct party *b)
{
	return a->known && b->known && a->dev == b->dev && a->ino == b->ino &&
	       strcmp(a->name, b->name) == 0;
}

/* Two descriptors that the caller opened are the caller's affair (with dup(2) they share an offset,
 * and nothing is lost), but for one number that is to hold two documents, or that two read to its
 * end: only a terminal goes on behind that. */
static bool clash(const struct party *a, const struct party *b)
{
	if (!a->path && !b->path)
		return a->fd == b->fd && ((is_document(a) && is_document(b)) ||
					  (!a->writes && !b->writes && a->type != S_IFCHR));
	if (a->type == S_IFIFO)
		return same(a, b) && pipe_clash(a, b);
	return (a->writes || b->writes) && (a->type == S_IFREG || a->type == S_IFBLK) && same(a, b);
}

static void identify_all(struct parties *p, const struct spec *s, const char *spec_file)
{
	size_t paths = 0, inputs = 0;
	bool opens = false;
	collect(p, s, spec_file);
	for (size_t i = 0; i < p->len; i++) {
		paths += p->all[i].path != NULL;
		inputs += !p->all[i].writes;
		opens |= p->all[i].writes && p->all[i].path;
	}
	for (size_t i = 0; (opens || inputs > 1) && i < p->len; i++)
		identify(&p->all[i], paths > 1);
}

static int refuse_clash(const struct party *a, const struct party *b, struct err *e)
{
	const char *path = b->path ? b->path : a->path ? a->path : "descriptor";
	if (!a->writes && !b->writes)
		return err_usage(e,
				 "%s and %s are one stream, and what the one reads is lost to the other; "
				 "read one of them from a file, or set stdin to null",
				 a->option, b->option);
	return err_usage(e,
			 "%s and %s are one file (%s), and one would destroy or mix with the other; "
			 "give each a file of its own",
			 a->option, b->option, show(path).text);
}

int files_check(const struct spec *s, const char *spec_file, struct err *e)
{
	struct parties p;
	identify_all(&p, s, spec_file);
	for (size_t i = 0; i < p.len; i++) {
		for (size_t j = 0; j < i; j++) {
			const struct party *a = &p.all[j], *b = &p.all[i];
			if (clash(a, b))
				return refuse_clash(a, b, e);
		}
	}
	return 0;
}

static const struct party *find(const struct parties *p, const char *option)
{
	for (size_t i = 0; i < p->len; i++)
		if (strcmp(p->all[i].option, option) == 0)
			return &p->all[i];
	return NULL;
}

static bool destroys_input(const struct parties *p, const struct party *writer)
{
	for (size_t i = 0; writer && i < p->len; i++)
		if (!p->all[i].writes && clash(&p->all[i], writer))
			return true;
	return false;
}

/* Events are written as they come, from the first byte of the file on: to whatever else is there, too. */
static bool destroys_any(const struct parties *p, const struct party *writer)
{
	for (size_t i = 0; writer && i < p->len; i++)
		if (&p->all[i] != writer && clash(&p->all[i], writer))
			return true;
	return false;
}

void files_spare(struct spec *s, const char *spec_file)
{
	struct parties p;
	identify_all(&p, s, spec_file);
	if (destroys_any(&p, find(&p, "--events")))
		s->events = NULL;
	if (destroys_any(&p, find(&p, "--audit")))
		s->audit = NULL;
	if (destroys_input(&p, find(&p, "--result")))
		s->result = NULL;
}
