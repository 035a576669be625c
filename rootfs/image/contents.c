/* Digests of contents. A file with holes may be terabytes long and nearly empty, so that hashing
 * its zeros is no option; and how a file system lays its holes out is its own business. */
#include "rootfs/image/record.h"

#include <string.h>

void contents_start(struct contents *c, bool holes)
{
	hash_restart(&c->hash);
	c->holes = holes;
	c->at = 0;
	c->dirty = 0;
	if (holes)
		memset(c->block, 0, sizeof(c->block));
}

static void end_block(struct contents *c)
{
	static const unsigned char zeros[CONTENTS_BLOCK];
	unsigned char number[8];
	if (!c->dirty)
		return;
	c->dirty = 0;
	if (memcmp(c->block, zeros, CONTENTS_BLOCK) == 0)
		return;
	for (int i = 0; i < 8; i++)
		number[i] = (unsigned char)(c->at / CONTENTS_BLOCK >> (56 - 8 * i));
	hash_update(&c->hash, number, sizeof(number));
	hash_update(&c->hash, c->block, CONTENTS_BLOCK);
	memset(c->block, 0, sizeof(c->block));
}

void contents_add(struct contents *c, uint64_t offset, const void *bytes, size_t len)
{
	if (!c->holes) {
		hash_update(&c->hash, bytes, len);
		return;
	}
	for (const char *from = bytes; len > 0;) {
		const size_t inside = offset % CONTENTS_BLOCK;
		const size_t room = CONTENTS_BLOCK - inside, part = len < room ? len : room;
		if (offset - inside != c->at) {
			end_block(c);
			c->at = offset - inside;
		}
		memcpy(c->block + inside, from, part);
		c->dirty += part;
		from += part;
		offset += part;
		len -= part;
	}
}

void contents_end(struct contents *c, struct digest *d)
{
	if (c->holes)
		end_block(c);
	hash_final(&c->hash, d);
}
