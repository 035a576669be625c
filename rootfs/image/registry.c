#include "rootfs/image/registry.h"

#include "rootfs/image/exchange.h"

#include <stdlib.h>
#include <string.h>

/* What Docker calls its registry, and the host that serves it. */
static const char docker_name[] = "docker.io", docker_host[] = "registry-1.docker.io";

int registry_tell(struct registry *r, const struct registry_event *event, struct err *e)
{
	if (!r->o->progress || r->o->progress(r->o->progress_context, event) == 0)
		return 0;
	return err_usage(e, "cancelled");
}

/* ---- open and close ---- */

static int check_insecure(const struct reference *ref, struct err *e)
{
	autoarena a = ARENA_INIT;
	char *host = arena_strdup(&a, ref->registry);
	char *close = strrchr(host, ']'), *port = strrchr(close ? close : host, ':');
	if (port)
		*port = '\0';
	return host_is_loopback(host)
		       ? 0
		       : err_usage(e, "%s: plain http is for registries on this machine alone", host);
}

static int check_options(const struct registry_options *o, struct err *e)
{
	if (o->parallel < 1 || o->parallel > REGISTRY_PARALLEL_MAX)
		return err_usage(e, "blobs at a time: 1 to %d", REGISTRY_PARALLEL_MAX);
	return o->stall_seconds >= 1 ? 0 : err_usage(e, "a stall takes a second at least");
}

static int prepare(struct registry *r, struct err *e)
{
	const struct reference *ref = r->ref;
	const char *host = strcmp(ref->registry, docker_name) == 0 ? docker_host : ref->registry;
	r->base = arena_printf(&r->arena, "%s://%s", r->o->insecure ? "http" : "https", host);
	if (r->o->credentials)
		r->credentials = *r->o->credentials;
	r->multi = curl_multi_init();
	r->easy = curl_easy_init();
	return r->multi && r->easy ? 0 : err_host(e, "libcurl does not start");
}

int registry_open(struct registry **opened, const struct reference *ref,
		  const struct registry_options *o, struct err *e)
{
	if (reference_remote(ref, e) < 0 || check_options(o, e) < 0 ||
	    (o->insecure && check_insecure(ref, e) < 0))
		return -1;
	struct registry *r = calloc(1, sizeof(*r));
	if (!r || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		free(r);
		return err_host(e, "libcurl does not start");
	}
	r->ref = ref;
	r->o = o;
	if (prepare(r, e) < 0) {
		registry_close(r);
		return -1;
	}
	*opened = r;
	return 0;
}

void registry_close(struct registry *r)
{
	if (!r)
		return;
	curl_easy_cleanup(r->easy);
	curl_multi_cleanup(r->multi);
	curl_global_cleanup();
	free(r->authorization);
	explicit_bzero(&r->credentials, sizeof(r->credentials));
	arena_free(&r->arena);
	free(r);
}

/* ---- manifests ---- */

/* The order is a wish; what comes is judged by its own type. */
static const char manifest_types[] =
	"application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, "
	"application/vnd.docker.distribution.manifest.list.v2+json, "
	"application/vnd.docker.distribution.manifest.v2+json";

/* name is a tag or a digest; of a digest the bytes must be. */
static int check_digest(const struct document *d, const char *name, struct err *e)
{
	autohash h = HASH_INIT;
	struct digest found, said;
	const char *header = d->x.answer.digest;
	if (hash_init(&h, e) < 0)
		return -1;
	hash_update(&h, d->text, d->len);
	hash_final(&h, &found);
	if (strchr(name, ':') && strcmp(name, found.text) != 0)
		return err_host(e, "wrong digest: it is %s", found.text);
	if (!header[0])
		return 0;
	if (digest_parse(&said, header, e) < 0)
		return err_wrap(e, "what the registry says of it");
	return digest_same(&said, &found)
		       ? 0
		       : err_host(e, "wrong digest: it is %s, and not what the registry says",
				  found.text);
}

int registry_document(struct registry *r, const char *name, uint64_t size,
		      struct registry_document *got, struct err *e)
{
	autodocument d = {.max = JSON_BYTES_MAX};
	autoarena a = ARENA_INIT;
	d.x.r = r;
	d.x.what = arena_printf(&a, "manifest %s of %s", name, r->ref->repository);
	d.x.path = arena_printf(&a, "/v2/%s/manifests/%s", r->ref->repository, name);
	d.x.accept = manifest_types;
	if (document_fetch(&d, e) < 0)
		return -1;
	if (check_digest(&d, name, e) < 0)
		return err_wrap(e, "%s", d.x.what);
	if (size != UINT64_MAX && d.len != size)
		return err_host(e, "%s: wrong size", d.x.what);
	*got = (struct registry_document){d.text, d.len, media_type_parse(d.x.answer.type)};
	d.text = NULL; /* *got has it now */
	return 0;
}
