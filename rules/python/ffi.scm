; id: python.ffi
; severity: error
; message: calls machine code past the interpreter
; sandbox: Nothing of Python's own limits holds there; system calls are what the filter leaves.
((call function: (_) @name) @found
 (#resolves? @name "ctypes.CDLL" "ctypes.PyDLL" "ctypes.WinDLL" "ctypes.OleDLL" "ctypes.cdll.*" "ctypes.windll.*" "ctypes.pydll.*" "ctypes.pythonapi.*" "ctypes.CFUNCTYPE" "ctypes.PYFUNCTYPE" "ctypes.memmove" "ctypes.memset" "ctypes.string_at" "ctypes.cast" "ctypes.util.find_library" "ctypes.CDLL().*" "_ctypes.dlopen" "cffi.FFI" "cffi.FFI().dlopen" "numpy.ctypeslib.load_library" "llvmlite.binding.*"))
((attribute object: (_) @what attribute: (identifier) @member) @found
 (#resolves? @what "ctypes.cdll" "ctypes.windll" "ctypes.pythonapi") (#not-eq? @member "LoadLibrary"))
((call function: (attribute attribute: (identifier) @member)) @found
 (#any-of? @member "from_address"))
