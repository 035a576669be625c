git clone https://code.example.org/x.git  # FIND: shell.network
cd x && git submodule update --init  # FIND: shell.network
