/* pinfold image tag. */
#include "commands/image.h"

#include <string.h>

int image_tag(struct image_call *c, struct err *e)
{
	struct stored_name n;
	const struct verb_option rows[] = {{NULL}};
	const int done = image_options(c, rows, (struct word_count){2, 2}, e);
	if (done != 0)
		return done < 0 ? -1 : 0;
	if (store_share(&c->store, e) < 0)
		return -1;
	if (image_find(c, c->argv[0], &n, e) < 0)
		return -1;
	n.name = image_whole_name(c, c->argv[1], e);
	if (!n.name)
		return -1;
	if (strchr(n.name, '@'))
		return err_usage(e, "a digest is no name to give");
	return store_put_name(&c->store, &n, e);
}
