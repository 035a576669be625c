#include <stdio.h>
#include <../shared/list.h>
#include </etc/shadow> // FIND: c.outside-file
