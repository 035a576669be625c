/* rows KIND < OUTPUT: what the reader of that kind makes of it, as it stands in KIND-NAME.rows. */
#include "pipeline/diagnostics/diagnostics.h"

#include <stdio.h>

int main(int argc, char **argv)
{
	static char bytes[DIAGNOSTICS_BYTES_MAX + 1];
	static struct diagnostics d;
	const int kind = argc == 2 ? diagnostics_kind_of(argv[1]) : -1;
	if (kind < 0) {
		fputs("usage: rows KIND < OUTPUT\n", stderr);
		return 1;
	}
	diagnostics_read(&d, (enum diagnostics_kind)kind, bytes,
			 fread(bytes, 1, sizeof(bytes), stdin));
	for (uint32_t i = 0; i < d.len; i++) {
		const struct diagnostic *row = &d.rows[i];
		printf("%s|%s|%u|%u|%s|%s\n", severity_names[row->severity], row->file, row->line,
		       row->column, row->code, row->message);
	}
	return 0;
}
