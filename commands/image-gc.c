/* pinfold image gc. */
#include "commands/image.h"

#include "commands/commands.h"
#include "spec/writer.h"

#include <stdio.h>
#include <stdlib.h>

static int print_json(const struct gc_report *r, struct err *e)
{
	struct json_writer w;
	json_open(&w, true);
	json_begin(&w, NULL, '{');
	json_number(&w, "trees", r->trees);
	json_number(&w, "trees_in_use", r->held);
	json_number(&w, "blobs", r->blobs);
	json_number(&w, "blob_bytes", (int64_t)r->blob_bytes);
	json_number(&w, "partials", r->partials);
	json_number(&w, "work", r->work);
	json_bool(&w, "busy", r->busy);
	json_number(&w, "unknown", r->debris.count);
	json_end(&w, '{');
	return image_print(json_finish(&w, true), e);
}

static void print_report(const struct gc_report *r)
{
	char size[32];
	printf("removed: trees %u, blobs %u (%s), partial downloads %u, abandoned work %u\n",
	       r->trees, r->blobs, image_size(r->blob_bytes, size), r->partials, r->work);
	if (r->held)
		printf("trees that a run holds: %u\n", r->held);
	if (r->busy)
		complain("another pinfold image is at work: trees and blobs were left alone");
}

int image_gc(struct image_call *c, struct err *e)
{
	bool json = false;
	struct gc_report r = {.debris.tell = image_warn};
	const struct verb_option rows[] = {{"json", NULL, &json, "as one JSON document"}, {NULL}};
	const int done = image_options(c, rows, (struct word_count){0, 0}, e);
	if (done != 0)
		return done < 0 ? -1 : 0;
	if (store_gc(&c->store, &r, e) < 0)
		return -1;
	if (r.debris.name)
		complain("what a damaged name keeps is not known: trees and blobs were left alone");
	if (!json)
		print_report(&r);
	else if (print_json(&r, e) < 0)
		return -1;
	return r.debris.count > 0;
}
