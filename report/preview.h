/* What kept artifacts look like, out of the folder that they were kept in.
 *
 * For a process whose root is that folder and that may open files there and nothing else: no link is
 * followed, regular files only, and a file is shown if all of its bytes are those whose digest the
 * result tells. Bounded in bytes, for one file and for all. A text is shown by its head; a PNG whole,
 * if its structure is that of one, it is small, has not too many pixels, and does not move. Image data
 * are not decompressed here: who looks at the page does that, so pixels are bounded for all of it.
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
	PREVIEW_PIXELS_SUM_MAX = 24 << 20,
};

/* What is left for a page. images: whether they are shown at all. */
struct preview_budget {
	size_t texts, images, bytes, pixels;
	bool pictures;
	struct arena *arena;
};
void preview_begin(struct preview_budget *b, bool images, struct arena *a);

/* folder: of the artifacts. A file that cannot be shown says why in its row: nothing fails. */
void preview_artifacts(struct run_told *run, int folder, struct preview_budget *b);
/* The same for each stage of a job: folder has one of the stage's own, by its name. */
void preview_stages(struct report *report, int folder, struct preview_budget *b);

#endif
