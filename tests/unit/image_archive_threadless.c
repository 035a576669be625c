/* Archives once more, as an ordinary user where no thread may be started: a jail may forbid them. */
#define AS_USER 2
#include "tests/unit/image_archive.c"
