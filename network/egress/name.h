/* Names against rules, and names as DNS writes them.
 *
 * Pure, no allocation. What a canonical name is, spec/name.h says. Matching goes by whole labels: a
 * wildcard *.ok.example takes a.ok.example and a.b.ok.example, neither ok.example nor xok.example.
 */
#ifndef PINFOLD_NETWORK_EGRESS_NAME_H
#define PINFOLD_NETWORK_EGRESS_NAME_H

#include "spec/egress.h"
#include "spec/name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A name in wire form (RFC 1035 3.1): labels with their lengths and the empty label, exactly len bytes
 * (255 at most), no compression. The root has no name: NAME_EMPTY. A label that holds a dot or any
 * other byte that is not of a host name is NAME_CHARACTER, NAME_CONTROL or NAME_NOT_ASCII, never a
 * boundary. NAME_LABEL_LONG also where it is not well formed. *n is untouched unless NAME_GOOD. */
enum name_fault name_read_wire(struct name *n, const unsigned char *wire, size_t len);

/* The same bytes as text for a report, whatever they are: printable ASCII as it is, dots and
 * backslashes inside labels as \. and \\, all else as \DDD (RFC 1035 5.1); "." is the root. */
enum { NAME_SHOWN_BYTES = 4 * 255 + 1 };
void name_show_wire(char shown[NAME_SHOWN_BYTES], const unsigned char *wire, size_t len);

/* Whether a rule of names, whatever its ports, is about n. False for a block. */
bool name_matches(const struct name *n, const struct egress_rule *r);

/* The resolver's question: is there any rule for this name? */
bool name_allowed(const struct name *n, const struct egress_list *list);

/* The rule that decides a connection to n: of those that match and have the port the most
 * particular, an exact name first, then the longest wildcard. NULL: none. */
const struct egress_rule *name_find_rule(const struct name *n, const struct egress_list *list,
					 enum egress_transport t, uint16_t port);

#endif
