/* The image's User: Docker's rules, and a hostile /etc/passwd. */
#include "rootfs/internal.h"
#include "rootfs/stored.h"

#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ID_MAX = 65535, ACCOUNTS_LINE = 4096, ACCOUNTS_BYTES_MAX = 4 << 20, NAME_BYTES = 33 };

/* What is looked for in a file of accounts: a name, or a number. */
struct search {
	const char *name; /* NULL: by number */
	uint32_t number;
	bool found;
	uint32_t id, group; /* third field, and fourth (of passwd) */
	char found_name[NAME_BYTES];
};

/* Decimal digits up to the separator or the end, however many: too large is the largest. */
static bool read_number(const char *text, char end, uint32_t *number)
{
	const size_t len = strspn(text, "0123456789");
	if (len == 0 || (text[len] != end && text[len] != '\0'))
		return false;
	const unsigned long value = strtoul(text, NULL, 10);
	*number = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
	return true;
}

/* "name:password:number:number:..."; the first line that fits counts, as getpwnam(3) has it. */
static int look_at_line(void *arg, char *line, struct err *e)
{
	struct search *s = arg;
	uint32_t id, group = 0;
	(void)e;
	char *second = strchr(line, ':');
	char *third = second ? strchr(second + 1, ':') : NULL;
	if (s->found || !third || !read_number(third + 1, ':', &id))
		return 0;
	const char *fourth = strchr(third + 1, ':');
	if (fourth)
		read_number(fourth + 1, ':', &group);
	*second = '\0';
	if (s->name ? strcmp(line, s->name) != 0 : id != s->number)
		return 0;
	s->found = true;
	s->id = id;
	s->group = group;
	if (strlen(line) < sizeof(s->found_name))
		memcpy(s->found_name, line, strlen(line) + 1);
	return 0;
}

static int search_file(int root, const char *file, struct search *s, struct err *e)
{
	struct stat st;
	char buf[ACCOUNTS_LINE];
	/* O_NONBLOCK: a FIFO of that name would be waited for. */
	autoclose int fd = fd_openat2(root, file, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0,
				      RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0)
		return err_sys(e, "the image's User: open /%s of the image", file);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > ACCOUNTS_BYTES_MAX)
		return err_usage(e, "the image's User: /%s of the image is no file of accounts",
				 file);
	buf[0] = '\0';
	return lines_walk(fd, &(struct line_walk){buf, sizeof(buf), look_at_line, s}, e);
}

/* Whether what the User says is an id: digits, perhaps with a sign, as Docker has it. -1: it is below 0. */
static int numeric(const char *text, const char *user, uint32_t *number, struct err *e)
{
	const bool sign = *text == '+' || *text == '-';
	if (!read_number(text + sign, '\0', number))
		return 0;
	if (*text == '-' && *number > 0)
		return err_usage(e,
				 "the image's User is %s: an id below 0 is not in the map; --uid N says "
				 "another one",
				 user);
	return 1;
}

static int check_id(uint32_t id, const char *user, struct err *e)
{
	if (id <= ID_MAX)
		return 0;
	return err_usage(e,
			 "the image's User is %s: id %u is not in the map, which has those up to %d; "
			 "--uid N says another one",
			 user, id, ID_MAX);
}

/* A number is the id: an account whose name is "1000" makes no root of User 1000. */
static int find_user(int root, const char *name, const char *user, struct search *s, struct err *e)
{
	uint32_t number = 0;
	const int is_id = numeric(name, user, &number, e);
	*s = (struct search){.name = is_id ? NULL : name, .number = number};
	if (is_id < 0 || search_file(root, "etc/passwd", s, e) < 0)
		return -1;
	if (!s->found && !is_id)
		return err_usage(e,
				 "the image's User is %s, which its own /etc/passwd does not have; "
				 "--uid N says another one",
				 user);
	if (is_id)
		s->id = number;
	return 0;
}

static int find_group(int root, const char *name, const char *user, uint32_t *gid, struct err *e)
{
	struct search s = {.name = name};
	const int is_id = numeric(name, user, gid, e);
	if (is_id != 0)
		return is_id < 0 ? -1 : 0;
	if (search_file(root, "etc/group", &s, e) < 0)
		return -1;
	if (!s.found)
		return err_usage(e,
				 "the image's User is %s, whose group its own /etc/group does not "
				 "have; --uid N says another one",
				 user);
	*gid = s.id;
	return 0;
}

/* Names that the synthesised /etc/passwd has already, and what would not be one. */
static bool may_be_shown(const char *name)
{
	return *name && strcmp(name, "root") != 0 && strcmp(name, "nobody") != 0 &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
		       strlen(name);
}

int stored_user(int root, const char *user, struct stored_user *found, struct arena *a, struct err *e)
{
	const size_t len = strcspn(user, ":");
	const char *name = arena_strndup(a, user, len);
	struct search s;
	if (len == 0)
		name = "0"; /* ":group" */
	if (find_user(root, name, user, &s, e) < 0)
		return -1;
	uint32_t gid = s.group;
	if (user[len] == ':' && user[len + 1] && find_group(root, user + len + 1, user, &gid, e) < 0)
		return -1;
	if (check_id(s.id, user, e) < 0 || check_id(gid, user, e) < 0)
		return -1;
	*found = (struct stored_user){
		.uid = s.id,
		.gid = gid,
		.name = may_be_shown(s.found_name) ? arena_strdup(a, s.found_name) : NULL,
	};
	return 0;
}
