/* Who the sandbox is on the host: id maps, and the slots that keep concurrent runs of root apart.
 *
 * single   an ordinary user: one uid and one gid, the program's, mapped to the caller's. No helper.
 * range    an ordinary user with /etc/subuid: inner 0 is the caller, the rest the subordinate
 * range, by newuidmap and newgidmap. The program gets a kuid, and so per-user quotas, of its own.
 * slot     root: 65,536 ids out of a range that nobody else uses, one slot a run, held by an open
 * file description lock that the kernel frees with the last process. kuid 0 is never mapped.
 *
 * See user_namespaces(7), newuidmap(1), subuid(5), fcntl(2) on F_OFD_SETLK.
 */
#ifndef PINFOLD_RUNTIME_IDS_H
#define PINFOLD_RUNTIME_IDS_H

#include "base/err.h"
#include "spec/spec.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum ids_form { IDS_FORM_SINGLE, IDS_FORM_RANGE, IDS_FORM_SLOT };

struct id_map {
	uint32_t inside, outside, count;
};

struct ids {
	enum ids_form form;
	struct id_map uid_map[2], gid_map[2];
	unsigned uid_maps, gid_maps;
	uint32_t uid, gid;   /* the program's, inside */
	uint32_t kuid, kgid; /* the program's, on the host */
	int slot_lock;	     /* -1 unless a slot */
	bool groups_kept;    /* the caller's supplementary groups stay (single id) */
};

#define IDS_INIT {.slot_lock = -1}

/* Parent. Decides the form, takes a slot as root. ERR_USAGE for what cannot be had as asked (a
 * single id as root would be kuid 0; a uid that the map lacks), ERR_HOST with the way out.
 * slot_range: see subid_slot_range(). */
int ids_prepare(struct ids *ids, const struct spec *s, const char *slot_range, struct err *e);
void ids_close(struct ids *ids);

/* Parent: write the maps of the new namespace of pid (proc: fd of /proc/PID), read back. */
int ids_map(const struct ids *ids, pid_t pid, int proc, struct err *e);

/* "0 1879048192 65536", for explain and the ledger. */
void ids_describe(const struct ids *ids, char *buf, size_t size);

#endif
