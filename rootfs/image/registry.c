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
	if (r->o->auth_file && credentials_read(&r->credentials, r->o, ref, &r->arena, e) < 0)
		return -1;
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
static int check_digest(const struct document *d, const char *name, struct digest *digest,
			struct err *e)
{
	autohash h = HASH_INIT;
	struct digest said;
	const char *header = d->x.answer.digest;
	if (hash_init(&h, e) < 0)
		return -1;
	hash_update(&h, d->text, d->len);
	hash_final(&h, digest);
	if (strchr(name, ':') && strcmp(name, digest->text) != 0)
		return err_host(e, "wrong digest: it is %s", digest->text);
	if (!header[0])
		return 0;
	if (digest_parse(&said, header, e) < 0)
		return err_wrap(e, "what the registry says of it");
	return digest_same(&said, digest)
		       ? 0
		       : err_host(e, "wrong digest: it is %s, and not what the registry says",
				  digest->text);
}

/* The document of that tag or digest. m->type is what a descriptor said, and comes back as what all
 * say; size is the descriptor's, or UINT64_MAX. */
static int fetch(struct registry *r, const char *name, uint64_t size, struct registry_manifest *m,
		 struct err *e)
{
	autodocument d = {.max = JSON_BYTES_MAX};
	autoarena a = ARENA_INIT;
	d.x.r = r;
	d.x.what = arena_printf(&a, "manifest %s of %s", name, r->ref->repository);
	d.x.path = arena_printf(&a, "/v2/%s/manifests/%s", r->ref->repository, name);
	d.x.accept = manifest_types;
	if (document_fetch(&d, e) < 0)
		return -1;
	enum media_type type = media_type_parse(d.x.answer.type);
	if (check_digest(&d, name, &m->digest, e) < 0)
		return err_wrap(e, "%s", d.x.what);
	if (size != UINT64_MAX && d.len != size)
		return err_host(e, "%s: wrong size", d.x.what);
	if (type != MEDIA_UNKNOWN && m->type != MEDIA_UNKNOWN && type != m->type)
		return err_host(e, "%s: it came as %s, and the index says %s", d.x.what,
				media_type_text(type), media_type_text(m->type));
	m->type = type != MEDIA_UNKNOWN ? type : m->type;
	m->bytes = (struct json_bytes){d.text, d.len};
	d.text = NULL; /* m has it now */
	return 0;
}

/* From an index to the manifest in it. */
static int follow_index(struct registry *r, const struct platform *p, struct registry_manifest *m,
			struct err *e)
{
	autoarena a = ARENA_INIT;
	struct index x;
	struct descriptor chosen;
	enum media_role role;
	if (index_read(&x, m->type, m->bytes, &a, e) < 0 || index_choose(&x, p, NULL, &chosen, e) < 0)
		return -1;
	struct registry_manifest inner = {.type = chosen.type};
	if (fetch(r, chosen.digest.text, chosen.size, &inner, e) < 0)
		return -1;
	free((char *)m->bytes.text);
	inner.named = m->named;
	*m = inner;
	if (manifest_role(m->type, m->bytes, &role, e) < 0)
		return -1;
	return role == ROLE_MANIFEST ? 0 : err_usage(e, "an index within the index is not followed");
}

static int get_manifest(struct registry *r, const struct platform *p, struct registry_manifest *m,
			struct err *e)
{
	enum media_role role;
	if (fetch(r, r->ref->digest ? r->ref->digest : r->ref->tag, UINT64_MAX, m, e) < 0)
		return -1;
	m->named = m->digest;
	if (manifest_role(m->type, m->bytes, &role, e) < 0)
		return -1;
	return role == ROLE_INDEX ? follow_index(r, p, m, e) : 0;
}

int registry_manifest(struct registry *r, const struct platform *p, struct registry_manifest *m,
		      struct arena *a, struct err *e)
{
	struct registry_manifest got = {.type = MEDIA_UNKNOWN};
	int result = get_manifest(r, p, &got, e);
	char *text = (char *)got.bytes.text;
	if (result == 0) {
		got.bytes.text = arena_strndup(a, text, got.bytes.len);
		*m = got;
	}
	free(text);
	return result;
}
