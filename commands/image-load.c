/* pinfold image load: what lies in a file or a folder. */
#include "commands/image.h"

#include "base/fd.h"
#include "commands/commands.h"
#include "runtime/jail.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LAYOUT_BLOBS_MAX = 65536, TICK_MS = 100, COPY_BYTES = 1 << 20 };

/* ---- into blobs ---- */

struct job {
	struct take take;
	struct taken taken;
	struct progress progress;
	int *fds; /* what is read, whose offsets tell how far */
};

static void tick(void *arg)
{
	progress_tick(&((struct job *)arg)->progress);
}

static int run_child(int root, void *arg, struct err *e)
{
	return take_in(root, &((struct job *)arg)->take, e);
}

static int *all_fds(const struct image_source *from)
{
	int *fds = malloc((from->blobs_len + 1) * sizeof(*fds));
	for (size_t i = 0; fds && i < from->blobs_len; i++)
		fds[i] = from->blobs[i].fd;
	if (fds)
		fds[from->blobs_len] = from->input;
	return fds;
}

static uint64_t all_sizes(const int *fds, size_t len)
{
	uint64_t sum = 0;
	struct stat st;
	for (size_t i = 0; i < len; i++)
		sum += fstat(fds[i], &st) == 0 ? (uint64_t)st.st_size : 0;
	return sum;
}

static int take_jailed(const struct work *w, struct job *j, const struct image_source *from,
		       struct err *e)
{
	j->fds = all_fds(from);
	if (!j->fds)
		return err_host(e, "out of memory");
	const uint64_t size = all_sizes(j->fds, from->blobs_len + 1);
	progress_begin(&j->progress, from->report, "reading", from->blobs ? 0 : size);
	j->progress.fds = j->fds;
	j->progress.fds_len = from->blobs_len + 1;
	const struct jail jail = {
		.root = w->dir,
		.writable = true,
		.fds = j->fds,
		.fds_len = from->blobs_len + 1,
		.cpu_seconds = unpack_seconds(&from->limits, size),
		.run = run_child,
		.arg = j,
		.report = &j->taken,
		.report_len = sizeof(j->taken),
		.tick = tick,
		.tick_ms = TICK_MS,
	};
	return jail_run(&jail, e) < 0 ? -1 : taken_check(&j->taken, e);
}

static const struct descriptor *descriptor_at(const struct taken *t, size_t i)
{
	return i == 0 ? &t->document : i == 1 ? &t->config : &t->layers[i - 2];
}

/* One that stands in the manifest twice, which has been moved. */
static bool stands_before(const struct taken *t, size_t before, const struct descriptor *d)
{
	for (size_t i = 0; i < before; i++) {
		const struct descriptor *other = descriptor_at(t, i);
		if (digest_same(&other->digest, &d->digest) && other->size == d->size)
			return true;
	}
	return false;
}

/* Of a layout that is a folder, -1 where it has no such file. */
static int blob_of(const struct image_source *from, const struct digest *d)
{
	for (size_t i = 0; i < from->blobs_len; i++)
		if (strcmp(from->blobs[i].hex, digest_hex(d)) == 0)
			return from->blobs[i].fd;
	return -1;
}

/* What the jail wrote or chose, held against the digest that it spoke of. */
static int put_blob(struct image_call *c, int blobs, const struct image_source *from,
		    const struct descriptor *d, struct err *e)
{
	if (!from->blobs)
		return store_put_blob(&c->store, blobs, digest_hex(&d->digest), d, e);
	const int fd = blob_of(from, &d->digest);
	if (fd < 0)
		return err_bug(e, "the jail speaks of a blob that is none");
	return store_copy_blob(&c->store, blobs, fd, d, e);
}

/* The jail has counted what it wrote itself. */
static int charge(const struct image_source *from, uint64_t *sum, const struct descriptor *d,
		  struct err *e)
{
	if (!from->blobs)
		return 0;
	if (d->size > from->limits.bytes - *sum)
		return err_usage(e, "the blobs are more than the limit of %llu bytes (--limit-bytes)",
				 (unsigned long long)from->limits.bytes);
	*sum += d->size;
	return 0;
}

static int put_blobs(struct image_call *c, const struct work *w, const struct image_source *from,
		     struct job *j, struct err *e)
{
	uint64_t sum = 0;
	autoclose int blobs = openat(w->dir, "blobs",
				     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (blobs < 0)
		return err_sys(e, "open the new blobs");
	for (size_t i = 0; i < j->taken.layers_len + 2; i++) {
		const struct descriptor *d = descriptor_at(&j->taken, i);
		if (stands_before(&j->taken, i, d))
			continue;
		if (charge(from, &sum, d, e) < 0 || put_blob(c, blobs, from, d, e) < 0)
			return -1;
		tick(j);
	}
	return 0;
}

/* The image's own name, made whole by what the file is called: "latest" alone is a tag. */
static const char *choose_name(struct image_call *c, const struct image_source *from,
			       const struct taken *t)
{
	if (from->name)
		return from->name;
	if (t->name[0] && strpbrk(t->name, ":/"))
		return arena_strdup(c->arena, t->name);
	if (t->name[0] && from->fallback)
		return arena_printf(c->arena, "%s:%s", from->fallback, t->name);
	return from->fallback;
}

/* Into the store; *name is what the image is to be called. */
static int take_blobs(struct image_call *c, const struct image_source *from, struct job *j,
		      const char **name, struct err *e)
{
	autowork w = WORK_INIT;
	if (work_open(&w, &c->store, e) < 0 || take_jailed(&w, j, from, e) < 0)
		return -1;
	*name = choose_name(c, from, &j->taken);
	if (!*name)
		return err_usage(e,
				 "the image does not say what it is called; --name NAME[:TAG] does");
	return put_blobs(c, &w, from, j, e);
}

static int take_and_keep(struct image_call *c, const struct image_source *from, struct job *j,
			 struct err *e)
{
	const char *name = NULL;
	j->take = (struct take){.input = from->input,
				.blobs = from->blobs,
				.blobs_len = from->blobs_len,
				.as = from->as,
				.ref = from->ref,
				.platform = from->platform,
				.limits = from->limits,
				.taken = &j->taken};
	const int rc = take_blobs(c, from, j, &name, e);
	progress_end(&j->progress);
	free(j->fds);
	if (rc < 0)
		return -1;
	return image_keep(c,
			  &(struct image_keep){.taken = &j->taken,
					       .name = name,
					       .limits = from->limits,
					       .report = from->report},
			  e);
}

int image_take(struct image_call *c, const struct image_source *from, struct err *e)
{
	struct err ignored = ERR_INIT;
	struct job *j = calloc(1, sizeof(*j));
	if (!j)
		return err_host(e, "out of memory");
	store_sweep(&c->store, &ignored);
	int rc = store_share(&c->store, e);
	if (rc == 0)
		rc = take_and_keep(c, from, j, e);
	store_unshare(&c->store);
	free(j);
	return rc;
}

/* ---- a layout that is a folder ---- */

struct layout {
	struct take_blob *blobs;
	size_t len;
	int index;
};

static void layout_close(struct layout *l)
{
	for (size_t i = 0; i < l->len; i++)
		close(l->blobs[i].fd);
	fd_close(&l->index);
	free(l->blobs);
}
#define autolayout __attribute__((cleanup(layout_close))) struct layout

/* A regular file of the folder itself: what is in it may be hostile. */
static int open_regular(int dir, const char *name, struct err *e)
{
	struct stat st;
	autoclose int fd = fd_openat2(dir, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
				      RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(e, "open %.100s of the layout", name);
	if (!S_ISREG(st.st_mode))
		return err_usage(e, "%.100s of the layout is no file", name);
	return fd_take(&fd);
}

static int add_blob(struct layout *l, int dir, const char *hex, struct err *e)
{
	if (strlen(hex) != DIGEST_HEX || strspn(hex, "0123456789abcdef") != DIGEST_HEX)
		return 0;
	if (l->len == LAYOUT_BLOBS_MAX)
		return err_usage(e, "the layout has more than %d blobs", LAYOUT_BLOBS_MAX);
	const int fd = open_regular(dir, hex, e);
	if (fd < 0)
		return -1;
	l->blobs[l->len].fd = fd;
	memcpy(l->blobs[l->len++].hex, hex, DIGEST_HEX + 1);
	return 0;
}

static int list_blobs(struct layout *l, int folder, struct err *e)
{
	autoclose int dir = fd_openat2(folder, "blobs/sha256", O_RDONLY | O_DIRECTORY, 0,
				       RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	DIR *stream = dir < 0 ? NULL : fdopendir(dir);
	if (!stream)
		return err_sys(e, "open blobs/sha256 of the layout");
	const int fd = fd_take(&dir);
	const struct dirent *entry;
	int rc = 0;
	while (rc == 0 && (entry = readdir(stream)))
		rc = add_blob(l, fd, entry->d_name, e);
	closedir(stream);
	return rc;
}

static int load_layout(struct image_call *c, int folder, struct image_source *from, struct err *e)
{
	autolayout l = {.index = -1};
	if (from->as != TAKE_ANY && from->as != TAKE_LAYOUT)
		return err_usage(e,
				 "--as: a folder is a layout (`pinfold image import` takes a tree)");
	l.blobs = calloc(LAYOUT_BLOBS_MAX, sizeof(*l.blobs));
	if (!l.blobs)
		return err_host(e, "out of memory");
	l.index = open_regular(folder, "index.json", e);
	if (l.index < 0)
		return err_wrap(e, "no OCI layout (`pinfold image import` takes a tree)");
	if (list_blobs(&l, folder, e) < 0)
		return -1;
	from->input = l.index;
	from->blobs = l.blobs;
	from->blobs_len = l.len;
	return image_take(c, from, e);
}

/* ---- a file, or stdin ---- */

/* An archive is read twice: a pipe is kept in a file that nobody sees. */
static int spool(const struct work *w, int from, uint64_t most, struct err *e)
{
	static char block[COPY_BYTES];
	autoclose int to = openat(w->dir, "input", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	uint64_t total = 0;
	ssize_t n;
	if (to < 0 || unlinkat(w->dir, "input", 0) < 0)
		return err_sys(e, "image store: make a file for stdin");
	while ((n = read(from, block, sizeof(block))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(e, "read stdin");
		total += (uint64_t)n;
		if (total > most)
			return err_usage(e, "stdin has more than %llu bytes (--limit-bytes)",
					 (unsigned long long)most);
		if (fd_write_all(to, block, (size_t)n) < 0)
			return err_sys(e, "image store: keep stdin");
	}
	return lseek(to, 0, SEEK_SET) < 0 ? err_sys(e, "image store: keep stdin") : fd_take(&to);
}

static int load_file(struct image_call *c, int fd, struct image_source *from, struct err *e)
{
	autowork w = WORK_INIT;
	autoclose int spooled = -1;
	from->input = fd;
	if (lseek(fd, 0, SEEK_SET) < 0) {
		if (work_open(&w, &c->store, e) < 0)
			return -1;
		spooled = spool(&w, fd, from->limits.bytes, e);
		if (spooled < 0)
			return -1;
		from->input = spooled;
	}
	return image_take(c, from, e);
}

/* "debian-12.tar.xz" is called debian-12. */
static const char *name_of(struct image_call *c, const char *path)
{
	static const char *const tails[] = {".gz",  ".xz",  ".zst", ".bz2",
					    ".lz4", ".tar", ".tgz", ".oci"};
	size_t len = strlen(path);
	while (len > 1 && path[len - 1] == '/')
		len--;
	size_t begin = len;
	while (begin > 0 && path[begin - 1] != '/')
		begin--;
	char *name = arena_strndup(c->arena, path + begin, len - begin);
	for (size_t i = 0; i < sizeof(tails) / sizeof(*tails); i++) {
		const size_t tail = strlen(tails[i]), all = strlen(name);
		if (all > tail && strcmp(name + all - tail, tails[i]) == 0)
			name[all - tail] = '\0';
	}
	const bool fit = *name && name[0] != '.' && !strpbrk(name, ":@ \n");
	return fit ? name : NULL;
}

static int read_as(enum take_as *as, const char *text, struct err *e)
{
	static const char *const names[] =
		{[TAKE_TREE] = "tree", [TAKE_LAYOUT] = "layout", [TAKE_DOCKER] = "docker"};
	for (size_t i = TAKE_TREE; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(text, names[i]) == 0) {
			*as = (enum take_as)i;
			return 0;
		}
	}
	return err_usage(e, "--as is tree, layout or docker");
}

int image_load(struct image_call *c, struct err *e)
{
	const char *platform = NULL, *as = NULL;
	struct image_taking taking = {0};
	struct image_source from = {.input = -1};
	const struct verb_option rows[] = {
		{"name", &from.name, NULL,
		 "NAME[:TAG]  what it is to be called (default: what it says itself)"},
		{"ref", &from.ref, NULL, "NAME  which image, where there are several"},
		{"as", &as, NULL, "tree|layout|docker  what an archive is (default: by its members)"},
		{"platform", &platform, NULL,
		 "OS/ARCH  which one of an index (default: this machine's)"},
		IMAGE_TAKING_ROWS(taking),
		{NULL},
	};
	const int done = image_options(c, rows, (struct word_count){1, 1}, e);
	if (done != 0)
		return done < 0 ? -1 : 0;
	const char *path = c->argv[0];
	from.platform = platform_host();
	if (image_taking_read(&taking, &from.limits, &from.report, e) < 0 ||
	    (as && read_as(&from.as, as, e) < 0) ||
	    (platform && platform_parse(&from.platform, platform, c->arena, e) < 0) ||
	    (from.name && image_check_name(c, from.name, e) < 0))
		return -1;
	if (strcmp(path, "-") == 0)
		return load_file(c, STDIN_FILENO, &from, e);
	struct stat st;
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_usage(e, "open %s: %s", path, strerrordesc_np(errno));
	from.fallback = name_of(c, path);
	return S_ISDIR(st.st_mode) ? load_layout(c, fd, &from, e) : load_file(c, fd, &from, e);
}
