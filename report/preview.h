/* What kept artifacts look like, out of the folder that they were kept in.
 *
 * For a process whose root is that folder and that may open files there and nothing else: no link
 * is followed, regular files only, and a file is shown if all of its bytes are those whose digest
 * the result tells. Bounded: PREVIEW_FILE_MAX for one file, PREVIEW_SUM_MAX for what is read in
 * all. A text is shown by its head; a PNG whole, if its structure is that of one, it is small, and
 * it has not too many pixels. Image data are not decompressed here: who looks at the page does
 * that.
 */
#ifndef PINFOLD_REPORT_PREVIEW_H
#define PINFOLD_REPORT_PREVIEW_H

#include "report/model.h"

enum {
	PREVIEW_FILE_MAX = 64 << 20,
	PREVIEW_SUM_MAX = 256 << 20,
	PREVIEW_TEXT_BYTES = 2048,
	PREVIEW_TEXTS_MAX = 64,
	PREVIEW_IMAGE_BYTES = 1 << 20,
	PREVIEW_IMAGES_MAX = 12,
	PREVIEW_SIDE_MAX = 4096,
};

/* folder: of the artifacts. A file that cannot be shown says why in its row: nothing fails. */
void preview_artifacts(struct run_told *run, int folder, bool images, struct arena *a);

#endif
