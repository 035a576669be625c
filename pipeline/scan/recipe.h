/* Files in which lines for a shell stand among others: Makefiles and Dockerfiles. Pure; any bytes. */
#ifndef PINFOLD_PIPELINE_SCAN_RECIPE_H
#define PINFOLD_PIPELINE_SCAN_RECIPE_H

#include <stdbool.h>
#include <stddef.h>

enum recipe { RECIPE_NONE, RECIPE_MAKE, RECIPE_DOCKER };

/* By the last component of its path. */
enum recipe recipe_of(const char *name);

/* What a shell is given, in place: every byte that stays is where it was, all others are blanks. A
 * Makefile's recipes, $(shell ...) and "name != ..." stay, and of its variables the first word, as
 * a shell would assign it; of a Dockerfile what follows RUN, with its here-documents. */
void recipe_reduce(enum recipe kind, char *text, size_t len);

#endif
