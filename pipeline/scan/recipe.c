#include "pipeline/scan/recipe.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Part of the text, from the first byte to behind the last. */
struct part {
	char *at, *end;
};

static bool ends_with(const char *text, const char *end)
{
	const size_t a = strlen(text), b = strlen(end);
	return a > b && strcasecmp(text + a - b, end) == 0;
}

enum recipe recipe_of(const char *name)
{
	if (strcasecmp(name, "makefile") == 0 || strcmp(name, "GNUmakefile") == 0 ||
	    ends_with(name, ".mk") || ends_with(name, ".mak"))
		return RECIPE_MAKE;
	/* Dockerfile.dev */
	const size_t len = strcspn(name, ".");
	if ((len == 10 && strncasecmp(name, "dockerfile", len) == 0) ||
	    (len == 13 && strncasecmp(name, "containerfile", len) == 0) ||
	    ends_with(name, ".dockerfile"))
		return RECIPE_DOCKER;
	return RECIPE_NONE;
}

static void fill(char *from, const char *end, char with)
{
	for (; from < end; from++)
		*from = *from == '\n' ? '\n' : with;
}

static void blank(char *from, const char *end)
{
	fill(from, end, ' ');
}

static char *skip(struct part p, const char *any)
{
	while (p.at < p.end && *p.at && strchr(any, *p.at))
		p.at++;
	return p.at;
}

static bool begins(struct part p, const char *with)
{
	const size_t len = strlen(with);
	return (size_t)(p.end - p.at) >= len && memcmp(p.at, with, len) == 0;
}

static char *line_end(struct part p)
{
	char *newline = memchr(p.at, '\n', (size_t)(p.end - p.at));
	return newline ? newline : p.end;
}

/* The line, with those that a backslash at its end adds. */
static struct part whole_line(struct part rest)
{
	char *end = line_end(rest);
	while (end < rest.end && end > rest.at && end[-1] == '\\')
		end = line_end((struct part){end + 1, rest.end});
	return (struct part){rest.at, end};
}

/* ---- Makefiles ---- */

/* Where the "$(" or "${" at p.at is closed; NULL: nowhere. */
static char *closing(struct part p)
{
	const char open = p.at[1], close = open == '(' ? ')' : '}';
	int deep = 0;
	for (char *c = p.at + 1; c < p.end; c++) {
		deep += (*c == open) - (*c == close);
		if (deep == 0)
			return c;
	}
	return NULL;
}

/* A reference to a variable or a function of make becomes one to a variable of a shell, but for
 * $(shell), which is what "$(" is to a shell. Where it goes on. */
static char *take_reference(struct part p)
{
	static const char shell[] = "shell ";
	if (p.end - p.at < 2)
		return p.end;
	if (p.at[1] == '$') {
		/* "$$" is a "$". */
		*p.at = ' ';
		return p.at + 2;
	}
	if (p.at[1] != '(' && p.at[1] != '{') {
		p.at[1] = isalnum((unsigned char)p.at[1]) || p.at[1] == '\n' ? p.at[1] : '_';
		return p.at + 2;
	}
	char *end = closing(p);
	if (!end)
		return p.at + 2;
	const struct part inside = {p.at + 2, end};
	const bool inner = memmem(inside.at, (size_t)(end - inside.at), "(shell ", 7) != NULL;
	if (begins(inside, shell) || inner) {
		blank(inside.at, begins(inside, shell) ? inside.at + strlen(shell) : inside.at);
		p.at[1] = '(';
		*end = ')';
		return inside.at;
	}
	p.at[1] = '{';
	*end = '}';
	for (char *c = inside.at; c < end; c++)
		*c = isalnum((unsigned char)*c) || *c == '\n' ? *c : '_';
	return end + 1;
}

static void take_command(struct part p)
{
	while (p.at < p.end) {
		p.at = memchr(p.at, '$', (size_t)(p.end - p.at));
		if (!p.at)
			break;
		p.at = take_reference(p);
	}
}

/* Only what $(shell) runs stays of it. */
static void take_functions(struct part p)
{
	static const char shell[] = "(shell ";
	while (p.at < p.end) {
		char *from = memmem(p.at, (size_t)(p.end - p.at), shell, strlen(shell));
		if (!from || from == p.at)
			break;
		char *end = closing((struct part){from - 1, p.end});
		char *command = from + strlen(shell);
		blank(p.at, command);
		if (!end)
			return;
		take_command((struct part){command, end});
		*end = ';';
		p.at = end + 1;
	}
	blank(p.at, p.end);
}

/* "NAME = word ..." as "NAME=word". False: it is none. */
static bool take_variable(struct part line)
{
	char *name = skip(line, " "), *end = name;
	while (end < line.end && (isalnum((unsigned char)*end) || *end == '_'))
		end++;
	char *sign = skip((struct part){end, line.end}, " \t");
	const char *first = sign;
	while (sign < line.end && strchr(":?+!", *sign) && *sign)
		sign++;
	if (end == name || sign >= line.end || *sign != '=')
		return false;
	char *value = skip((struct part){sign + 1, line.end}, " \t");
	if (*first == '!') {
		blank(line.at, value);
		take_command((struct part){value, line.end});
		return true;
	}
	if (memmem(value, (size_t)(line.end - value), "(shell ", 7)) {
		take_functions(line);
		return true;
	}
	const char *stop = value;
	while (stop < line.end && (isalnum((unsigned char)*stop) || (*stop && strchr("_./-+", *stop))))
		stop++;
	const size_t len = (size_t)(stop - value);
	*end = '=';
	memmove(end + 1, value, len);
	blank(end + 1 + len, line.end);
	return true;
}

static void take_make_line(struct part line)
{
	if (*line.at == '\t') {
		char *command = skip(line, "\t @+-");
		blank(line.at, command);
		take_command((struct part){command, line.end});
		return;
	}
	if (*skip(line, " ") == '#') {
		blank(line.at, line.end);
		return;
	}
	if (take_variable(line))
		return;
	/* target: others; command */
	char *colon = memchr(line.at, ':', (size_t)(line.end - line.at));
	char *command = colon ? memchr(colon, ';', (size_t)(line.end - colon)) : NULL;
	if (command) {
		take_functions((struct part){line.at, command});
		*command = ' ';
		take_command((struct part){command, line.end});
	} else {
		take_functions(line);
	}
}

/* ---- Dockerfiles ---- */

/* A Dockerfile's remarks do not end the line that they stand in: each becomes one that goes on. */
static struct part whole_order(struct part rest)
{
	char *end = line_end(rest);
	while (end < rest.end && end > rest.at && end[-1] == '\\') {
		const struct part next = {end + 1, rest.end};
		const char *word = skip(next, " \t");
		end = line_end(next);
		if (word < end && *word == '#') {
			blank(next.at, end);
			end[-1] = '\\';
		}
	}
	return (struct part){rest.at, end};
}

/* Lines up to the one that is word alone stay; that one does not. Where it goes on. */
static char *take_here(struct part rest, const char *word, size_t len)
{
	while (rest.at < rest.end) {
		char *end = line_end(rest);
		char *text = skip((struct part){rest.at, end}, "\t");
		if ((size_t)(end - text) == len && memcmp(text, word, len) == 0) {
			blank(rest.at, end);
			return end;
		}
		rest.at = end + (end < rest.end);
	}
	return rest.end;
}

/* "RUN <<END": the command is what follows. */
static char *take_run(struct part line, char *all_end)
{
	char *at = line.at + 3;
	blank(line.at, at);
	while ((at = skip((struct part){at, line.end}, " \t\\\n")),
	       begins((struct part){at, line.end}, "--")) {
		char *option = at;
		while (at < line.end && !isspace((unsigned char)*at))
			at++;
		blank(option, at);
	}
	if (begins((struct part){at, line.end}, "<<")) {
		char *word = skip((struct part){at + 2, line.end}, "-'\""), *end = word;
		while (end < line.end && (isalnum((unsigned char)*end) || *end == '_'))
			end++;
		char name[64];
		const size_t len = (size_t)(end - word) < sizeof(name) ? (size_t)(end - word) : 0;
		memcpy(name, word, len);
		blank(at, line.end);
		return len > 0 ? take_here((struct part){line.end + (line.end < all_end), all_end},
					   name, len)
			       : line.end;
	}
	if (at < line.end && *at == '[')
		for (; at < line.end; at++)
			*at = strchr("[],", *at) && *at ? ' ' : *at;
	return line.end;
}

void recipe_reduce(enum recipe kind, char *text, size_t len)
{
	struct part rest = {text, text + len};
	while (rest.at < rest.end) {
		const bool make = kind == RECIPE_MAKE;
		const struct part line = make ? whole_line(rest) : whole_order(rest);
		char *end = line.end;
		if (make) {
			take_make_line(line);
		} else {
			char *word = skip(line, " \t");
			const struct part run = {word, line.end};
			if (run.end - run.at > 3 && strncasecmp(run.at, "run", 3) == 0 &&
			    isspace((unsigned char)run.at[3]))
				end = take_run(run, rest.end);
			else
				blank(line.at, line.end);
		}
		rest.at = end + (end < rest.end);
	}
}
