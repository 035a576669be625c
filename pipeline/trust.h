/* Archives that were fetched without a declared digest: the digest that was seen first counts. */
#ifndef PINFOLD_PIPELINE_TRUST_H
#define PINFOLD_PIPELINE_TRUST_H

#include "base/err.h"

/* 1: the digest is the one that is recorded for the url; 0: none was, and this one is from now on.
 * -1 and *e: another is recorded, or the file "archives" in dir cannot be read or written. It has a
 * line "DIGEST URL" for each. */
int trust_archive(int dir, const char *url, const char *digest, struct err *e);

#endif
