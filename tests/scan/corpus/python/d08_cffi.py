from cffi import FFI

ffi = FFI()  # FIND: python.ffi
ffi.cdef("int getpid(void);")
lib = ffi.dlopen(None)  # FIND: python.ffi
print(lib.getpid())
