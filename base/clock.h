/* The monotonic clock, which stands still while the host sleeps: for patience. Limits of a run go by runtime/deadline.h. */
#ifndef PINFOLD_BASE_CLOCK_H
#define PINFOLD_BASE_CLOCK_H

#include <stdint.h>

#define MS_NS 1000000LL

int64_t monotonic_ns(void);
int64_t monotonic_ms(void);

#endif
