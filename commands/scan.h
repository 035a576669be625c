/* The parts of pinfold-scan. */
#ifndef PINFOLD_COMMANDS_SCAN_H
#define PINFOLD_COMMANDS_SCAN_H

#include "pipeline/scan/scan.h"

/* Findings for people, on stdout: each with its line and a caret, and what they come to. */
void scan_print(const struct scan_report *r, size_t files);

#endif
