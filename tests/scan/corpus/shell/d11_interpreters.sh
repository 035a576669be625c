python3 -c 'import os; os.getpid()'  # FIND: shell.dynamic-code
perl -e 'print 1'  # FIND: shell.dynamic-code
bash -c "$1"  # FIND: shell.dynamic-code
