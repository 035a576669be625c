/* What a reader tries that was taken over. */
#ifndef PINFOLD_TESTS_ATTACK_HOSTILE_REPORT_H
#define PINFOLD_TESTS_ATTACK_HOSTILE_REPORT_H

/* "got" or "not"; NULL: no such try. */
const char *hostile_report_try(const char *what);

#endif
