/* What tests/e2e/image-registry.t asks of the registry's client in its jail, without a store around it:
 *   pull [OPTION=VALUE]... REFERENCE FOLDER
 * writes FOLDER/manifest.json and the blobs as FOLDER/HEX (a file that is there is taken up), says
 * on stdout what happened, one event a line, and fails with the message on stderr. */
#include "commands/image-fetch.h"

#include "base/fd.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct pull {
	struct fetch_options o;
	struct platform platform;
	struct arena arena;
	bool cancel; /* at the first bytes */
};

static int on_event(void *context, const struct registry_event *event)
{
	static const char *const names[] =
		{[REGISTRY_STARTED] = "started", [REGISTRY_RETRY] = "retry", [REGISTRY_DONE] = "done"};
	const struct pull *p = context;
	if (event->kind == REGISTRY_MOVED)
		return p->cancel;
	printf("%s %zd %llu/%llu %u %s\n", names[event->kind], (ssize_t)event->blob,
	       (unsigned long long)event->bytes, (unsigned long long)event->size, event->wait_ms,
	       event->why ? event->why : "");
	return 0;
}

static unsigned int number(const char *value)
{
	return (unsigned int)strtoul(value, NULL, 10);
}

static int set(struct pull *p, char *option, struct err *e)
{
	char *value = strchr(option, '=');
	if (!value)
		return err_usage(e, "%s: OPTION=VALUE", option);
	*value++ = '\0';
	if (strcmp(option, "insecure") == 0)
		p->o.registry.insecure = number(value);
	else if (strcmp(option, "auth") == 0)
		p->o.registry.auth_file = value;
	else if (strcmp(option, "ca") == 0)
		p->o.ca_file = value;
	else if (strcmp(option, "retries") == 0)
		p->o.registry.retries = number(value);
	else if (strcmp(option, "parallel") == 0)
		p->o.registry.parallel = number(value);
	else if (strcmp(option, "stall") == 0)
		p->o.registry.stall_seconds = number(value);
	else if (strcmp(option, "blob-max") == 0)
		p->o.registry.blob_bytes_max = number(value);
	else if (strcmp(option, "cancel") == 0)
		p->cancel = number(value);
	else if (strcmp(option, "platform") == 0)
		return platform_parse(&p->platform, value, &p->arena, e);
	else
		return err_usage(e, "no option %s", option);
	return 0;
}

static int write_manifest(int folder, const struct fetched *m, struct err *e)
{
	autoclose int fd = openat(folder, "manifest.json", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
				  0644);
	return fd < 0 || fd_write_all(fd, m->bytes.text, m->bytes.len) < 0
		       ? err_sys(e, "write manifest.json")
		       : 0;
}

static int open_blob(struct registry_blob *blob, int folder, const struct descriptor *what,
		     struct err *e)
{
	struct stat status;
	blob->what = *what;
	blob->fd = openat(folder, digest_hex(&what->digest), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (blob->fd < 0 || fstat(blob->fd, &status) < 0)
		return err_sys(e, "open a blob");
	blob->had = (uint64_t)status.st_size;
	return 0;
}

static int get_blobs(struct fetch *f, const struct parsed *m, int folder, struct err *e)
{
	static struct registry_blob blobs[LAYERS_MAX + 1];
	if (open_blob(&blobs[0], folder, &m->config, e) < 0)
		return -1;
	for (size_t i = 0; i < m->layers_len; i++) {
		if (open_blob(&blobs[i + 1], folder, &m->layers[i], e) < 0)
			return -1;
	}
	int result = fetch_blobs(f, blobs, m->layers_len + 1, e);
	for (size_t i = 0; i <= m->layers_len; i++) {
		printf("blob %s %llu\n", digest_hex(&blobs[i].what.digest),
		       (unsigned long long)blobs[i].had);
		fd_close(&blobs[i].fd);
	}
	return result;
}

static int pull(struct pull *p, struct fetch *f, int folder, struct err *e)
{
	static struct fetched got;
	if (fetch_manifest(f, &p->platform, &got, &p->arena, e) < 0)
		return -1;
	printf("manifest %s named %s\n", got.digest.text, got.named.text);
	if (write_manifest(folder, &got, e) < 0)
		return -1;
	return get_blobs(f, &got.parsed, folder, e);
}

static int run(struct pull *p, const char *name, const char *path, struct err *e)
{
	struct reference ref;
	autofetch f = FETCH_INIT;
	autoclose int folder = open(path, O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return err_sys(e, "open %s", path);
	if (reference_parse(&ref, name, &p->arena, e) < 0 || reference_remote(&ref, e) < 0 ||
	    fetch_begin(&f, &ref, &p->o, e) < 0)
		return -1;
	return pull(p, &f, folder, e);
}

int main(int argc, char **argv)
{
	struct pull p = {.o = {.registry = REGISTRY_OPTIONS_INIT, .limits = UNPACK_LIMITS_DEFAULT},
			 .platform = {"linux", "amd64", NULL}};
	struct err e = ERR_INIT;
	int result = 0;
	p.o.registry.backoff_ms = 20;
	p.o.registry.progress = on_event;
	p.o.registry.progress_context = &p;
	signal(SIGPIPE, SIG_IGN);
	if (argc < 3)
		return 2;
	for (int i = 1; i < argc - 2 && result == 0; i++)
		result = set(&p, argv[i], &e);
	if (result == 0)
		result = run(&p, argv[argc - 2], argv[argc - 1], &e);
	if (result < 0)
		fprintf(stderr, "%s\n", e.msg);
	arena_free(&p.arena);
	return result < 0;
}
