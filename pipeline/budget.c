#include "pipeline/budget.h"

#include "base/fd.h"
#include "spec/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	LOCK_STEP = 0, /* the byte of FILE.lock that every step is made under; entries follow */
	LOCK_PATIENCE = 10000, /* tries, 2 ms apart: a step takes as long as two flushes */
};

static struct flock lock_of(uint32_t byte, short type)
{
	return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
}

/* ---- the files ---- */

/* Nobody else may be able to put another file in its place: theirs would be refused, but ours would be gone. */
static int check_folder(int folder, const char *path, struct err *e)
{
	struct stat st;
	if (fstat(folder, &st) < 0)
		return err_sys(e, "budget: stat the folder of %s", path);
	if ((st.st_uid != geteuid() && st.st_uid != 0) ||
	    ((st.st_mode & 022) && !(st.st_mode & S_ISVTX)))
		return err_usage(e,
				 "budget: the folder of %s may be changed by others; put it into one of your own",
				 path);
	return 0;
}

static int open_folder(const char *path, char name[NAME_MAX + 1], struct err *e)
{
	char folder[PATH_MAX];
	if (strlen(path) >= sizeof(folder))
		return err_usage(e, "budget: the path is too long");
	const char *base = fd_split(path, folder);
	/* Room for what is put around it: ".NAME.new", "NAME.lock". */
	if (!*base || strlen(base) > NAME_MAX - 8 || strcmp(base, ".") == 0 || strcmp(base, "..") == 0)
		return err_usage(e, "budget: %s is no name of a file", show(path).text);
	autoclose int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, "budget: open the folder %s", folder);
	if (check_folder(fd, path, e) < 0)
		return -1;
	snprintf(name, NAME_MAX + 1, "%s", base);
	return fd_take(&fd);
}

/* of_lock: it is to be there still. The budget itself may be replaced by a step between its being
 * opened and this: then it has no name any more, and is what it was before that step. */
static int check_file(int fd, const char *name, bool of_lock, struct err *e)
{
	struct stat st;
	if (fstat(fd, &st) < 0)
		return err_sys(e, "budget: stat %s", name);
	if (!S_ISREG(st.st_mode))
		return err_usage(e, "budget: %s is no regular file", name);
	if (st.st_uid != geteuid() || (st.st_mode & 077))
		return err_usage(e,
				 "budget: %s must be this user's own and closed to others (chmod 0600)",
				 name);
	if (st.st_nlink == 0 && of_lock)
		return err_usage(e, "budget: %s was removed", name);
	if (st.st_nlink > 1)
		return err_usage(e, "budget: %s has another name besides (a hard link)", name);
	return 0;
}

static int open_file(int folder, const char *name, int flags, struct err *e)
{
	autoclose int fd = openat(folder, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (fd < 0 && errno == ELOOP)
		return err_usage(e, "budget: %s is a link", name);
	if (fd < 0)
		return err_sys(e, "budget: open %s", name);
	return check_file(fd, name, flags & O_CREAT, e) < 0 ? -1 : fd_take(&fd);
}

/* The whole of it; malloc'ed. */
static char *read_bytes(int fd, const char *name, size_t *len, struct err *e)
{
	const size_t size = BUDGET_BYTES_MAX + 1;
	char *bytes = malloc(size);
	ssize_t n = 1;
	if (!bytes) {
		err_host(e, "budget: out of memory");
		return NULL;
	}
	for (*len = 0; n > 0 && *len < size; *len += n > 0 ? (size_t)n : 0)
		n = TEMP_FAILURE_RETRY(read(fd, bytes + *len, size - *len));
	if (n < 0) {
		err_sys(e, "budget: read %s", name);
		free(bytes);
		return NULL;
	}
	return bytes;
}

static int read_state(const struct budget *b, struct budget_state *s, struct err *e)
{
	size_t len;
	autoclose int fd = open_file(b->folder, b->name, O_RDONLY, e);
	if (fd < 0)
		return -1;
	char *bytes = read_bytes(fd, b->name, &len, e);
	if (!bytes)
		return -1;
	const int parsed = budget_parse(s, b->name, bytes, len, e);
	free(bytes);
	return parsed;
}

static int write_new(int folder, const char *name, const struct budget_state *s, struct err *e)
{
	char *text = budget_format(s);
	if (!text)
		return err_host(e, "budget: out of memory");
	/* One that was killed here left it behind; nobody else is at work, as the lock is ours. */
	unlinkat(folder, name, 0);
	autoclose int fd = openat(folder, name,
				  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	const bool done = fd >= 0 && fchmod(fd, 0600) == 0 &&
			  fd_write_all(fd, text, strlen(text)) == 0 && fsync(fd) == 0;
	free(text);
	if (done)
		return 0;
	err_sys(e, "budget: write %s", name);
	if (fd >= 0)
		unlinkat(folder, name, 0);
	return -1;
}

/* It becomes the state, and stays it when the power goes. */
static int replace(int folder, const char *name, const struct budget_state *s, unsigned flags,
		   struct err *e)
{
	char fresh[NAME_MAX + 1];
	/* open_folder() has seen that there is room. */
	snprintf(fresh, sizeof(fresh), ".%.240s.new", name);
	if (write_new(folder, fresh, s, e) < 0)
		return -1;
	if (renameat2(folder, fresh, folder, name, flags) < 0) {
		if (errno == EEXIST)
			err_usage(e, "budget: %s is there already", name);
		else
			err_sys(e, "budget: rename %s", name);
		unlinkat(folder, fresh, 0);
		return -1;
	}
	return fsync(folder) < 0 ? err_sys(e, "budget: flush the folder of %s", name) : 0;
}

/* ---- locks ---- */

static int open_lock(int folder, const char *name, struct err *e)
{
	char lock[NAME_MAX + 1];
	snprintf(lock, sizeof(lock), "%.245s.lock", name);
	return open_file(folder, lock, O_RDWR | O_CREAT, e);
}

static int begin_step(const struct budget *b, struct err *e)
{
	const struct timespec pause = {.tv_nsec = 2000000};
	for (int tries = 0; tries < LOCK_PATIENCE; tries++) {
		struct flock lock = lock_of(LOCK_STEP, F_WRLCK);
		if (fcntl(b->lock, F_OFD_SETLK, &lock) == 0)
			return 0;
		if (errno != EAGAIN && errno != EACCES && errno != EINTR)
			return err_sys(e, "budget: lock %s.lock", b->name);
		nanosleep(&pause, NULL);
	}
	return err_host(e, "budget: another process has been at %s for very long", b->name);
}

static void end_step(const struct budget *b)
{
	struct flock lock = lock_of(LOCK_STEP, F_UNLCK);
	fcntl(b->lock, F_OFD_SETLK, &lock);
}

/* Whether another has the lock of that entry; our own shows as nobody's. */
static bool is_held(const struct budget *b, uint32_t entry)
{
	struct flock lock = lock_of(entry, F_WRLCK);
	return fcntl(b->lock, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static int take_entry(struct budget *b, const struct budget_state *s, struct err *e)
{
	for (uint32_t entry = 1; entry <= BUDGET_HOLDS_MAX; entry++) {
		struct flock lock = lock_of(entry, F_WRLCK);
		size_t i = 0;
		while (i < s->holds_len && s->holds[i].entry != entry)
			i++;
		if (i < s->holds_len || fcntl(b->lock, F_OFD_SETLK, &lock) < 0)
			continue;
		b->entry = entry;
		return 0;
	}
	return err_host(e, "budget: %d reservations are held of %s already", BUDGET_HOLDS_MAX,
			b->name);
}

static void drop_entry(struct budget *b)
{
	struct flock lock = lock_of(b->entry, F_UNLCK);
	fcntl(b->lock, F_OFD_SETLK, &lock);
	b->entry = 0;
	b->id = 0;
}

/* ---- steps, under the lock ---- */

static int spend(struct budget_state *s, const struct budget_amount *a, const char *name,
		 struct err *e)
{
	struct budget_amount sum = s->spent;
	for (int q = 0; q < BUDGET_QUANTITIES; q++)
		if (__builtin_add_overflow(sum.of[q], a->of[q], &sum.of[q]) || sum.of[q] > BUDGET_MOST)
			return err_host(e, "budget: %s of %s is more than can be counted",
					budget_quantity_names[q], name);
	s->spent = sum;
	return 0;
}

static void remove_hold(struct budget_state *s, size_t i)
{
	s->holds[i] = s->holds[--s->holds_len];
}

/* What dead holders reserved is spent. */
static int sweep(const struct budget *b, struct budget_state *s, struct err *e)
{
	for (size_t i = 0; i < s->holds_len;) {
		const struct budget_hold *hold = &s->holds[i];
		if (hold->id == b->id || is_held(b, hold->entry)) {
			i++;
			continue;
		}
		if (spend(s, &hold->amount, b->name, e) < 0)
			return -1;
		s->abandoned += s->abandoned < BUDGET_MOST;
		remove_hold(s, i);
	}
	return 0;
}

/* Whether upper fits: 1, or 0 and *why. What is not known is made 0 where nothing limits it. */
static int fits(const struct budget_state *s, struct budget_amount *upper, struct budget_refusal *why)
{
	for (int q = 0; q < BUDGET_QUANTITIES; q++) {
		const uint64_t used = budget_used(s, (enum budget_quantity)q), limit = s->limit[q];
		const uint64_t asked = upper->of[q];
		if (limit != BUDGET_NONE && (asked > limit || used > limit - asked)) {
			*why = (struct budget_refusal){(enum budget_quantity)q, asked, used, limit};
			return 0;
		}
		if (asked > BUDGET_MOST)
			upper->of[q] = 0;
	}
	return 1;
}

static uint64_t random_id(void)
{
	uint64_t id = 0;
	while (id == 0)
		if (getrandom(&id, sizeof(id), 0) != sizeof(id))
			id = 0;
	return id;
}

static int reserve(struct budget *b, const struct budget_amount *upper, struct budget_refusal *why,
		   struct err *e)
{
	struct budget_state s;
	struct budget_amount amount = *upper;
	if (read_state(b, &s, e) < 0 || sweep(b, &s, e) < 0)
		return -1;
	amount.of[BUDGET_MONEY] = budget_money(&s, &amount);
	if (!fits(&s, &amount, why))
		return 0;
	if (s.holds_len == BUDGET_HOLDS_MAX)
		return err_host(e, "budget: %d reservations are held of %s already",
				BUDGET_HOLDS_MAX, b->name);
	/* The lock is there before anybody can read of it. */
	if (take_entry(b, &s, e) < 0)
		return -1;
	b->id = random_id();
	b->reserved = amount;
	s.holds[s.holds_len++] = (struct budget_hold){.id = b->id,
						      .entry = b->entry,
						      .pid = getpid(),
						      .since = (uint64_t)time(NULL),
						      .amount = amount};
	if (replace(b->folder, b->name, &s, 0, e) < 0)
		return -1;
	return 1;
}

int budget_reserve(struct budget *b, const struct budget_amount *upper, struct budget_refusal *why,
		   struct err *e)
{
	if (b->id)
		return err_bug(e, "budget: there is a reservation already");
	if (begin_step(b, e) < 0)
		return -1;
	const int reserved = reserve(b, upper, why, e);
	/* Where the rename was not flushed, it may be on the disk: whoever comes next sees that nobody holds it. */
	if (reserved < 0 && b->entry)
		drop_entry(b);
	end_step(b);
	return reserved;
}

static struct budget_amount settled_amount(const struct budget_state *s,
					   const struct budget_amount *reserved,
					   const struct budget_amount *measured)
{
	struct budget_amount a = *measured;
	for (int q = 0; q < BUDGET_MONEY; q++)
		if (a.of[q] > BUDGET_MOST)
			a.of[q] = reserved->of[q];
	a.of[BUDGET_MONEY] = budget_money(s, &a);
	if (a.of[BUDGET_MONEY] > BUDGET_MOST)
		a.of[BUDGET_MONEY] = reserved->of[BUDGET_MONEY];
	return a;
}

static int settle(struct budget *b, const struct budget_amount *measured, struct err *e)
{
	struct budget_state s;
	if (read_state(b, &s, e) < 0 || sweep(b, &s, e) < 0)
		return -1;
	size_t i = 0;
	while (i < s.holds_len && s.holds[i].id != b->id)
		i++;
	/* It is not there where somebody put an older file: what was taken was taken all the same. */
	const struct budget_amount a = settled_amount(&s, &b->reserved, measured);
	if (spend(&s, &a, b->name, e) < 0)
		return -1;
	s.settled += s.settled < BUDGET_MOST;
	if (i < s.holds_len)
		remove_hold(&s, i);
	return replace(b->folder, b->name, &s, 0, e);
}

int budget_settle(struct budget *b, const struct budget_amount *measured, struct err *e)
{
	if (!b->id)
		return err_bug(e, "budget: there is no reservation");
	if (begin_step(b, e) < 0)
		return -1;
	const int settled = settle(b, measured, e);
	if (settled == 0)
		drop_entry(b);
	end_step(b);
	return settled;
}

int budget_look(struct budget *b, struct budget_state *to, struct err *e)
{
	struct budget_state s;
	if (begin_step(b, e) < 0)
		return -1;
	const int read = read_state(b, &s, e) < 0 ? -1 : sweep(b, &s, e);
	end_step(b);
	if (read == 0)
		*to = s;
	return read;
}

/* ---- open and close ---- */

int budget_create(const char *path, const uint64_t limit[BUDGET_QUANTITIES],
		  const uint64_t price[BUDGET_PRICES], struct err *e)
{
	autobudget b = BUDGET_INIT;
	struct budget_state s = {0};
	b.folder = open_folder(path, b.name, e);
	if (b.folder < 0)
		return -1;
	b.lock = open_lock(b.folder, b.name, e);
	if (b.lock < 0)
		return -1;
	memcpy(s.limit, limit, sizeof(s.limit));
	memcpy(s.price, price, sizeof(s.price));
	if (begin_step(&b, e) < 0)
		return -1;
	return replace(b.folder, b.name, &s, RENAME_NOREPLACE, e);
}

int budget_open(struct budget *b, const char *path, struct err *e)
{
	autobudget fresh = BUDGET_INIT;
	struct budget_state s;
	fresh.folder = open_folder(path, fresh.name, e);
	/* A file that is none is said to be so before a lock is made beside it. */
	if (fresh.folder < 0 || read_state(&fresh, &s, e) < 0)
		return -1;
	fresh.lock = open_lock(fresh.folder, fresh.name, e);
	if (fresh.lock < 0)
		return -1;
	*b = fresh;
	fresh = (struct budget)BUDGET_INIT;
	return 0;
}

void budget_close(struct budget *b)
{
	/* Every lock of this description goes with it. */
	fd_close(&b->lock);
	fd_close(&b->folder);
	*b = (struct budget)BUDGET_INIT;
}
