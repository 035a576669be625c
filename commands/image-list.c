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

static void print_rows(const struct stored_list *list)
{
	if (list->len > 0)
		printf("%-12s  %9s  %-16s  %s\n", "ID", "SIZE", "STORED (UTC)", "NAME");
	for (size_t i = 0; i < list->len; i++)
		print_row(&list->names[i]);
}

static void print_names(const struct stored_list *list)
{
	for (size_t i = 0; i < list->len; i++) {
		print_text(list->names[i].name);
		printf("\n");
	}
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
	return image_print(json_finish(&w, true), e);
}

int image_list(struct image_call *c, struct err *e)
{
	bool json = false, names = false;
	const struct verb_option rows[] = {{"json", NULL, &json, "as one JSON array"},
					   {"names", NULL, &names, "names alone, one a line"},
					   {NULL}};
	const int done = image_options(c, rows, (struct word_count){0, 0}, e);
	if (done != 0)
		return done < 0 ? -1 : 0;
	if (json && names)
		return err_usage(e, "--json and --names are two forms; give one");
	struct stored_list list = {.len = 0};
	struct debris debris = {.tell = image_warn};
	if (c->store.dir >= 0 && store_list(&c->store, &list, &debris, c->arena, e) < 0)
		return -1;
	if (names)
		print_names(&list);
	else if (!json)
		print_rows(&list);
	else if (print_json(list.names, list.len, e) < 0)
		return -1;
	return debris.count > 0;
}
