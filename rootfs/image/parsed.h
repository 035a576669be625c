/* A registry's document as values: for a jailed reader (runtime/jail.h) that has met nobody but these bytes. */
#ifndef PINFOLD_ROOTFS_IMAGE_PARSED_H
#define PINFOLD_ROOTFS_IMAGE_PARSED_H

#include "rootfs/image/manifest.h"

/* What the bytes say; plain values, so that it crosses a pipe. */
struct parsed {
	enum media_role role;
	struct descriptor chosen; /* ROLE_INDEX: the manifest for the platform */
	enum media_type type;	  /* ROLE_MANIFEST, and all that follows */
	struct descriptor config;
	struct descriptor layers[LAYERS_MAX];
	uint32_t layers_len;
};

struct parse {
	struct json_bytes bytes;
	enum media_type type; /* what others said that it is; MEDIA_UNKNOWN: nobody did */
	struct platform platform;
	struct parsed parsed; /* filled */
};

/* In the jail; arg is a struct parse, root is not used. ERR_USAGE: the document is refused. */
int parse_document(int root, void *arg, struct err *e);

/* Outside of it, where it may be anybody's word: that each value is one. ERR_BUG. */
int parsed_check(const struct parsed *p, struct err *e);

#endif
