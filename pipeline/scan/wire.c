#include "pipeline/scan/wire.h"

#include "pipeline/scan/scan.h"

#include <string.h>

static bool ends(const char *text, size_t size)
{
	return memchr(text, '\0', size) != NULL;
}

bool wire_check(const struct record *r, size_t rules, size_t languages)
{
	const bool texts = ends(r->inner, sizeof(r->inner)) && ends(r->detail, sizeof(r->detail)) &&
			   ends(r->host, sizeof(r->host)) && ends(r->source, sizeof(r->source)) &&
			   ends(r->id, sizeof(r->id));
	if (!texts || r->caret >= sizeof(r->source) || r->caret_len >= sizeof(r->source))
		return false;
	switch ((enum record_kind)r->kind) {
	case RECORD_FINDING:
		return r->rule < rules && (r->inner[0] == '\0' || r->inner[0] == '!');
	case RECORD_FOREIGN:
		return r->severity < SCAN_SEVERITIES && r->id[0] != '\0';
	case RECORD_LANGUAGE:
		return r->rule < languages;
	case RECORD_READY:
	case RECORD_DONE:
		return true;
	}
	return false;
}

void wire_text(char *to, size_t size, const char *from, size_t len)
{
	const char *nul = memchr(from, '\0', len);
	len = nul ? (size_t)(nul - from) : len;
	if (len > size - 1) {
		len = size - 1;
		for (int i = 0; i < 3 && len > 0 && ((unsigned char)from[len] & 0xc0) == 0x80; i++)
			len--;
	}
	memcpy(to, from, len);
	to[len] = '\0';
}
