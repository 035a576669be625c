/* Waiting in line for a slot (slots.h), with an eye on signals, the caller and the clock. */
#ifndef PINFOLD_RUNTIME_QUEUE_H
#define PINFOLD_RUNTIME_QUEUE_H

#include "runtime/run.h"
#include "runtime/slots.h"

/* Whether the spec asks for one. */
bool queue_wanted(const struct spec *s);

/* Wait for it. 0: have it; -1: none, and either the run is decided (cancelled, or refused as its
 * time in the queue is over) or *e says what is wrong. */
int queue_wait(struct run *run, struct lease *lease, struct err *e);

#endif
