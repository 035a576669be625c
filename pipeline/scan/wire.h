/* Between the scanner and its jailed reader: orders with the bytes of a file one way, records of
 * one size the other way. Pipes both; whoever wrote the bytes may speak for the reader by now, so
 * that all that it says is checked (wire_check()).
 */
#ifndef PINFOLD_PIPELINE_SCAN_WIRE_H
#define PINFOLD_PIPELINE_SCAN_WIRE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WIRE_NAME = 256,
	WIRE_INNER = 512,
	WIRE_DETAIL = 256,
	WIRE_HOST = 256,
	WIRE_SOURCE = 256,
	/* Of one file. */
	WIRE_RECORDS_MAX = 2000,
};

enum order_kind {
	ORDER_FILE = 1,
	ORDER_SARIF, /* another analyser's log */
};

/* size bytes of the file follow. */
struct order {
	uint32_t kind;
	uint32_t size;
	char name[WIRE_NAME];	/* the last component */
	char folder[WIRE_NAME]; /* the one that it is in; "" at the root */
};

/* READY is the first of all: the jail is shut. */
enum record_kind { RECORD_READY, RECORD_FINDING, RECORD_FOREIGN, RECORD_LANGUAGE, RECORD_DONE };

struct record {
	uint32_t kind;
	uint32_t rule;	   /* FINDING: its number in the table; LANGUAGE: of which */
	uint32_t severity; /* FOREIGN */
	uint32_t line, column, end_line, end_column, caret, caret_len;
	uint32_t bytes;		/* LANGUAGE: that many of it were read */
	char inner[WIRE_INNER]; /* FINDING: "" or "!/member"; FOREIGN: the path */
	char detail[WIRE_DETAIL];
	char host[WIRE_HOST]; /* FOREIGN: the analyser */
	char source[WIRE_SOURCE];
	char id[WIRE_NAME]; /* FOREIGN */
};

/* Whether every number is in range and every text ends; text of more than one line is none. */
bool wire_check(const struct record *r, size_t rules, size_t languages);

/* As much as fits, with a NUL; never half a character of UTF-8 at the end. */
void wire_text(char *to, size_t size, const char *from, size_t len);

#endif
