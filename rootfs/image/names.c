/* The files of names/: a few lines of text, which we alone write.
 *
 *   pinfold-name 1
 *   id sha256:...
 *   manifest sha256:... SIZE MEDIA-TYPE
 *   config sha256:... SIZE MEDIA-TYPE
 *   layer sha256:... SIZE MEDIA-TYPE        (one for each, in their order)
 *   tree BYTES ENTRIES
 *   created SECONDS
 *   name NAME                               (the last: it is whatever the line holds)
 */
#include "rootfs/image/store.h"

#include "base/fd.h"
#include "rootfs/image/path.h"
#include "rootfs/stored.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_TEXT_MAX = 64 * 1024 - 1, NAMES_MAX = 65536 };

static int escape(const char *name, char escaped[STORED_NAME_BYTES], struct err *e)
{
	char said[SHOWN_BYTES];
	if (strchr(name, '\n'))
		return err_usage(e, "a name holds no newline");
	if (stored_escape(name, escaped) < 0)
		return err_usage(e, "the name %.60s is empty or too long (at most %d bytes)",
				 path_shown(said, name), STORED_NAME_BYTES - 1);
	return 0;
}

/* ---- writing ---- */

static void print_descriptor(FILE *to, const char *key, const struct descriptor *d)
{
	fprintf(to, "%s %s %" PRIu64 " %s\n", key, d->digest.text, d->size, media_type_text(d->type));
}

static char *name_text(const struct stored_name *n, size_t *len)
{
	char *text = NULL;
	FILE *to = open_memstream(&text, len);
	if (!to)
		return NULL;
	fprintf(to, "pinfold-name 1\nid %s\n", n->id.text);
	print_descriptor(to, "manifest", &n->document);
	print_descriptor(to, "config", &n->manifest.config);
	for (size_t i = 0; i < n->manifest.layers_len; i++)
		print_descriptor(to, "layer", &n->manifest.layers[i]);
	fprintf(to, "tree %" PRIu64 " %" PRIu64 "\ncreated %" PRId64 "\nname %s\n", n->bytes,
		n->entries, n->created, n->name);
	if (fclose(to) == 0)
		return text;
	free(text);
	return NULL;
}

static int write_name(const struct store *s, const struct work *w, const char *escaped,
		      const char *text, struct err *e)
{
	autoclose int fd = openat(w->dir, "name", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || fd_write_all(fd, text, strlen(text)) < 0 || fsync(fd) < 0 ||
	    renameat(w->dir, "name", s->names, escaped) < 0 || fsync(s->names) < 0)
		return err_sys(e, "image store: write names/%s", escaped);
	return 0;
}

int store_put_name(const struct store *s, const struct stored_name *n, struct err *e)
{
	char escaped[STORED_NAME_BYTES];
	autowork w = WORK_INIT;
	size_t len = 0;
	if (escape(n->name, escaped, e) < 0 || work_open(&w, s, e) < 0)
		return -1;
	char *text = name_text(n, &len);
	if (!text)
		return err_host(e, "out of memory");
	const int rc = len > NAME_TEXT_MAX ? err_usage(e, "image %s has too many layers", n->name)
					   : write_name(s, &w, escaped, text, e);
	free(text);
	return rc;
}

/* ---- reading ---- */

static int read_descriptor(struct descriptor *d, const char *text, struct err *e)
{
	char digest[80], media[128];
	if (sscanf(text, "%79s %" SCNu64 " %127s", digest, &d->size, media) != 3)
		return err_host(e, "a descriptor is damaged");
	d->type = media_type_parse(media);
	return digest_parse(&d->digest, digest, e);
}

static int read_line(struct stored_name *n, char *line, struct arena *a, struct err *e)
{
	char *value = strchr(line, ' ');
	if (!value)
		return err_host(e, "a line is damaged");
	*value++ = '\0';
	if (strcmp(line, "id") == 0)
		return digest_parse(&n->id, value, e);
	if (strcmp(line, "manifest") == 0)
		return read_descriptor(&n->document, value, e);
	if (strcmp(line, "config") == 0)
		return read_descriptor(&n->manifest.config, value, e);
	if (strcmp(line, "layer") == 0) {
		if (n->manifest.layers_len == LAYERS_MAX)
			return err_host(e, "it has too many layers");
		return read_descriptor(&n->manifest.layers[n->manifest.layers_len++], value, e);
	}
	if (strcmp(line, "tree") == 0)
		return sscanf(value, "%" SCNu64 " %" SCNu64, &n->bytes, &n->entries) == 2
			       ? 0
			       : err_host(e, "a line is damaged");
	if (strcmp(line, "created") == 0)
		n->created = strtoll(value, NULL, 10);
	else if (strcmp(line, "name") == 0)
		n->name = arena_strdup(a, value);
	return 0;
}

static size_t count_layers(const char *text)
{
	size_t len = 0;
	while ((text = strstr(text, "\nlayer "))) {
		text++;
		len++;
	}
	return len;
}

static int read_name(const struct store *s, const char *escaped, struct stored_name *n,
		     struct arena *a, struct err *e)
{
	char text[NAME_TEXT_MAX + 1], *at = NULL;
	struct stored_name made = {0};
	struct err why = ERR_INIT;
	if (stored_read_file(s->names, escaped, text, sizeof(text), &why) < 0) {
		if (why.sys == ENOENT)
			return 0;
		*e = why;
		return err_wrap(e, "names");
	}
	made.manifest.layers =
		arena_alloc(a, (count_layers(text) + 1) * sizeof(*made.manifest.layers));
	char *line = strtok_r(text, "\n", &at);
	if (!line || strcmp(line, "pinfold-name 1") != 0)
		return err_host(e, "image store: names/%s is damaged; remove that file", escaped);
	while ((line = strtok_r(NULL, "\n", &at)))
		if (read_line(&made, line, a, e) < 0)
			return err_wrap(e, "image store: names/%s", escaped);
	if (!made.name || !made.id.text[0] || !made.document.digest.text[0])
		return err_host(e, "image store: names/%s is damaged; remove that file", escaped);
	made.manifest.type = made.document.type;
	*n = made;
	return 1;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct stored_name *)a)->name, ((const struct stored_name *)b)->name);
}

/* What names/ has, as file names. */
struct escaped_names {
	const char **list;
	size_t len;
};

static int list_escaped(DIR *stream, struct escaped_names *names, struct arena *a, struct err *e)
{
	const struct dirent *entry;
	while ((entry = readdir(stream))) {
		if (entry->d_name[0] == '.')
			continue; /* no name begins so */
		if (names->len == NAMES_MAX)
			return err_host(e, "image store: more than %d names", NAMES_MAX);
		names->list[names->len++] = arena_strdup(a, entry->d_name);
	}
	return 0;
}

static int list_folder(const struct store *s, struct escaped_names *names, struct arena *a,
		       struct err *e)
{
	autoclose int fd = openat(s->names, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *stream = fd < 0 ? NULL : fdopendir(fd);
	if (!stream)
		return err_sys(e, "image store: list names");
	fd_take(&fd);
	const int rc = list_escaped(stream, names, a, e);
	closedir(stream);
	return rc;
}

void debris_add(struct debris *d, const struct err *what)
{
	d->count++;
	if (d->tell)
		d->tell(what);
}

/* Folders and the like were never names; a file that cannot be read may have been one. */
static void add_name(struct debris *d, const struct store *s, const char *escaped,
		     const struct err *why)
{
	struct stat st;
	d->name |= fstatat(s->names, escaped, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
	debris_add(d, why);
}

int store_list(const struct store *s, struct stored_list *list, struct debris *d, struct arena *a,
	       struct err *e)
{
	struct escaped_names names = {.list = arena_alloc(a, NAMES_MAX * sizeof(*names.list))};
	if (list_folder(s, &names, a, e) < 0)
		return -1;
	struct stored_name *made = arena_alloc(a, (names.len + 1) * sizeof(*made));
	size_t len = 0;
	for (size_t i = 0; i < names.len; i++) {
		struct err why = ERR_INIT;
		const int got = read_name(s, names.list[i], &made[len], a, &why);
		if (got < 0)
			add_name(d, s, names.list[i], &why);
		else
			len += (size_t)got; /* 0: it was removed meanwhile */
	}
	qsort(made, len, sizeof(*made), by_name);
	*list = (struct stored_list){made, len};
	return 0;
}

/* By an id: whichever name has it. */
static int find_by_id(const struct store *s, const char *text, struct stored_name *n,
		      struct arena *a, struct err *e)
{
	struct stored_list list;
	struct debris ignored = {0};
	if (store_list(s, &list, &ignored, a, e) < 0)
		return -1;
	for (size_t i = 0; i < list.len; i++) {
		if (strcmp(list.names[i].id.text, text) == 0) {
			*n = list.names[i];
			return 1;
		}
	}
	return 0;
}

int store_get_name(const struct store *s, const char *text, struct stored_name *n, struct arena *a,
		   struct err *e)
{
	char escaped[STORED_NAME_BYTES];
	struct digest id;
	struct err ignored = ERR_INIT;
	if (digest_parse(&id, text, &ignored) == 0)
		return find_by_id(s, text, n, a, e);
	return escape(text, escaped, e) < 0 ? -1 : read_name(s, escaped, n, a, e);
}

int store_remove_name(const struct store *s, const char *name, struct err *e)
{
	char escaped[STORED_NAME_BYTES];
	if (escape(name, escaped, e) < 0)
		return -1;
	if (unlinkat(s->names, escaped, 0) < 0)
		return err_sys(e, "image store: remove names/%s", escaped);
	return fsync(s->names) < 0 ? err_sys(e, "image store: sync names") : 0;
}
