/* How the rows of the policy tables are written. For policy*.c alone. */
#ifndef PINFOLD_SECCOMP_POLICY_ROWS_H
#define PINFOLD_SECCOMP_POLICY_ROWS_H

#define NAMES(...)   ((const char *const[]){__VA_ARGS__, NULL})
#define RULES(array) .rules = (array), .rules_len = sizeof(array) / sizeof((array)[0])
#define IN(n, array)         \
	{.arg = (n),         \
	 .mask = UINT32_MAX, \
	 .values = (array),  \
	 .values_len = sizeof(array) / sizeof((array)[0])}
#define MASKED(n, bits, array) \
	{.arg = (n),           \
	 .mask = (bits),       \
	 .values = (array),    \
	 .values_len = sizeof(array) / sizeof((array)[0])}

#endif
