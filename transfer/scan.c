/* Sources: opened, judged, measured. */
#include "transfer/inputs.h"

#include "base/fd.h"
#include "spec/parse.h"
#include "transfer/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, SHORT_LINK = 127, BLOCK = 512 };

/* Where the scratch has no limit of its own, and memory neither. */
enum { UNPACKED_INODES = 1000000 };
#define UNPACKED_BYTES (64ULL << 30)

struct measure {
	uint64_t bytes, inodes;
	struct link_table links;
};

static uint64_t pages(uint64_t bytes)
{
	return (bytes + PAGE - 1) / PAGE * PAGE;
}

/* tmpfs has whole pages of data, none for holes, and none for folders. */
static int add(void *arg, const struct visit *v, struct err *e)
{
	struct measure *m = arg;
	bool out_of_memory = false;
	if (v->kind == VISIT_LEAVE)
		return 0;
	m->inodes++; /* tmpfs counts every name, hard links too (shmem_link() in mm/shmem.c) */
	if (v->kind == VISIT_FILE && v->st->st_nlink > 1 &&
	    links_first(&m->links, v->st, v->path, &out_of_memory))
		return 0;
	if (out_of_memory)
		return err_host(e, "inputs: out of memory");
	const uint64_t size = (uint64_t)v->st->st_size, data = (uint64_t)v->st->st_blocks * BLOCK;
	if (v->kind == VISIT_FILE)
		m->bytes += pages(data < size ? data : size);
	if (v->kind == VISIT_LINK && size > SHORT_LINK)
		m->bytes += pages(size);
	return 0;
}

static int open_source(const struct vet *vet, const struct input *in, struct err *e)
{
	struct stat st;
	autoclose int fd = open(in->source, O_PATH | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0) {
		err_sys(e, "input %s", in->source);
		e->kind = ERR_USAGE;
		return -1;
	}
	if (strcmp(in->target, ".") == 0 && !in->unpack && !S_ISDIR(st.st_mode))
		return err_usage(e, "input %s is no folder, so the destination . has no name for it",
				 in->source);
	if (special_name(st.st_mode))
		return err_usage(e, "input %s is refused: it is %s", in->source,
				 special_name(st.st_mode));
	if (in->unpack && !S_ISREG(st.st_mode))
		return err_usage(e, "input %s is no archive: it is a folder", in->source);
	return vet_source(vet, fd, in->source, e) < 0 ? -1 : fd_take(&fd);
}

/* Its contents are counted when they come; its folder is there. */
static int measure_archive(struct sources *s, const struct input *in, struct err *e)
{
	struct stat st;
	if (fstat(s->fds[s->len - 1], &st) < 0)
		return err_sys(e, "input %s: stat", in->source);
	s->inodes += strcmp(in->target, ".") != 0;
	s->packed += (uint64_t)st.st_size;
	return 0;
}

static int measure(struct sources *s, const struct input *in, struct err *e)
{
	struct measure m = {0};
	const struct walk w = {.vet = &s->vet,
			       .shown = in->source,
			       .top = input_name(in),
			       .visit = add,
			       .arg = &m};
	const int rc = in->unpack ? measure_archive(s, in, e)
				  : walk_source(&w, s->fds[s->len - 1], e);
	links_free(&m.links);
	/* Folders on the way to the destination. */
	for (const char *c = in->target; *c; c++)
		m.inodes += *c == '/';
	s->bytes += m.bytes;
	s->inodes += m.inodes;
	return rc;
}

static int compare(const struct sources *s, const struct limits *lim, struct err *e)
{
	char have[PARSE_TEXT_BYTES];
	if (lim->scratch_bytes != LIMIT_NONE && s->bytes > lim->scratch_bytes) {
		spec_format_size(lim->scratch_bytes, have);
		return err_usage(e,
				 "the inputs take %llu bytes (%llu MiB) of the scratch, which is %s; raise "
				 "--scratch",
				 (unsigned long long)s->bytes, (unsigned long long)(s->bytes >> 20),
				 have);
	}
	if (lim->scratch_bytes == LIMIT_NONE && s->bytes > lim->memory_bytes) {
		spec_format_size(lim->memory_bytes, have);
		return err_usage(e,
				 "the inputs take %llu bytes of memory, which is %s; raise --memory",
				 (unsigned long long)s->bytes, have);
	}
	if (lim->scratch_inodes != LIMIT_NONE && s->inodes > lim->scratch_inodes)
		return err_usage(e,
				 "the inputs are %llu files and folders, the scratch may have %llu; raise "
				 "--scratch-inodes",
				 (unsigned long long)s->inodes,
				 (unsigned long long)lim->scratch_inodes);
	return 0;
}

/* LIMIT_NONE is the largest of all numbers. */
static void set_budget(struct sources *s, const struct limits *lim)
{
	const uint64_t most[] = {lim->scratch_bytes, lim->memory_bytes, UNPACKED_BYTES};
	const uint64_t inodes = lim->scratch_inodes == LIMIT_NONE ? UNPACKED_INODES
								  : lim->scratch_inodes;
	uint64_t bytes = most[0];
	for (size_t i = 1; i < sizeof(most) / sizeof(*most); i++)
		bytes = most[i] < bytes ? most[i] : bytes;
	s->left.bytes = s->left.bytes_first = bytes > s->bytes ? bytes - s->bytes : 0;
	s->left.inodes = s->left.inodes_first = inodes > s->inodes ? inodes - s->inodes : 0;
}

int sources_open(struct sources *s, const struct spec *spec, const struct vet_options *o,
		 struct err *e)
{
	const struct input_list *list = &spec->inputs;
	*s = (struct sources){0};
	int rc = vet_open(&s->vet, spec->arena, o, e);
	for (size_t i = 0; rc == 0 && i < list->len; i++) {
		const int fd = open_source(&s->vet, &list->inputs[i], e);
		if (fd >= 0)
			s->fds[s->len++] = fd;
		rc = fd >= 0 ? measure(s, &list->inputs[i], e) : -1;
		if (rc < 0)
			s->refused = list->inputs[i].source;
	}
	if (rc == 0)
		rc = compare(s, &spec->limits, e);
	if (rc == 0)
		set_budget(s, &spec->limits);
	if (rc < 0)
		sources_close(s);
	return rc;
}

void sources_close(struct sources *s)
{
	while (s->len > 0)
		close(s->fds[--s->len]);
}
