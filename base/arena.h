/* An arena: memory that lives as long as one run and is freed at once.
 *
 * Allocation cannot fail in a way that a caller must handle: when memory is out,
 * the process says so and aborts, which happens before anything was started
 * (the supervisor allocates nothing from an arena once the program runs).
 */
#ifndef PINFOLD_BASE_ARENA_H
#define PINFOLD_BASE_ARENA_H

#include <stddef.h>

struct arena_chunk;

struct arena {
	struct arena_chunk *head;
};

#define ARENA_INIT {.head = NULL}

/* Zeroed memory, aligned for any object. */
void *arena_alloc(struct arena *a, size_t size);
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t len);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void arena_free(struct arena *a);

#define autoarena __attribute__((cleanup(arena_free))) struct arena

#endif
