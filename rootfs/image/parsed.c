#include "rootfs/image/parsed.h"

#include <string.h>

static int parse_index(struct parse *p, struct arena *a, struct err *e)
{
	struct index x;
	if (index_read(&x, p->type, p->bytes, a, e) < 0)
		return -1;
	return index_choose(&x, &p->platform, NULL, &p->parsed.chosen, e);
}

static int parse_manifest(struct parse *p, struct arena *a, struct err *e)
{
	struct manifest m;
	struct parsed *to = &p->parsed;
	if (manifest_read(&m, p->type, p->bytes, a, e) < 0)
		return -1;
	to->type = m.type;
	to->config = m.config;
	to->layers_len = (uint32_t)m.layers_len;
	memcpy(to->layers, m.layers, m.layers_len * sizeof(*m.layers));
	return 0;
}

int parse_document(int root, void *arg, struct err *e)
{
	struct parse *p = arg;
	autoarena a = ARENA_INIT;
	(void)root;
	if (manifest_role(p->type, p->bytes, &p->parsed.role, e) < 0)
		return -1;
	return p->parsed.role == ROLE_INDEX ? parse_index(p, &a, e) : parse_manifest(p, &a, e);
}

int parsed_check(const struct parsed *p, struct err *e)
{
	if (p->role == ROLE_INDEX)
		return descriptor_check(&p->chosen, ROLE_MANIFEST, e);
	if (p->role != ROLE_MANIFEST || p->layers_len > LAYERS_MAX || p->type >= MEDIA_TYPE_COUNT ||
	    media_role(p->type) != ROLE_MANIFEST || p->config.size > JSON_BYTES_MAX)
		return err_bug(e, "the jail says what cannot be");
	if (descriptor_check(&p->config, ROLE_CONFIG, e) < 0)
		return -1;
	for (size_t i = 0; i < p->layers_len; i++)
		if (descriptor_check(&p->layers[i], ROLE_LAYER, e) < 0)
			return -1;
	return 0;
}
