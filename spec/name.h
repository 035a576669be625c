/* Host names in one form: the same string for the decision, the resolver, SNI, Host and the report.
 *
 * Pure. Canonical is: letters, digits and inner hyphens (RFC 952, RFC 1123 2.1), lower case, labels of
 * 1 to 63, 253 bytes in all (RFC 1035 2.3.4), no dot at the end. Whatever else a resolver, a URL parser
 * or inet_aton(3) might take for an address is no name: 0x7f.1, 017700000001, 2130706433, 127.1.
 * Names that are not ASCII are refused: IDNA 2003, IDNA 2008 and UTS 46 map some of them to different
 * names, and an allowlist must not guess which one was meant; the xn-- form is one name everywhere.
 */
#ifndef PINFOLD_SPEC_NAME_H
#define PINFOLD_SPEC_NAME_H

#include <stdbool.h>
#include <stddef.h>

enum { NAME_BYTES_MAX = 253, NAME_LABEL_BYTES_MAX = 63 };

struct name {
	unsigned char len;	       /* 1 to NAME_BYTES_MAX */
	char text[NAME_BYTES_MAX + 1]; /* NUL-terminated */
};

enum name_fault {
	NAME_GOOD,
	NAME_EMPTY,
	NAME_TOO_LONG,	  /* more than 253 bytes without the last dot */
	NAME_LABEL_EMPTY, /* two dots, or one in front */
	NAME_LABEL_LONG,
	NAME_CONTROL, /* NUL, other control characters, space, DEL */
	NAME_NOT_ASCII,
	NAME_CHARACTER, /* any other that is no letter, digit, hyphen or dot */
	NAME_HYPHEN,	/* at the begin or end of a label */
	NAME_ADDRESS,	/* a plain IPv4 address, four decimal numbers */
	NAME_DISGUISED, /* its last label is a number: an address in another spelling */
	NAME_FAULT_COUNT,
};

/* The canonical form of len bytes of text; one dot at the end is dropped. Anything but NAME_GOOD
 * leaves *n untouched. Text need not be terminated, and a NUL in it is a fault like another. */
enum name_fault name_read(struct name *n, const char *text, size_t len);

/* A clause for a message: "two dots stand side by side". Never NULL. */
const char *name_fault_text(enum name_fault f);

bool name_equal(const struct name *a, const struct name *b);

#endif
