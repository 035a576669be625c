#include "base/dir.h"

#include "base/fd.h"

#include <errno.h>
#include <string.h>

DIR *dir_open(int fd)
{
	DIR *list = fd < 0 ? NULL : fdopendir(fd);
	if (!list)
		fd_close(&fd);
	return list;
}

const struct dirent *dir_next(DIR *list)
{
	const struct dirent *d;
	errno = 0;
	while ((d = readdir(list)))
		if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
			break;
	return d;
}

void dir_close(DIR **list)
{
	const int error = errno;
	if (*list)
		closedir(*list);
	*list = NULL;
	errno = error;
}
