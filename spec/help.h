/* Texts made from the key table: --help, the completion for bash, the options of the manual page.
 * All are malloc'ed and NULL when memory is out.
 */
#ifndef PINFOLD_SPEC_HELP_H
#define PINFOLD_SPEC_HELP_H

/* `pinfold COMMAND --help`, for "run" and "explain": lines of at most 80 columns. */
char *spec_help_text(const char *command);

/* A script for bash that completes `pinfold`. */
char *spec_completion_text(void);

/* The options as man(7) macros: a subsection a group, a tagged paragraph an option. */
char *spec_man_text(void);

#endif
