from setuptools import Extension, setup
from Cython.Build import cythonize

setup(
    name="fast",
    ext_modules=cythonize([  # FIND: python.native-extension
        Extension("fast", ["fast.pyx"]),  # FIND: python.native-extension
    ]),
)
