/* What the client says, as whoever is outside of its jail takes it. */
#include "rootfs/image/client.h"

#include "base/fd.h"

#include <errno.h>

int client_hear(int talk, size_t blobs_len, struct client_word *w, struct err *e)
{
	size_t none = 0;
	const int got = fd_recv(talk, w, sizeof(*w), NULL, &none);
	/* Gone with something unread is a reset. */
	if (got == 0 || (got < 0 && errno == ECONNRESET))
		return 0;
	if (got < 0)
		return err_sys(e, "the registry's client");
	w->why[sizeof(w->why) - 1] = '\0';
	const bool document = w->kind == WORD_DOCUMENT && w->type < MEDIA_TYPE_COUNT &&
			      w->size <= JSON_BYTES_MAX;
	const bool event = w->kind == WORD_EVENT && w->event < REGISTRY_EVENT_KINDS &&
			   (w->blob < blobs_len || w->blob == SIZE_MAX);
	return document || event ? 1 : err_bug(e, "the registry's client says what cannot be");
}
