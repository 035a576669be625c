/* The files that a run names, compared by what they are and not by how they are spelled. */
#ifndef PINFOLD_COMMANDS_FILES_H
#define PINFOLD_COMMANDS_FILES_H

#include "base/err.h"
#include "spec/spec.h"

/* ERR_USAGE, with both options, where two of stdin, stdout, stderr, result, events, the spec and
 * the seccomp profile are one file and one of them is written: what the one writes would destroy or
 * mix with the other; also where two of them read one stream (a FIFO, the caller's stdin), or where
 * events or what is read share a FIFO with anything. To be called before anything is truncated.
 * What loses nothing may be shared: a file that is only read, a pipe for stdout and stderr, a
 * terminal, /dev/null. spec_file is that of --spec, NULL none.
 */
int files_check(const struct spec *s, const char *spec_file, struct err *e);

/* For a refusal, which is to write its documents all the same: takes result and events out of the spec where
 * that would destroy what the run reads, and events where they would destroy any other file of it. */
void files_spare(struct spec *s, const char *spec_file);

#endif
