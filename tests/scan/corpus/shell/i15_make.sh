make -j2 all
make check
tar -czf release.tgz build
