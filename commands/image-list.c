/* pinfold image list. */
#include "commands/image.h"

#include "commands/commands.h"
#include "spec/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void print_row(const struct stored_name *n)
{
	char size[32], when[32];
	const time_t created = (time_t)n->created;
	struct tm tm;
	if (!gmtime_r(&created, &tm) || strftime(when, sizeof(when), "%Y-%m-%d %H:%M", &tm) == 0)
		when[0] = '\0';
	printf("%-12.12s  %9s  %-16s  ", digest_hex(&n->id), image_size(n->bytes, size), when);
	print_text(n->name);
	printf("\n");
}

static int print_json(const struct stored_name *list, size_t len, struct err *e)
{
	struct json_writer w;
	json_open(&w, true);
	json_begin(&w, NULL, '[');
	for (size_t i = 0; i < len; i++) {
		json_begin(&w, NULL, '{');
		json_text(&w, "name", list[i].name);
		json_text(&w, "id", list[i].id.text);
		json_text(&w, "digest", list[i].document.digest.text);
		json_number(&w, "layers", (int64_t)list[i].manifest.layers_len);
		json_number(&w, "bytes", (int64_t)list[i].bytes);
		json_number(&w, "entries", (int64_t)list[i].entries);
		json_number(&w, "created", list[i].created);
		json_end(&w, '{');
	}
	json_end(&w, '[');
	char *text = json_finish(&w, true);
	if (!text)
		return err_host(e, "out of memory");
	fputs(text, stdout);
	free(text);
	return 0;
}

int image_list(struct image_call *c, struct err *e)
{
	bool json = false, names = false;
	const struct image_option rows[] = {{"json", NULL, &json, "as one JSON array"},
					    {"names", NULL, &names, "names alone, one a line"},
					    {NULL}};
	const int done = image_options(c, rows, (struct image_words){0, 0}, e);
	if (done != 0)
		return done < 0 ? -1 : 0;
	struct stored_name *list;
	size_t len;
	if (store_list(&c->store, &list, &len, c->arena, e) < 0)
		return -1;
	if (json)
		return print_json(list, len, e);
	for (size_t i = 0; names && i < len; i++) {
		print_text(list[i].name);
		printf("\n");
	}
	if (names)
		return 0;
	if (len > 0)
		printf("%-12s  %9s  %-16s  %s\n", "ID", "SIZE", "STORED (UTC)", "NAME");
	for (size_t i = 0; i < len; i++)
		print_row(&list[i]);
	return 0;
}
