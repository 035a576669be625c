/* What the caller gets of a stage: its artifacts and its two streams, copied out of the job's own folders. */
#ifndef PINFOLD_PIPELINE_HAND_BACK_H
#define PINFOLD_PIPELINE_HAND_BACK_H

#include "pipeline/stage_run.h"

/* The folder for all of it, which is empty or not there. -1 and *e (ERR_USAGE). */
int hand_back_open(const char *path, struct err *e);
/* Into a folder of it with the stage's name, and its number where there are more of it (0: there
 * are not); run->handed is that. -1 and *e: not all of it is there. */
int hand_back(struct stage_run *run, int dir, size_t number, struct arena *a, struct err *e);

#endif
