#include "transfer/unpack/unpack.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

/* A slash sorts before all else, so that what is in a folder comes right behind it. */
static int rank(char c)
{
	return c == '/' ? 1 : c == '\0' ? 0 : 2 + (unsigned char)c;
}

static int compare(const void *a, const void *b)
{
	const char *x = ((const struct unpack_folder *)a)->path;
	const char *y = ((const struct unpack_folder *)b)->path;
	while (*x && *x == *y)
		x++, y++;
	return rank(*x) - rank(*y);
}

struct unpack_folder *folders_find(const struct unpack_folders *t, const char *path)
{
	const struct unpack_folder key = {.path = (char *)(uintptr_t)path};
	void *found = tfind(&key, &t->tree, compare);
	return found ? *(struct unpack_folder **)found : NULL;
}

struct unpack_folder *folders_add(struct unpack_folders *t, const char *path)
{
	struct unpack_folder *made = calloc(1, sizeof(*made));
	if (!made)
		return NULL;
	made->path = strdup(path);
	if (made->path && tsearch(made, &t->tree, compare))
		return made;
	free(made->path);
	free(made);
	return NULL;
}

struct visitor {
	void (*visit)(const struct unpack_folder *, void *);
	void *arg;
};

static void on_node(const void *node, VISIT which, void *arg)
{
	const struct visitor *v = arg;
	if (which == postorder || which == leaf) /* its place in the order */
		v->visit(*(struct unpack_folder *const *)node, v->arg);
}

void folders_walk(const struct unpack_folders *t,
		  void (*visit)(const struct unpack_folder *, void *), void *arg)
{
	struct visitor v = {visit, arg};
	twalk_r(t->tree, on_node, &v);
}

static void free_one(void *node)
{
	struct unpack_folder *f = node;
	free(f->path);
	free(f);
}

void folders_free(struct unpack_folders *t)
{
	tdestroy(t->tree, free_one);
	t->tree = NULL;
}
