/* The names in a folder. An error on the way is no end: who took it for one would see fewer names than there are. */
#ifndef PINFOLD_BASE_DIR_H
#define PINFOLD_BASE_DIR_H

#include <dirent.h>

/* Takes fd, of a folder, or -1 from whoever could not open it; NULL with errno. */
DIR *dir_open(int fd);
/* The next entry but "." and ".."; NULL with errno 0 at the end, with another where the rest cannot be told. */
const struct dirent *dir_next(DIR *list);
/* Keeps errno. */
void dir_close(DIR **list);
#define autodir __attribute__((cleanup(dir_close))) DIR

#endif
