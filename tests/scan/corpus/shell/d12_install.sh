set -e
apt-get install -y gcc  # FIND: shell.install
pip install numpy  # FIND: shell.install
python3 -m pip install --user scipy  # FIND: shell.install
npm install left-pad  # FIND: shell.install
