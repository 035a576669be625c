/* Who may use which ids: /etc/subuid, /etc/subgid, and root's range for slots. */
#ifndef PINFOLD_RUNTIME_SUBID_H
#define PINFOLD_RUNTIME_SUBID_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct id_range {
	uint32_t first, count;
};

/* The largest range that file (/etc/subuid, /etc/subgid) gives the user, by name or number; count
 * is cut to 65,535. ERR_HOST with the line to add where there is none. */
int subid_own_range(const char *file, uint32_t uid, struct id_range *range, struct err *e);

/* Whether /etc/subuid or /etc/subgid gives any of [first, first + count) to anybody; true when in doubt. */
bool subid_delegated(uint32_t first, uint32_t count);

/* Root's range: 1879048192 (0x70000000), 4,096 slots of 65,536, above what systemd, shadow and the container
 * engines hand out; text (the caller's PINFOLD_ID_RANGE, may be NULL) is "FIRST:COUNT" and overrides. */
int subid_slot_range(struct id_range *range, const char *text, struct err *e);

#endif
