/* pinfold image remove. */
#include "commands/image.h"

#include "base/fd.h"
#include "commands/commands.h"

#include <stdio.h>
#include <string.h>

/* How many names the image has; a damaged one may be another. */
static int count_names(struct image_call *c, const struct digest *id, size_t *count, struct err *e)
{
	struct stored_list list;
	struct debris debris = {.tell = image_warn};
	if (store_list(&c->store, &list, &debris, c->arena, e) < 0)
		return -1;
	*count = debris.name;
	for (size_t i = 0; i < list.len; i++)
		*count += digest_same(&list.names[i].id, id);
	return 0;
}

/* If a run holds the tree, the name stays as well. The name goes first: a tree that no name has is
 * gc's to remove, a name without a tree would be nobody's. */
static int remove_claimed(struct image_call *c, const struct stored_name *n, struct err *e)
{
	size_t count;
	if (count_names(c, &n->id, &count, e) < 0)
		return -1;
	autoclose int lock = -1;
	if (count <= 1 && store_lock_tree(&c->store, &n->id, &lock, e) < 0)
		return -1;
	if (store_remove_name(&c->store, n->name, e) < 0)
		return -1;
	return lock < 0 ? 0 : store_remove_tree(&c->store, &n->id, e);
}

static int remove_one(struct image_call *c, const char *name, struct err *e)
{
	struct stored_name n;
	if (image_find(c, name, &n, e) < 0)
		return -1;
	int claim = store_claim(&c->store, &n.id, e);
	if (claim < 0)
		return -1;
	const int rc = remove_claimed(c, &n, e);
	store_unclaim(&c->store, &n.id, &claim);
	return rc;
}

int image_remove(struct image_call *c, struct err *e)
{
	const struct verb_option rows[] = {{NULL}};
	const int done = image_options(c, rows, (struct word_count){1, -1}, e);
	if (done != 0)
		return done < 0 ? -1 : 0;
	for (int i = 0; i < c->argc; i++)
		if (remove_one(c, c->argv[i], e) < 0)
			return -1;
	return 0;
}
