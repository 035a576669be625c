#include "seccomp/profile.h"

#include "base/fd.h"
#include "seccomp/filter_data.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sha2.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

void profile_warn(struct profile_warnings *w, const char *fmt, ...)
{
	va_list ap;
	if (w->len == PROFILE_WARNINGS_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(w->text[w->len++], PROFILE_WARNING_SIZE, fmt, ap);
	va_end(ap);
}

static int read_file(const char *path, struct json_text *text, struct arena *a, struct err *e)
{
	/* A FIFO without a writer would wait. */
	autoclose int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_usage(e, "--seccomp %s: %s", path, strerrordesc_np(errno));
	if (!S_ISREG(st.st_mode))
		return err_usage(e, "--seccomp %s: not a file", path);
	char *buf = arena_alloc(a, PROFILE_BYTES_MAX + 1);
	size_t len = 0;
	while (len <= PROFILE_BYTES_MAX) {
		ssize_t n = read(fd, buf + len, PROFILE_BYTES_MAX + 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_usage(e, "--seccomp %s: %s", path, strerrordesc_np(errno));
		if (n == 0)
			break;
		len += (size_t)n;
	}
	if (len > PROFILE_BYTES_MAX)
		return err_usage(e, "--seccomp %s: more than %d bytes", path, PROFILE_BYTES_MAX);
	*text = (struct json_text){.text = buf, .len = len};
	return 0;
}

/* The end of a long path says more than its beginning. */
static const char *message_name(const char *path, struct arena *a)
{
	enum { SHOWN = 80 };
	size_t len = strlen(path);
	char *name = arena_printf(a, "%s%s", len > SHOWN ? "..." : "",
				  len > SHOWN ? path + len - SHOWN : path);
	for (char *c = name; *c; c++) {
		if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
			*c = '?';
	}
	return name;
}

/* Of everything that the compiled filter and its warnings depend on. */
static void cache_key(char key[65], const struct profile *p, const struct profile_context *c,
		      const char *file_digest)
{
	char text[512];
	const struct scmp_version *v = seccomp_version();
	int n = snprintf(text, sizeof(text),
			 "pinfold %s\nlibseccomp %u.%u.%u\nkernel %s\narch %08x\noff %u\nname %s\nfile %s\n",
			 PINFOLD_VERSION, v->major, v->minor, v->micro, c->kernel, c->arch,
			 (unsigned int)c->off, p->name, file_digest);
	SHA256Data((const uint8_t *)text, (size_t)n, key);
}

/* The cache makes a start faster and is not needed for one: what is wrong with it is a warning. */
static int compile_cached(struct profile_code *code, struct profile *p, struct profile_context *c,
			  const char *cache_dir, struct err *e)
{
	char file_digest[65], key[65];
	struct err cache = ERR_INIT;
	SHA256Data((const uint8_t *)p->text.text, p->text.len, file_digest);
	cache_key(key, p, c, file_digest);
	autoclose int dir = cache_dir ? cache_open(cache_dir, &cache) : -1;
	if (dir >= 0 && cache_load(dir, key, code, c->arena, &c->warnings))
		return 0;
	if (profile_read(p, c, e) < 0 || profile_compile(code, p, c, e) < 0)
		return -1;
	if (dir >= 0 && cache_store(dir, key, code, &c->warnings) < 0)
		err_sys(&cache, "write to %s", cache_dir);
	if (cache.kind != ERR_NONE)
		profile_warn(&c->warnings, "seccomp profile %s is not cached: %s", p->name,
			     cache.msg);
	return 0;
}

/* EPERM is what an unprivileged program is told of a privileged call, and what a foreign ABI gets:
 * these go to the listener, to be counted, as in the default filter. */
static const struct sock_filter *counting(const struct profile_code *code, struct arena *a)
{
	struct sock_filter *insns = arena_alloc(a, code->len * sizeof(*insns));
	memcpy(insns, code->insns, code->len * sizeof(*insns));
	for (size_t i = 0; i < code->len; i++) {
		if (insns[i].code == (BPF_RET | BPF_K) && insns[i].k == (SECCOMP_RET_ERRNO | EPERM))
			insns[i].k = SECCOMP_RET_USER_NOTIF;
	}
	return insns;
}

int profile_build(struct filter *f, const struct filter_options *o, struct arena *a,
		  struct result *r, struct err *e)
{
	struct profile p = {.name = message_name(o->profile, a)};
	struct profile_context c = {
		.arch = o->arch ? o->arch : filter_native_arch,
		.off = (o->pipe_size ? 0 : WHEN_PIPE_SIZE) | (o->affinity ? 0 : WHEN_AFFINITY),
		.arena = a,
	};
	struct profile_code code;
	struct utsname uts;
	if (read_file(o->profile, &p.text, a, e) < 0)
		return -1;
	if (uname(&uts) < 0)
		return err_sys(e, "uname");
	snprintf(c.kernel, sizeof(c.kernel), "%s", uts.release);
	if (compile_cached(&code, &p, &c, o->cache_dir, e) < 0)
		return -1;
	for (size_t i = 0; i < c.warnings.len; i++)
		result_warn(r, "%s", c.warnings.text[i]);
	*f = (struct filter){
		.insns = counting(&code, a),
		.len = code.len,
		.notify = true,
		.custom = true,
		.quiet = code.insns,
		.quiet_len = code.len,
	};
	SHA256Data((const uint8_t *)p.text.text, p.text.len, f->digest);
	return 0;
}
