/* Two ways through one door: source_next() takes from a ring that one thread fills and another
 * reads along for the digest, or, where threads may not be had (a seccomp filter without clone),
 * does both itself. */
#include "rootfs/image/source.h"

#include "rootfs/image/manifest.h"
#include "rootfs/image/path.h"

#include <archive.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	READ_BYTES = 64 << 10,
	SLOTS = 4,
	SLOT_BYTES = 256 << 10,
	/* Small layers of zeros compress well and harm nobody: the ratio counts beyond this. */
	RATIO_FREE = 64 << 20,
};

struct slot {
	char bytes[SLOT_BYTES];
	size_t len;
};

struct source {
	struct archive *archive;
	int stream;
	uint32_t ratio;
	int compression; /* asked for before the thread has the archive */
	bool empty;	 /* libarchive has no data to read then, not even none */
	uint64_t in, out;
	struct hash hash;
	bool digested; /* digest is there: the end is told as often as it is asked for */
	struct digest digest;
	char raw[READ_BYTES];

	/* The ring: slots[filled % SLOTS] is being filled, slots[hashed % SLOTS] hashed, and the
	 * caller holds slots[taken % SLOTS]. */
	bool threaded, holding;
	pthread_t filler, hasher;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	size_t filled, hashed, taken;
	bool ended, stop;
	int result; /* of the filler: 0, or -1 and err */
	struct err err;
	struct slot slots[];
};

static la_ssize_t read_stream(struct archive *a, void *arg, const void **bytes)
{
	struct source *s = arg;
	ssize_t n;
	do
		n = read(s->stream, s->raw, sizeof(s->raw));
	while (n < 0 && errno == EINTR);
	if (n < 0) {
		archive_set_error(a, errno, "read: %s", strerrordesc_np(errno));
		return -1;
	}
	s->in += (uint64_t)n;
	*bytes = s->raw;
	return n;
}

static int refuse(struct source *s, struct err *e)
{
	char said[SHOWN_BYTES];
	const char *text = archive_error_string(s->archive);
	return err_usage(e, "the layer cannot be decompressed: %s",
			 path_shown(said, text ? text : "it is damaged"));
}

/* archive_read_data_block() of libarchive's raw format: a pointer into the filter's buffer. */
static ssize_t decompress(struct source *s, const void **bytes, struct err *e)
{
	size_t len = 0;
	la_int64_t offset;
	int r = ARCHIVE_EOF;
	while (!s->empty) {
		r = archive_read_data_block(s->archive, bytes, &len, &offset);
		if (r != ARCHIVE_RETRY && (len > 0 || (r != ARCHIVE_OK && r != ARCHIVE_WARN)))
			break;
	}
	if (r == ARCHIVE_EOF)
		return 0;
	if (r != ARCHIVE_OK && r != ARCHIVE_WARN)
		return refuse(s, e);
	s->out += len;
	if (s->out > RATIO_FREE && s->out / s->ratio > s->in) {
		return err_usage(e, "it decompresses to more than %u times its size (limit ratio)",
				 s->ratio);
	}
	return (ssize_t)len;
}

static void end_digest(struct source *s)
{
	if (!s->digested)
		hash_final(&s->hash, &s->digest);
	s->digested = true;
}

static ssize_t decompress_and_hash(struct source *s, const void **bytes, struct err *e)
{
	const ssize_t n = decompress(s, bytes, e);
	if (n > 0)
		hash_update(&s->hash, *bytes, (size_t)n);
	else if (n == 0)
		end_digest(s);
	return n;
}

/* ---- the threads ---- */

static bool is_full(const struct source *s)
{
	const size_t done = s->hashed < s->taken ? s->hashed : s->taken;
	return s->filled - done >= SLOTS;
}

/* The slot to fill, empty, or NULL when nobody wants more. */
static struct slot *free_slot(struct source *s)
{
	pthread_mutex_lock(&s->lock);
	while (is_full(s) && !s->stop)
		pthread_cond_wait(&s->moved, &s->lock);
	struct slot *slot = s->stop ? NULL : &s->slots[s->filled % SLOTS];
	pthread_mutex_unlock(&s->lock);
	if (slot)
		slot->len = 0;
	return slot;
}

static void hand_over(struct source *s, bool ended, int result)
{
	pthread_mutex_lock(&s->lock);
	s->filled += !ended;
	s->ended = ended;
	s->result = result;
	pthread_cond_broadcast(&s->moved);
	pthread_mutex_unlock(&s->lock);
}

/* -1 when nobody wants more. */
static int pour(struct source *s, const char *bytes, size_t len, struct slot **slot)
{
	while (len > 0) {
		if (!*slot && !(*slot = free_slot(s)))
			return -1;
		struct slot *to = *slot;
		const size_t part = len < SLOT_BYTES - to->len ? len : SLOT_BYTES - to->len;
		memcpy(to->bytes + to->len, bytes, part);
		to->len += part;
		bytes += part;
		len -= part;
		if (to->len == SLOT_BYTES) {
			hand_over(s, false, 0);
			*slot = NULL;
		}
	}
	return 0;
}

static void *fill(void *arg)
{
	struct source *s = arg;
	struct slot *slot = NULL;
	const void *bytes;
	ssize_t n;
	while ((n = decompress(s, &bytes, &s->err)) > 0) {
		if (pour(s, bytes, (size_t)n, &slot) < 0)
			return NULL;
	}
	if (slot && slot->len)
		hand_over(s, false, 0);
	hand_over(s, true, (int)n);
	return NULL;
}

/* The slot to hash, or NULL when there are no more, or nobody wants the digest. */
static const struct slot *unhashed_slot(struct source *s)
{
	pthread_mutex_lock(&s->lock);
	while (s->hashed == s->filled && !s->ended && !s->stop)
		pthread_cond_wait(&s->moved, &s->lock);
	const bool more = s->hashed != s->filled && !s->stop;
	const struct slot *slot = more ? &s->slots[s->hashed % SLOTS] : NULL;
	pthread_mutex_unlock(&s->lock);
	return slot;
}

static void *read_along(void *arg)
{
	struct source *s = arg;
	const struct slot *slot;
	while ((slot = unhashed_slot(s))) {
		hash_update(&s->hash, slot->bytes, slot->len);
		pthread_mutex_lock(&s->lock);
		s->hashed++;
		pthread_cond_broadcast(&s->moved);
		pthread_mutex_unlock(&s->lock);
	}
	return NULL;
}

static ssize_t take(struct source *s, const void **bytes, struct err *e)
{
	pthread_mutex_lock(&s->lock);
	if (s->holding) {
		s->taken++;
		s->holding = false;
		pthread_cond_broadcast(&s->moved);
	}
	/* The end is there when all of it is hashed. */
	while (s->filled == s->taken && !(s->ended && s->hashed == s->filled))
		pthread_cond_wait(&s->moved, &s->lock);
	s->holding = s->filled != s->taken;
	pthread_mutex_unlock(&s->lock);
	if (!s->holding) {
		if (s->result < 0)
			*e = s->err;
		else
			end_digest(s);
		return s->result;
	}
	const struct slot *slot = &s->slots[s->taken % SLOTS];
	*bytes = slot->bytes;
	return (ssize_t)slot->len;
}

static void stop(struct source *s)
{
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_broadcast(&s->moved);
	pthread_mutex_unlock(&s->lock);
}

/* Both threads, or none. Signals are the caller's: they are born with all of them blocked. */
static void start_threads(struct source *s)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->moved, NULL);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	if (pthread_create(&s->hasher, NULL, read_along, s) == 0) {
		s->threaded = pthread_create(&s->filler, NULL, fill, s) == 0;
		if (!s->threaded) {
			stop(s);
			pthread_join(s->hasher, NULL);
		}
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void end_threads(struct source *s)
{
	stop(s);
	pthread_join(s->filler, NULL);
	pthread_join(s->hasher, NULL);
}

/* ---- opening ---- */

/* The last of the filters is the stream itself; more than one before it is one thing packed twice. */
static int compression_of(struct archive *a)
{
	const int code = archive_filter_code(a, 0);
	if (archive_filter_count(a) > 2)
		return -1;
	return code == ARCHIVE_FILTER_GZIP   ? COMPRESSION_GZIP
	       : code == ARCHIVE_FILTER_ZSTD ? COMPRESSION_ZSTD
	       : code == ARCHIVE_FILTER_NONE ? COMPRESSION_NONE
					     : -1;
}

static int open_filters(struct source *s, enum source_filters filters, struct err *e)
{
	struct archive *a = s->archive = archive_read_new();
	if (!a)
		return err_sys(e, "memory for libarchive");
	archive_read_support_format_raw(a);
	archive_read_support_format_empty(a);
	archive_read_support_filter_gzip(a);
	archive_read_support_filter_zstd(a);
	if (filters == SOURCE_ANY) {
		/* Not _all(): that has some which start a program. */
		archive_read_support_filter_bzip2(a);
		archive_read_support_filter_compress(a);
		archive_read_support_filter_lz4(a);
		archive_read_support_filter_lzip(a);
		archive_read_support_filter_lzma(a);
		archive_read_support_filter_xz(a);
	}
	struct archive_entry *entry;
	if (archive_read_open(a, s, NULL, read_stream, NULL) != ARCHIVE_OK)
		return refuse(s, e);
	const int r = archive_read_next_header(a, &entry);
	s->empty = r == ARCHIVE_EOF;
	s->compression = compression_of(a);
	return r == ARCHIVE_OK || r == ARCHIVE_WARN || s->empty ? 0 : refuse(s, e);
}

int source_open(struct source **made, int stream, const struct source_options *o, struct err *e)
{
	struct source *s = malloc(sizeof(*s) + SLOTS * sizeof(s->slots[0]));
	if (!s)
		return err_sys(e, "memory for a layer");
	memset(s, 0, sizeof(*s));
	s->stream = stream;
	s->ratio = o->ratio;
	if (hash_init(&s->hash, e) < 0 || open_filters(s, o->filters, e) < 0) {
		source_close(&s);
		return -1;
	}
	start_threads(s);
	*made = s;
	return 0;
}

ssize_t source_next(struct source *s, const void **bytes, struct err *e)
{
	return s->threaded ? take(s, bytes, e) : decompress_and_hash(s, bytes, e);
}

void source_digest(const struct source *s, struct digest *d)
{
	*d = s->digest;
}

int source_compression(const struct source *s)
{
	return s->compression;
}

void source_close(struct source **s)
{
	if (!*s)
		return;
	if ((*s)->threaded)
		end_threads(*s);
	archive_read_free((*s)->archive);
	hash_free(&(*s)->hash);
	free(*s);
	*s = NULL;
}
