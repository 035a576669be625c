import ctypes
from ctypes import CDLL as load

libc = ctypes.CDLL(None)  # FIND: python.ffi
other = load("./helper.so")  # FIND: python.ffi
libc.syscall(39)  # FIND: python.ffi
