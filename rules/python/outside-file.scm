; id: python.outside-file
; severity: warning
; message: touches files outside of the work folder
; sandbox: The host's are not there; the image's are read-only, and /scratch is what can be written.
((call function: (_) @name arguments: (argument_list . (_) @path)) @found
 (#resolves? @name "open" "builtins.open" "io.open" "os.open" "codecs.open" "os.listdir" "os.scandir" "os.walk" "os.remove" "os.unlink" "os.rename" "os.chmod" "os.chown" "os.makedirs" "os.mkdir" "os.rmdir" "os.symlink" "os.link" "os.stat" "os.readlink" "os.chdir" "os.access" "os.path.exists" "os.path.isfile" "os.path.isdir" "glob.glob" "glob.iglob" "pathlib.Path" "pathlib.PosixPath" "shutil.*" "sqlite3.connect" "numpy.load" "numpy.loadtxt" "pandas.read_*" "tarfile.open" "zipfile.ZipFile" "os.path.expanduser")
 (#outside? @path))
((call function: (_) @name arguments: (argument_list (_) (_) @path)) @found
 (#resolves? @name "shutil.copy*" "shutil.move" "os.rename" "os.symlink" "os.link" "os.replace")
 (#outside? @path))
((call function: (_) @name) @found
 (#resolves? @name "pathlib.Path.home" "shutil.chown" "os.chroot" "os.mknod"))
