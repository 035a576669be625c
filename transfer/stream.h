/* The records between sender and pid 1. Both are ours and of one build: no byte order, no version. */
#ifndef PINFOLD_TRANSFER_STREAM_H
#define PINFOLD_TRANSFER_STREAM_H

#include <stdint.h>

enum stream_type {
	STREAM_INPUT =
		1, /* name: where to; mode 1: read-only. What follows is one entry, or those of "." */
	STREAM_FOLDER, /* name, mode, time; then its entries and LEAVE */
	STREAM_LEAVE,
	STREAM_INLINE, /* a file without holes: size bytes follow */
	STREAM_FILE,   /* a file of that size: DATA and FILE_END follow */
	STREAM_DATA,   /* size bytes at offset follow */
	STREAM_FILE_END,
	STREAM_LINK,	  /* text: its target */
	STREAM_HARD_LINK, /* text: the first name, from the input's own on */
	STREAM_END,
};

/* The pipe's own size: larger ones make both ends wait longer for a busy processor, and gain nothing. */
enum { STREAM_SMALL = 32 << 10, STREAM_BUFFER = 64 << 10, STREAM_CHUNK = 1 << 20 };

struct stream_record {
	uint32_t type, mode;
	uint64_t size, offset;
	int64_t sec;
	uint32_t nsec;
	uint16_t name_len, text_len; /* both follow, in this order */
};

#endif
