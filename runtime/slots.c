#include "runtime/slots.h"

#include "base/fd.h"
#include "spec/spec.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum entry_state { ENTRY_FREE, ENTRY_WAITING, ENTRY_HOLDING };

struct entry {
	uint64_t ticket;
	uint64_t memory;
	uint32_t state;
	uint32_t told;
};

/* Written by this user's processes alone; what it says of one counts while that one has its lock. */
struct slots_table {
	char magic[8];
	uint64_t last; /* ticket */
	struct entry entries[SLOTS_ENTRIES];
};

static const char magic[8] = "pfslots1";

/* The bytes that are locked: one for every step, then one an entry. They need not exist. */
enum { LOCK_STEP = 0, LOCK_ENTRIES = 1 };

static struct flock lock_of(off_t byte, short type)
{
	return (struct flock){.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
}

/* ---- the file ---- */

/* Ours, and nobody else's to look into or change. Root's /run/pinfold may be listed by others. */
static int check_folder(int dir, const char *base, const char *name, struct err *e)
{
	struct stat st;
	if (fstat(dir, &st) < 0)
		return err_sys(e, "slots: stat %s%s", base, name);
	const mode_t closed = geteuid() == 0 ? 022 : 077;
	if (st.st_uid != geteuid() || (st.st_mode & closed))
		return err_host(e,
				"slots: %s%s must be this user's own and closed to others (chmod 0700), as "
				"whoever may write there could hold every slot",
				base, name);
	return 0;
}

static int open_folder(const char *base, struct err *e)
{
	autoclose int top = open(base, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (top < 0)
		return err_sys(e, "slots: open %s (XDG_RUNTIME_DIR names a folder of your own)",
			       base);
	/* /run is root's, and open to read; a user's runtime folder is 0700 (XDG base directories). */
	if (geteuid() != 0 && check_folder(top, base, "", e) < 0)
		return -1;
	if (mkdirat(top, "pinfold", 0700) < 0 && errno != EEXIST)
		return err_sys(e, "slots: make %s/pinfold", base);
	autoclose int dir = openat(top, "pinfold", O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (dir < 0)
		return err_sys(e, "slots: open %s/pinfold", base);
	return check_folder(dir, base, "/pinfold", e) < 0 ? -1 : fd_take(&dir);
}

/* Disk space for all of the table: a write into a hole of a mapped file is a SIGBUS where the disk is full. */
static int make_room(int file, const struct stat *st, const char *name, struct err *e)
{
	const off_t size = sizeof(struct slots_table);
	if (st->st_size >= size && st->st_blocks * 512 >= size)
		return 0;
	if (fallocate(file, 0, 0, size) < 0)
		return err_sys(e, "slots: make room in %s", name);
	return 0;
}

static int map_table(struct lease *l, const char *name, struct err *e)
{
	struct stat st;
	if (fstat(l->file, &st) < 0)
		return err_sys(e, "slots: stat %s", name);
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid())
		return err_host(e, "slots: %s is no regular file of this user's", name);
	if (make_room(l->file, &st, name, e) < 0)
		return -1;
	void *at = mmap(NULL, sizeof(*l->table), PROT_READ | PROT_WRITE, MAP_SHARED, l->file, 0);
	if (at == MAP_FAILED)
		return err_sys(e, "slots: map %s", name);
	l->table = at;
	/* Pid 1 of the sandbox is a copy of this process, and this is none of its business. */
	if (madvise(at, sizeof(*l->table), MADV_DONTFORK) < 0)
		return err_sys(e, "slots: keep %s out of children", name);
	return 0;
}

int slots_open(struct lease *l, const char *base, const char *name, struct err *e)
{
	char file[80];
	snprintf(file, sizeof(file), "slots-%s", name);
	autoclose int dir = open_folder(base, e);
	if (dir < 0)
		return -1;
	l->file = openat(dir, file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (l->file < 0)
		return err_sys(e, "slots: open %s/pinfold/%s", base, file);
	return map_table(l, file, e);
}

int slots_try_lock(struct lease *l, struct err *e)
{
	struct flock lock = lock_of(LOCK_STEP, F_WRLCK);
	if (fcntl(l->file, F_SETLK, &lock) == 0)
		return 1;
	return errno == EAGAIN || errno == EACCES ? 0 : err_sys(e, "slots: lock");
}

void slots_unlock(struct lease *l)
{
	struct flock lock = lock_of(LOCK_STEP, F_UNLCK);
	fcntl(l->file, F_SETLK, &lock);
}

/* ---- who lives ---- */

/* The process that has the lock of an entry: its pid, 0: nobody, -1: one of another pid namespace. */
static pid_t holder_of(const struct lease *l, unsigned entry)
{
	struct flock lock = lock_of(LOCK_ENTRIES + (off_t)entry, F_WRLCK);
	if (fcntl(l->file, F_GETLK, &lock) < 0 || lock.l_type == F_UNLCK)
		return 0;
	return lock.l_pid > 0 ? lock.l_pid : -1;
}

/* The one in that entry, if it lives; else the entry is free from now on. */
static pid_t living(struct lease *l, unsigned entry)
{
	const pid_t pid = holder_of(l, entry);
	if (pid == 0)
		l->table->entries[entry].state = ENTRY_FREE;
	return pid;
}

static bool is_before(const struct lease *l, const struct entry *one)
{
	return one->state != ENTRY_FREE && one->ticket < l->ticket;
}

/* The entry with the largest number below ours; SLOTS_ENTRIES: none. Dead ones count here. */
static unsigned one_before(const struct lease *l)
{
	const struct entry *all = l->table->entries;
	unsigned best = SLOTS_ENTRIES;
	for (unsigned i = 0; i < SLOTS_ENTRIES; i++)
		if (is_before(l, &all[i]) &&
		    (best == SLOTS_ENTRIES || all[i].ticket > all[best].ticket))
			best = i;
	return best;
}

/* The entry that waits with the smallest number above that one. */
static unsigned one_behind(const struct lease *l, uint64_t ticket)
{
	const struct entry *all = l->table->entries;
	unsigned best = SLOTS_ENTRIES;
	for (unsigned i = 0; i < SLOTS_ENTRIES; i++)
		if (all[i].state == ENTRY_WAITING && all[i].ticket > ticket &&
		    (best == SLOTS_ENTRIES || all[i].ticket < all[best].ticket))
			best = i;
	return best;
}

/* ---- steps ---- */

int slots_enter(struct lease *l, const struct slots_wish *w, struct err *e)
{
	struct slots_table *t = l->table;
	if (memcmp(t->magic, magic, sizeof(magic)) != 0) {
		memset(t, 0, sizeof(*t));
		memcpy(t->magic, magic, sizeof(magic));
	}
	for (unsigned tries = 0; tries < SLOTS_ENTRIES; tries++) {
		const uint64_t ticket = ++t->last;
		const unsigned entry = (unsigned)(ticket % SLOTS_ENTRIES);
		struct flock lock = lock_of(LOCK_ENTRIES + (off_t)entry, F_WRLCK);
		if (fcntl(l->file, F_SETLK, &lock) < 0)
			continue;
		l->ticket = ticket;
		l->entry = entry;
		t->entries[entry] = (struct entry){ticket, w->memory, ENTRY_WAITING, w->told};
		return 0;
	}
	return err_host(e, "slots: %d runs hold or wait for these slots already", SLOTS_ENTRIES);
}

static int refuse_unseen(struct err *e)
{
	return err_host(e, "slots: a run of another pid namespace uses these, and its end cannot be waited for "
			   "from here; name others (--slots N:NAME)");
}

/* The end of the one in that entry is what we wait for. 0: it has ended just now. */
static int watch_end(struct lease *l, unsigned entry, struct slots_view *v, struct err *e)
{
	const pid_t pid = living(l, entry);
	if (pid == 0)
		return 0;
	if (pid < 0)
		return refuse_unseen(e);
	autoclose int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0 && errno != ESRCH)
		return err_sys(e, "slots: watch the run of pid %d", pid);
	/* Still the same: then the pid was its own when it was opened. */
	if (fd < 0 || living(l, entry) != pid)
		return 0;
	v->ends[v->ends_len++] = fd_take(&fd);
	return 1;
}

static void forget_ends(struct slots_view *v)
{
	for (size_t i = 0; i < v->ends_len; i++)
		fd_close(&v->ends[i]);
	v->ends_len = 0;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	uint64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? LIMIT_NONE : sum;
}

/* What those that hold leave, as far as it matters to us. */
struct tally {
	uint64_t count, memory;
};

/* -1 and *e; who holds is watched, as far as there is need: at most w->count of them. */
static int count_holders(struct lease *l, struct tally *t, struct slots_view *v, struct err *e)
{
	for (unsigned i = 0; i < SLOTS_ENTRIES; i++) {
		const struct entry *one = &l->table->entries[i];
		if (one->state != ENTRY_HOLDING || i == l->entry)
			continue;
		if (t->count == SLOTS_MAX)
			return err_host(e, "slots: more than %d runs hold these slots", SLOTS_MAX);
		const int watched = watch_end(l, i, v, e);
		if (watched < 0)
			return -1;
		t->count += (uint64_t)watched;
		t->memory = watched ? add(t->memory, one->memory) : t->memory;
	}
	return 0;
}

/* It is our turn. */
static int take(struct lease *l, const struct slots_wish *w, struct slots_view *v, struct err *e)
{
	struct tally t = {0};
	v->position = 1;
	if (count_holders(l, &t, v, e) < 0)
		return -1;
	if (t.count >= w->count ||
	    (w->memory_most != LIMIT_NONE && add(t.memory, w->memory) > w->memory_most))
		return 0;
	l->table->entries[l->entry].state = ENTRY_HOLDING;
	l->held = v->taken = true;
	return 0;
}

/* One that was killed counts until whoever waits for it has seen that, which is at once. */
static unsigned position_of(const struct lease *l)
{
	unsigned ahead = 0;
	for (unsigned i = 0; i < SLOTS_ENTRIES; i++)
		ahead += is_before(l, &l->table->entries[i]) &&
			 l->table->entries[i].state == ENTRY_WAITING;
	return ahead + 1;
}

static int look(struct lease *l, const struct slots_wish *w, struct slots_view *v, struct err *e)
{
	for (;;) {
		unsigned before = one_before(l);
		while (before < SLOTS_ENTRIES && living(l, before) == 0)
			before = one_before(l);
		/* Places are taken in the order of numbers: where the nearest one holds, all before it do. */
		if (before == SLOTS_ENTRIES || l->table->entries[before].state == ENTRY_HOLDING)
			return take(l, w, v, e);
		v->position = position_of(l);
		const int watched = watch_end(l, before, v, e);
		if (watched != 0)
			return watched < 0 ? -1 : 0;
	}
}

int slots_look(struct lease *l, const struct slots_wish *w, struct slots_view *v, struct err *e)
{
	v->taken = false;
	v->ends_len = 0;
	const int looked = look(l, w, v, e);
	if (looked < 0 || v->taken)
		forget_ends(v);
	return looked;
}

void slots_tell(const struct lease *l, bool curious)
{
	const struct entry *all = l->table->entries;
	unsigned next = one_behind(l, l->ticket);
	while (next < SLOTS_ENTRIES) {
		const pid_t pid = curious && !all[next].told ? 0 : holder_of(l, next);
		if (pid > 0)
			kill(pid, SIGURG);
		if (pid != 0)
			return;
		next = one_behind(l, all[next].ticket);
	}
}

void lease_close(struct lease *l)
{
	if (l->table && l->ticket) {
		/* Our own entry is ours as long as we have its lock. */
		__atomic_store_n(&l->table->entries[l->entry].state, ENTRY_FREE, __ATOMIC_RELEASE);
		slots_tell(l, false);
	}
	if (l->table)
		munmap(l->table, sizeof(*l->table));
	/* Every lock of ours on this file goes with it. */
	fd_close(&l->file);
	*l = (struct lease)LEASE_INIT;
}
