/* The records between sender and pid 1, and between an unpacker and the sender (relay.h). All are
 * ours and of one build: no byte order, no version. */
#ifndef PINFOLD_TRANSFER_STREAM_H
#define PINFOLD_TRANSFER_STREAM_H

#include <stdint.h>

enum stream_type {
	STREAM_INPUT =
		1, /* name: where to; mode: input_bits. What follows is one entry, or those of "." */
	STREAM_FOLDER, /* name, mode, time; then its entries and LEAVE */
	STREAM_LEAVE,
	STREAM_INLINE, /* a file without holes: size bytes follow */
	STREAM_FILE,   /* a file of that size: DATA and FILE_END follow */
	STREAM_DATA,   /* size bytes at offset follow */
	STREAM_FILE_END,
	STREAM_LINK,	  /* text: its target */
	STREAM_HARD_LINK, /* text: the first name, from the input's own on */
	STREAM_ENTER,	  /* of an archive: name is a folder that this input has made */
	STREAM_BACK,	  /* of an archive: out of a folder, whose mode and time LEAVE sets later */
	STREAM_END,
	STREAM_REFUSED, /* out of an unpacker alone, instead of END; text: why; mode: an err_kind */
};

enum stream_input_bits {
	STREAM_READ_ONLY = 1,
	STREAM_UNPACKED = 2, /* of two entries of one name the last one counts */
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
