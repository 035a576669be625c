#include "transfer/check.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const unsigned char signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};

enum { CHUNK_HEAD = 8, CHUNK_TAIL = 4, SIDE_MAX = 65535, PIXELS_MAX = 1 << 28 };

struct png {
	unsigned chunks;
	unsigned char colour; /* type */
	bool palette, data, data_over, end;
};

static uint32_t be32(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* PNG, annex D: the reflected polynomial 0xedb88320, over type and data. */
static uint32_t crc(const unsigned char *p, size_t len)
{
	uint32_t table[256], c = 0xffffffff;
	for (uint32_t n = 0; n < 256; n++) {
		table[n] = n;
		for (int k = 0; k < 8; k++)
			table[n] = table[n] & 1 ? 0xedb88320 ^ table[n] >> 1 : table[n] >> 1;
	}
	for (size_t i = 0; i < len; i++)
		c = table[(c ^ p[i]) & 0xff] ^ c >> 8;
	return ~c;
}

/* PNG, table 11.1: the depths that each colour type may have, as a bit set. */
static bool depth_fits(unsigned colour, unsigned depth)
{
	static const uint32_t depths[] = {
		[0] = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8 | 1 << 16,
		[2] = 1 << 8 | 1 << 16,
		[3] = 1 << 1 | 1 << 2 | 1 << 4 | 1 << 8,
		[4] = 1 << 8 | 1 << 16,
		[6] = 1 << 8 | 1 << 16,
	};
	return colour < sizeof(depths) / sizeof(*depths) && depth <= 16 &&
	       depths[colour] >> depth & 1;
}

static int on_header(struct png *png, const unsigned char *data, uint32_t len, struct err *e)
{
	if (len != 13)
		return err_usage(e, "IHDR has %u bytes, not 13", len);
	const uint32_t width = be32(data), height = be32(data + 4);
	if (width == 0 || height == 0 || width > SIDE_MAX || height > SIDE_MAX ||
	    (uint64_t)width * height > PIXELS_MAX)
		return err_usage(e, "%u by %u pixels", width, height);
	if (!depth_fits(data[9], data[8]))
		return err_usage(e, "colour type %u with depth %u", data[9], data[8]);
	if (data[10] != 0 || data[11] != 0 || data[12] > 1)
		return err_usage(e, "unknown compression, filter or interlace method");
	png->colour = data[9];
	return 0;
}

static int on_palette(struct png *png, uint32_t len, struct err *e)
{
	if (png->palette || png->data)
		return err_usage(e, "PLTE twice, or behind IDAT");
	if (png->colour == 0 || png->colour == 4 || len == 0 || len > 768 || len % 3)
		return err_usage(e, "PLTE does not fit");
	png->palette = true;
	return 0;
}

static int on_data(struct png *png, struct err *e)
{
	if (png->data_over)
		return err_usage(e, "IDAT chunks that are apart");
	if (png->colour == 3 && !png->palette)
		return err_usage(e, "IDAT without the palette that its colour type needs");
	png->data = true;
	return 0;
}

static int on_chunk(struct png *png, const unsigned char *type, uint32_t len, struct err *e)
{
	const unsigned char *data = type + 4;
	const bool first = png->chunks == 1, header = memcmp(type, "IHDR", 4) == 0;
	for (int i = 0; i < 4; i++)
		if (!((type[i] | 0x20) >= 'a' && (type[i] | 0x20) <= 'z'))
			return err_usage(e, "chunk %u: its type is no four letters", png->chunks);
	if (first != header)
		return err_usage(e, "IHDR is not the first chunk, or is there twice");
	if (header)
		return on_header(png, data, len, e);
	if (memcmp(type, "IDAT", 4) == 0)
		return on_data(png, e);
	png->data_over = png->data;
	if (memcmp(type, "PLTE", 4) == 0)
		return on_palette(png, len, e);
	if (memcmp(type, "IEND", 4) == 0) {
		png->end = true;
		return len == 0 && png->data ? 0 : err_usage(e, "IEND with data, or without IDAT");
	}
	/* An upper-case first letter is critical: a reader that does not know it cannot show the image. */
	return type[0] & 0x20 ? 0 : err_usage(e, "chunk %u: an unknown critical one", png->chunks);
}

int check_png(const struct checked *c, struct err *e)
{
	struct png png = {0};
	size_t at = sizeof(signature);
	if (c->len < sizeof(signature) || memcmp(c->bytes, signature, sizeof(signature)) != 0)
		return err_usage(e, "no PNG file");
	while (!png.end) {
		const unsigned char *p = c->bytes + at;
		if (c->len - at < CHUNK_HEAD + CHUNK_TAIL)
			return err_usage(e, "it ends without IEND");
		const uint32_t len = be32(p);
		if (len > c->len - at - CHUNK_HEAD - CHUNK_TAIL)
			return err_usage(e, "chunk %u is longer than the file", png.chunks + 1);
		if (++png.chunks > PNG_CHUNKS_MAX)
			return err_usage(e, "more than %d chunks", PNG_CHUNKS_MAX);
		if (crc(p + 4, 4 + (size_t)len) != be32(p + CHUNK_HEAD + len))
			return err_usage(e, "chunk %u: its CRC is wrong", png.chunks);
		if (on_chunk(&png, p + 4, len, e) < 0)
			return -1;
		at += CHUNK_HEAD + CHUNK_TAIL + len;
	}
	return at == c->len ? 0 : err_usage(e, "%zu bytes stand behind IEND", c->len - at);
}
