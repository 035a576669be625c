#!/bin/bash
$'\x65val' "ls" # FIND: shell.dynamic-code
e''val "ls" # FIND: shell.dynamic-code
e\val "ls" # FIND: shell.dynamic-code
"ev"al "ls" # FIND: shell.dynamic-code
$'\145\166al' ls # FIND: shell.dynamic-code
su''do rm x # FIND: shell.privilege
