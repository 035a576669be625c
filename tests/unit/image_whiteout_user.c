/* Whiteouts once more, as an ordinary user. */
#define AS_USER 1
#include "tests/unit/image_whiteout.c"
