/* One image's layers onto one tree, and what a run and verify need beside it.
 *
 * For a jailed child (runtime/jail.h), whose root is an empty folder: it makes rootfs/, record and
 * image.json in it.
 */
#ifndef PINFOLD_ROOTFS_IMAGE_UNPACK_IMAGE_H
#define PINFOLD_ROOTFS_IMAGE_UNPACK_IMAGE_H

#include "rootfs/image/layer.h"
#include "rootfs/image/manifest.h"

struct unpack_image {
	struct digest id;
	int config;			   /* for reading; its bytes have been held against id */
	int layers[LAYERS_MAX];		   /* for reading, the lowest first; the same */
	enum media_type types[LAYERS_MAX]; /* what the manifest says that they are */
	size_t layers_len;
	struct unpack_limits limits;
	struct record_owners owners;
	struct layer_report report; /* filled */
};

/* In the jail; arg is a struct unpack_image. ERR_USAGE: the image is refused. */
int unpack_image(int root, void *arg, struct err *e);

/* What image.json is for an image of that config, a descriptor of the blob; free() it. NULL and *e. */
char *image_facts_of(const struct digest *id, int config, struct err *e);

#endif
