#include "report/preview.h"

#include "base/fd.h"
#include "transfer/check.h"
#include "transfer/hash.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define WITHIN (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV)

/* As store_name() makes them: one component, and nothing that a path could use. */
static bool is_stored_name(struct bytes name)
{
	static const char allowed[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "_%+.~-";
	if (!name.at || name.len == 0 || name.len > 255 || name.at[0] == '.' || name.at[0] == '-')
		return false;
	return strlen(name.at) == name.len && strspn(name.at, allowed) == name.len;
}

/* A sentence on what is in the way, or NULL and the file, of the size that the result tells. */
static const char *open_kept(int folder, const struct artifact_told *row, int *fd)
{
	struct stat st;
	if (!is_stored_name(row->file))
		return "its name is none that Pinfold gives";
	autoclose int file = fd_openat2(folder, row->file.at,
					O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0, WITHIN);
	if (file < 0)
		return "it cannot be opened in the folder of --artifacts-dir";
	if (fstat(file, &st) < 0 || !S_ISREG(st.st_mode))
		return "what is in its place is no regular file";
	if (st.st_size != row->size)
		return "what is in its place has another size";
	*fd = fd_take(&file);
	return NULL;
}

/* Nobody else's writes are awaited: a file that shrinks while it is read has another digest. */
static bool read_all(int fd, char *to, size_t len)
{
	for (size_t at = 0; at < len;) {
		const ssize_t n = pread(fd, to + at, len - at, (off_t)at);
		if (n <= 0)
			return false;
		at += (size_t)n;
	}
	return true;
}

static uint32_t be32(const char *p)
{
	const unsigned char *u = (const unsigned char *)p;
	return (uint32_t)u[0] << 24 | (uint32_t)u[1] << 16 | (uint32_t)u[2] << 8 | u[3];
}

/* A chunk of an animated one (APNG), which plays for as long as it says. The structure has been checked. */
static bool is_animated(struct bytes all)
{
	enum { SIGNATURE = 8, CHUNK = 12 };
	for (size_t at = SIGNATURE; at + CHUNK <= all.len;) {
		if (memcmp(all.at + at + 4, "acTL", 4) == 0)
			return true;
		at += CHUNK + (size_t)be32(all.at + at);
	}
	return false;
}

static const char *show_image(struct preview *p, struct bytes all, struct preview_budget *b)
{
	enum { WIDTH_AT = 16, HEIGHT_AT = 20 }; /* in IHDR, which is the first */
	const struct checked c = {(const unsigned char *)all.at, all.len};
	struct err e = ERR_INIT;
	if (!b->pictures)
		return "images are not shown (--no-images)";
	if (all.len > PREVIEW_IMAGE_BYTES)
		return "it is larger than 1 MiB";
	if (check_png(&c, &e) < 0)
		return "it is no well-formed PNG";
	const size_t width = be32(all.at + WIDTH_AT), height = be32(all.at + HEIGHT_AT);
	if (width > PREVIEW_SIDE_MAX || height > PREVIEW_SIDE_MAX)
		return "it has more than 4096 pixels on a side";
	if (is_animated(all))
		return "it moves";
	if (b->images == PREVIEW_IMAGES_MAX || width * height > b->pixels)
		return "there are enough images on this page";
	b->images++;
	b->pixels -= width * height;
	*p = (struct preview){.kind = PREVIEW_IMAGE,
			      .data = {memcpy(arena_alloc(b->arena, all.len), all.at, all.len),
				       all.len}};
	return NULL;
}

static const char *show_text(struct preview *p, struct bytes all, struct preview_budget *b)
{
	const size_t len = all.len < PREVIEW_TEXT_BYTES ? all.len : PREVIEW_TEXT_BYTES;
	if (memchr(all.at, '\0', len))
		return "it is no text";
	if (b->texts == PREVIEW_TEXTS_MAX)
		return "there are enough previews on this page";
	b->texts++;
	*p = (struct preview){.kind = PREVIEW_TEXT,
			      .data = {arena_strndup(b->arena, all.at, len), len},
			      .cut = all.len > len};
	return NULL;
}

/* Its bytes are the ones that were kept, or they are not shown. */
static const char *show_bytes(struct artifact_told *row, struct bytes all, struct preview_budget *b)
{
	char digest[65];
	struct hash h;
	hash_begin(&h, false);
	hash_add(&h, all.at, all.len);
	hash_end(&h, digest);
	if (!bytes_are(row->sha256, digest))
		return "what is in its place has another digest: it was changed since";
	if (all.len == 0)
		return NULL;
	return all.len > 8 && memcmp(all.at, "\x89PNG", 4) == 0 ? show_image(&row->preview, all, b)
								: show_text(&row->preview, all, b);
}

static const char *preview_one(struct artifact_told *row, int folder, struct preview_budget *b)
{
	int opened = -1;
	const char *why = open_kept(folder, row, &opened);
	autoclose int fd = opened;
	if (why)
		return why;
	const size_t len = (size_t)row->size;
	if (len > PREVIEW_FILE_MAX || len > b->bytes)
		return "it is too large to be looked at";
	b->bytes -= len;
	void *room = mmap(NULL, len + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (room == MAP_FAILED)
		return "there is no memory for it";
	why = read_all(fd, room, len) ? show_bytes(row, (struct bytes){room, len}, b)
				      : "it cannot be read";
	munmap(room, len + 1);
	return why;
}

void preview_begin(struct preview_budget *b, bool images, struct arena *a)
{
	*b = (struct preview_budget){.bytes = PREVIEW_SUM_MAX,
				     .pixels = PREVIEW_PIXELS_SUM_MAX,
				     .pictures = images,
				     .arena = a};
}

void preview_artifacts(struct run_told *run, int folder, struct preview_budget *b)
{
	for (size_t i = 0; i < run->artifacts_len; i++) {
		struct artifact_told *row = &run->artifacts[i];
		if (bytes_are(row->type, "tree"))
			row->preview.why_not = "it is a tree of files";
		else if (row->file.at && row->size != NUM_UNKNOWN)
			row->preview.why_not = preview_one(row, folder, b);
	}
}

void preview_stages(struct report *report, int folder, struct preview_budget *b)
{
	for (size_t i = 0; i < report->stages_len; i++) {
		struct stage_told *s = &report->stages[i];
		if (!s->has_run || s->run.artifacts_len == 0 || !is_stored_name(s->folder))
			continue;
		autoclose int own = fd_openat2(folder, s->folder.at,
					       O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0, WITHIN);
		preview_artifacts(&s->run, own, b);
	}
}
