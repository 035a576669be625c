/* Any bytes as the output of any tool: what comes out are rows whose every value is one. */
#include "pipeline/diagnostics/diagnostics.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct diagnostics found;
	struct err e = ERR_INIT;
	if (size == 0)
		return 0;
	const enum diagnostics_kind kind = (enum diagnostics_kind)(data[0] % DIAGNOSTICS_KINDS);
	diagnostics_read(&found, kind, (const char *)data + 1, size - 1);
	if (diagnostics_check(&found, &e) < 0)
		abort();
	return 0;
}
