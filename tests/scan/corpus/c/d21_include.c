#include <stdio.h>
#include <../common/list.h>
#include </etc/shadow> // FIND: c.outside-file
