/* Archives, read with libarchive within bounds; nothing is unpacked to a disk. */
#include "pipeline/scan/reader.h"
#include "pipeline/scan/walk.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdlib.h>
#include <string.h>

/* Whether a path from the folder base/ leads above the top. */
static bool leads_out(const char *base, const char *path)
{
	int depth = 0;
	/* To some programs that parts a path as well. */
	if (strstr(path, "..\\"))
		return true;
	for (const char *c = base; (c = strchr(c, '/')); c++)
		depth++;
	return walk_leads_out(path, depth);
}

static struct archive *open_archive(const struct unit *u)
{
	struct archive *a = archive_read_new();
	if (!a)
		return NULL;
	/* Not "all": some of those start programs. */
	archive_read_support_filter_gzip(a);
	archive_read_support_filter_bzip2(a);
	archive_read_support_filter_xz(a);
	archive_read_support_filter_zstd(a);
	archive_read_support_format_tar(a);
	archive_read_support_format_zip(a);
	archive_read_support_format_7zip(a);
	archive_read_support_format_ar(a);
	archive_read_support_format_raw(a);
	/* Behind blocks of zeros, where tar(5) ends, there may be more; and zeros alone are a tar as well. */
	archive_read_set_format_option(a, "tar", "read_concatenated_archives", "1");
	if (archive_read_open_memory(a, u->text, u->len) != ARCHIVE_OK) {
		archive_read_free(a);
		return NULL;
	}
	return a;
}

/* A member as a unit of its own. */
struct member {
	const char *path, *name;
	char folder[WIRE_NAME], inner[WIRE_INNER];
	char *text;
	size_t len;
	bool cut;
};

static void name_member(struct member *m, const struct unit *u, const char *path)
{
	char whole[2 * WIRE_INNER];
	const char *slash = strrchr(path, '/');
	m->path = path;
	m->name = slash ? slash + 1 : path;
	m->folder[0] = '\0';
	if (slash) {
		const char *from = memrchr(path, '/', (size_t)(slash - path));
		from = from ? from + 1 : path;
		wire_text(m->folder, sizeof(m->folder), from, (size_t)(slash - from));
	}
	snprintf(whole, sizeof(whole), "%s!/%s", u->inner, path);
	wire_text(m->inner, sizeof(m->inner), whole, strlen(whole));
}

static void tell(struct reader *r, uint32_t rule, const struct unit *u, const struct member *m,
		 const char *detail)
{
	const struct unit member = {.name = m->name,
				    .folder = m->folder,
				    .inner = m->inner,
				    .text = "",
				    .depth = u->depth + 1};
	reader_tell(r, rule, &member, WHOLE, detail);
}

/* Up to its kind's bound; what is more is cut. -1: the archive is broken, or all bounds are used up. */
static int read_member(struct reader *r, struct archive *a, struct member *m)
{
	size_t room = 64 << 10;
	m->text = malloc(room + 1);
	while (m->text) {
		if (m->len == room) {
			if (room >= ARCHIVE_BYTES_MAX / 4)
				break;
			room *= 2;
			char *more = realloc(m->text, room + 1);
			if (!more)
				return -1;
			m->text = more;
		}
		const la_ssize_t n = archive_read_data(a, m->text + m->len, room - m->len);
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		m->len += (size_t)n;
		r->unpacked += (size_t)n;
		if (r->unpacked > UNPACKED_MAX)
			return -1;
	}
	if (!m->text)
		return -1;
	m->cut = m->len == room;
	m->text[m->len] = '\0';
	return 0;
}

static void look_inside(struct reader *r, const struct unit *u, const struct member *m)
{
	const struct kind k = kind_of(m->name, m->text, m->len < KIND_HEAD ? m->len : KIND_HEAD);
	size_t len = m->len;
	if (m->cut && k.name != KIND_OTHER && k.name != KIND_TEXT) {
		tell(r, RULE_TOO_LARGE, u, m, "");
		return;
	}
	if (k.name == KIND_ARCHIVE && u->depth + 1 > UNIT_DEPTH_MAX) {
		tell(r, RULE_ARCHIVE_BOMB, u, m, "archives in archives");
		return;
	}
	if (k.name == KIND_TEXT && len > TEXT_BYTES_MAX)
		len = TEXT_BYTES_MAX;
	const struct unit inside = {.name = m->name,
				    .folder = m->folder,
				    .inner = m->inner,
				    .text = m->text,
				    .len = len,
				    .depth = u->depth + 1};
	unit_read(r, &inside);
}

static void check_names(struct reader *r, const struct unit *u, struct archive_entry *entry,
			const struct member *m)
{
	const char *soft = archive_entry_symlink(entry), *hard = archive_entry_hardlink(entry);
	/* "/" and "//" are tables of an ar(5) archive. */
	if (m->path[strspn(m->path, "/")] && leads_out("", m->path))
		tell(r, RULE_ARCHIVE_PATH, u, m, m->path);
	if (soft && leads_out(m->path, soft))
		tell(r, RULE_ARCHIVE_LINK, u, m, soft);
	if (hard && leads_out("", hard))
		tell(r, RULE_ARCHIVE_LINK, u, m, hard);
}

/* A single file that was compressed: its name is the archive's, without the last extension. */
static bool is_raw(struct archive *a)
{
	return archive_format(a) == ARCHIVE_FORMAT_RAW;
}

static void raw_name(const struct unit *u, char to[WIRE_NAME])
{
	const char *dot = strrchr(u->name, '.');
	const size_t len = dot && dot != u->name ? (size_t)(dot - u->name) : strlen(u->name);
	wire_text(to, WIRE_NAME, u->name, len);
}

/* Data that is of no kind to be looked at is cut at its bound; what is behind it may still fill a
 * scratch. A single file is read on and counted, a member says how large it is. */
static bool too_much(struct reader *r, struct archive *a, struct archive_entry *entry)
{
	const void *block;
	size_t len;
	la_int64_t at;
	if (!is_raw(a))
		return archive_entry_size_is_set(entry) && archive_entry_size(entry) > UNPACKED_MAX;
	while (r->unpacked <= UNPACKED_MAX &&
	       archive_read_data_block(a, &block, &len, &at) == ARCHIVE_OK)
		r->unpacked += len;
	return r->unpacked > UNPACKED_MAX;
}

/* False: there is no reading on. */
static bool read_entry(struct reader *r, const struct unit *u, struct archive *a,
		       struct archive_entry *entry)
{
	char raw[WIRE_NAME];
	struct member m = {.text = NULL};
	const char *path = archive_entry_pathname(entry);
	raw_name(u, raw);
	name_member(&m, u, is_raw(a) ? raw : path ? path : "(no name)");
	check_names(r, u, entry, &m);
	if (archive_entry_filetype(entry) != AE_IFREG && !is_raw(a))
		return true;
	const int failed = read_member(r, a, &m);
	if (!failed)
		look_inside(r, u, &m);
	if (failed ? r->unpacked > UNPACKED_MAX : m.cut && too_much(r, a, entry))
		tell(r, RULE_ARCHIVE_BOMB, u, &m, "bytes");
	else if (failed)
		tell(r, RULE_ARCHIVE_BROKEN, u, &m,
		     archive_error_string(a) ? archive_error_string(a) : "");
	free(m.text);
	return r->unpacked <= UNPACKED_MAX;
}

bool archive_behind(const struct unit *u)
{
	enum { REMARK_MAX = 65535, RECORD = 22 };
	const size_t look = u->len < REMARK_MAX + RECORD ? u->len : REMARK_MAX + RECORD;
	return memmem(u->text + u->len - look, look, "PK\005\006", 4) &&
	       memmem(u->text, u->len, "PK\001\002", 4);
}

void archive_look(struct reader *r, const struct unit *u)
{
	struct archive_entry *entry;
	int got = ARCHIVE_EOF;
	struct archive *a = open_archive(u);
	if (!a) {
		reader_tell(r, RULE_ARCHIVE_BROKEN, u, WHOLE, "");
		return;
	}
	for (;;) {
		got = archive_read_next_header(a, &entry);
		if (got != ARCHIVE_OK && got != ARCHIVE_WARN)
			break;
		if (++r->members > MEMBERS_MAX) {
			reader_tell(r, RULE_ARCHIVE_BOMB, u, WHOLE, "members");
			break;
		}
		if (!read_entry(r, u, a, entry))
			break;
	}
	if (got == ARCHIVE_EOF && r->unpacked <= UNPACKED_MAX &&
	    archive_filter_bytes(a, 0) > UNPACKED_MAX && !is_raw(a) && archive_filter_count(a) > 1)
		reader_tell(r, RULE_ARCHIVE_BOMB, u, WHOLE, "bytes that are in no member");
	if (got < ARCHIVE_WARN && r->members <= MEMBERS_MAX && r->unpacked <= UNPACKED_MAX)
		reader_tell(r, RULE_ARCHIVE_BROKEN, u, WHOLE,
			    archive_error_string(a) ? archive_error_string(a) : "");
	archive_read_free(a);
}
