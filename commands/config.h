/* The configuration files of the host and of the user: see pinfold-config(5). */
#ifndef PINFOLD_COMMANDS_CONFIG_H
#define PINFOLD_COMMANDS_CONFIG_H

#include "base/err.h"
#include "spec/spec.h"

/* For spec_read_argv(): /etc/pinfold/config.json, then $XDG_CONFIG_HOME/pinfold/config.json. A file
 * that is not there is none. ERR_HOST: one that others could have written, or that cannot be read;
 * ERR_USAGE: what it says is wrong, with its place. */
int config_read(struct spec *s, struct err *e);

#endif
