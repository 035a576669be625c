/* What belongs to an entry besides its bytes, what of it may be had, and how it gets into the journal. */
#include "rootfs/image/unpack.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#define USER_PREFIX "user."
/* What overlayfs, mounted with userxattr, would take for its own. */
#define OVERLAY_PREFIX "user.overlay."

enum {
	XATTR_LIST_BYTES = 4 * RECORD_XATTR_BYTES,
	MODES = 01777,
	SETID = 06000,
	IMPLIED_MODE = 0755,
	RECORD_FREE = 16 << 20,
};

static bool starts(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* ---- out of the archive ---- */

static uint32_t id_of(int64_t id, bool *squashed)
{
	if (id >= 0 && id < UINT32_MAX) /* the last is "no change" to chown */
		return (uint32_t)id;
	*squashed = true;
	return RECORD_NOBODY;
}

static void read_owner(struct unpack *u, struct archive_entry *entry)
{
	bool squashed = false;
	struct record_entry *r = &u->now;
	r->uid = id_of(archive_entry_uid(entry), &squashed);
	r->gid = id_of(archive_entry_gid(entry), &squashed);
	if (u->o.owners.kept)
		squashed |= r->uid >= u->o.owners.ids || r->gid >= u->o.owners.ids;
	u->report.owners_squashed += squashed;
}

/* What every file system of today can hold. */
static void read_time(struct record_entry *r, struct archive_entry *entry)
{
	const int64_t seconds = archive_entry_mtime_is_set(entry) ? archive_entry_mtime(entry) : 0;
	const long nsec = archive_entry_mtime_is_set(entry) ? archive_entry_mtime_nsec(entry) : 0;
	r->mtime = seconds < 0 ? 0 : seconds > UINT32_MAX ? UINT32_MAX : seconds;
	r->mtime_nsec = r->mtime == seconds && nsec > 0 && nsec < 1000000000 ? (uint32_t)nsec : 0;
}

static void read_xattrs(struct unpack *u, struct archive_entry *entry)
{
	struct record_entry *r = &u->now;
	const bool may_have = r->type == 'f' || r->type == 'd';
	const char *name;
	const void *value;
	size_t len, sum = 0;
	r->xattrs_len = 0;
	archive_entry_xattr_reset(entry);
	while (archive_entry_xattr_next(entry, &name, &value, &len) == ARCHIVE_OK) {
		if (len == 0 || !name) /* in the pax format that takes a keyword away */
			continue;
		const size_t more = name ? strlen(name) + len : len;
		if (!may_have || !starts(name, USER_PREFIX) || starts(name, OVERLAY_PREFIX) ||
		    strlen(name) > NAME_BYTES || r->xattrs_len == RECORD_XATTRS ||
		    sum + more > RECORD_XATTR_BYTES) {
			u->report.xattrs_dropped++;
			continue;
		}
		sum += more;
		r->xattrs[r->xattrs_len++] =
			(struct record_xattr){.name = name, .value = value, .value_len = len};
	}
	u->report.xattrs_dropped += archive_entry_acl_types(entry) != 0;
}

void entry_metadata(struct unpack *u, struct archive_entry *entry, char type)
{
	struct record_entry *r = &u->now;
	const mode_t mode = archive_entry_perm(entry);
	r->type = type;
	r->mode = type == 'l' ? 0777 : mode & MODES;
	r->size = 0;
	r->target = NULL;
	r->holes = false;
	u->report.setid_dropped += type != 'l' && (mode & SETID) != 0;
	read_owner(u, entry);
	read_time(r, entry);
	read_xattrs(u, entry);
}

/* ---- onto the disk ---- */

int apply_xattrs(struct unpack *u, int fd, struct err *e)
{
	char said[SHOWN_BYTES];
	for (size_t i = 0; i < u->now.xattrs_len; i++) {
		struct record_xattr *x = &u->now.xattrs[i];
		if (charge_bytes(u, strlen(x->name) + x->value_len, e) < 0)
			return -1;
		x->kept = fsetxattr(fd, x->name, x->value, x->value_len, 0) == 0;
		/* None at all, none of this size, no more of them. */
		if (!x->kept && errno != EOPNOTSUPP && errno != ENOSPC && errno != E2BIG &&
		    errno != ERANGE && errno != EPERM)
			return err_sys(e, "set the attribute %s", path_shown(said, x->name));
		u->report.xattrs_unkept += !x->kept;
	}
	return 0;
}

int clear_xattrs(int fd)
{
	char names[XATTR_LIST_BYTES];
	const ssize_t len = flistxattr(fd, names, sizeof(names));
	if (len < 0)
		return errno == EOPNOTSUPP ? 0 : -1;
	for (ssize_t at = 0; at < len; at += (ssize_t)strlen(names + at) + 1) {
		if (starts(names + at, USER_PREFIX) && fremovexattr(fd, names + at) < 0)
			return -1;
	}
	return 0;
}

bool disk_owner(const struct unpack *u, const struct record_entry *r, uid_t *uid, gid_t *gid)
{
	if (!u->o.owners.kept)
		return false;
	*uid = record_disk_id(&u->o.owners, r->uid);
	*gid = record_disk_id(&u->o.owners, r->gid);
	return *uid != u->made_uid || *gid != u->made_gid;
}

void disk_times(const struct record_entry *r, struct timespec times[2])
{
	times[0] = times[1] = (struct timespec){.tv_sec = r->mtime, .tv_nsec = r->mtime_nsec};
}

/* ---- limits and journal ---- */

static int refuse_size(const struct unpack *u, struct err *e)
{
	return err_usage(e, "the image is larger than %" PRIu64 " bytes (limit bytes)",
			 u->o.limits.bytes);
}

/* What the image itself may have: names and attributes count as well where they are many. */
static uint64_t room(const struct unpack *u)
{
	const uint64_t max = u->o.limits.bytes;
	const uint64_t beside = u->record_bytes > RECORD_FREE ? u->record_bytes - RECORD_FREE : 0;
	return beside < max ? max - beside : 0;
}

int charge_bytes(struct unpack *u, uint64_t bytes, struct err *e)
{
	const uint64_t most = room(u);
	if (bytes > most || u->report.bytes > most - bytes)
		return refuse_size(u, e);
	u->report.bytes += bytes;
	return 0;
}

int charge_record(struct unpack *u, uint64_t bytes, struct err *e)
{
	u->record_bytes += bytes;
	return u->report.bytes > room(u) ? refuse_size(u, e) : 0;
}

int charge_entry(struct unpack *u, struct err *e)
{
	if (u->report.entries >= u->o.limits.entries) {
		return err_usage(e, "the image has more than %" PRIu64 " entries (limit entries)",
				 u->o.limits.entries);
	}
	u->report.entries++;
	return 0;
}

static int journal(struct unpack *u, enum journal_op op, const struct path *path, size_t fields_len,
		   struct err *e)
{
	struct journal_item item = {.op = op,
				    .path = path->text,
				    .path_len = path->len,
				    .rest = u->fields,
				    .rest_len = fields_len};
	return charge_record(u, path->len + fields_len, e) < 0 ? -1
							       : journal_add(&u->journal, &item, e);
}

int journal_now(struct unpack *u, const struct path *path, struct err *e)
{
	const size_t len = record_fields(u->fields, &u->now);
	if (journal(u, JOURNAL_ENTRY, path, len, e) < 0)
		return -1;
	return touched_set(u, path, TOUCHED, e);
}

int journal_implied(struct unpack *u, const struct path *path, struct err *e)
{
	const struct record_entry folder = {.type = 'd', .mode = IMPLIED_MODE};
	const size_t len = record_fields(u->fields, &folder);
	return charge_entry(u, e) < 0 ? -1 : journal(u, JOURNAL_ENTRY, path, len, e);
}

int journal_gone(struct unpack *u, const struct path *path, struct err *e)
{
	return journal(u, JOURNAL_GONE, path, 0, e);
}
