; id: python.native-extension
; severity: warning
; message: builds or loads a native extension
; sandbox: A compiler runs, and what it makes is loaded into the interpreter as machine code.
((call function: (_) @name) @found
 (#resolves? @name "setuptools.Extension" "setuptools.extension.Extension" "distutils.core.Extension" "distutils.extension.Extension" "Cython.Build.cythonize" "pybind11.setup_helpers.Pybind11Extension" "torch.utils.cpp_extension.load" "torch.utils.cpp_extension.load_inline" "torch.utils.cpp_extension.CppExtension" "torch.utils.cpp_extension.CUDAExtension" "importlib.machinery.ExtensionFileLoader" "imp.load_dynamic" "cffi.FFI().set_source" "pyximport.install" "numpy.f2py.compile" "mypyc.build.mypycify"))
