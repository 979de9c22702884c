"""The matrix products of a training step and nothing else, by another library: rows per second.

usage: blas_side.py openblas|mkl      reads lines `NET WIDTH THREADS SECONDS` and answers each with a number
"""

import ctypes
import functools
import sys
import time
from pathlib import Path

import numpy

ROWS = 1024  # a batch of 256 rows, clean and three noised copies
ROW_MAJOR, AS_IS, TRANSPOSED = 101, 111, 112


def library(name):
    """The library's sgemm, and what sets its threads."""
    if name == "openblas":
        import scipy_openblas32

        blas = ctypes.CDLL(str(Path(scipy_openblas32.get_lib_dir()) / "libscipy_openblas.so"))
        return blas.scipy_cblas_sgemm, blas.scipy_openblas_set_num_threads
    found = sorted(Path(sys.prefix, "lib").glob("libmkl_rt.so*"))
    blas = ctypes.CDLL(str(found[0]))
    return blas.cblas_sgemm, blas.MKL_Set_Num_Threads


sgemm, set_threads = library(sys.argv[1])
generator = numpy.random.default_rng(1)


def matrix(rows, columns):
    return generator.standard_normal((rows, columns), dtype=numpy.float32)


def product(a, a_form, b, b_form, c, m, n, k):
    """c = a · b, with everything that ctypes needs made ready."""
    whole, real = ctypes.c_int, ctypes.c_float
    numbers = [whole(value) for value in (ROW_MAJOR, a_form, b_form, m, n, k)]
    place = lambda array: (ctypes.c_void_p(array.ctypes.data), whole(array.shape[1]))
    return functools.partial(sgemm, *numbers, real(1), *place(a), *place(b), real(0), *place(c))


@functools.cache
def step(net, width):
    hidden = 64 if width <= 64 else 256
    inner = 10 if net == "resmlp" else 2
    shapes = [(width, hidden)] + [(hidden, hidden)] * inner + [(hidden, width)]
    kept, products = [], []
    for index, (inputs, outputs) in enumerate(shapes):
        x, y, x_delta, y_delta = (matrix(ROWS, n) for n in (inputs, outputs, inputs, outputs))
        weights, gradient = matrix(inputs, outputs), matrix(inputs, outputs)
        products.append(product(x, AS_IS, weights, AS_IS, y, ROWS, outputs, inputs))
        if index > 0:
            products.append(product(y_delta, AS_IS, weights, TRANSPOSED, x_delta, ROWS, inputs, outputs))
        products.append(product(x, TRANSPOSED, y_delta, AS_IS, gradient, inputs, outputs, ROWS))
        kept.append((x, y, x_delta, y_delta, weights, gradient))
    return products, kept


for line in sys.stdin:
    net, width, threads, seconds = line.split()
    set_threads(int(threads))
    products, _ = step(net, int(width))
    calls, start, warm = 0, time.perf_counter(), False
    while True:
        for call in products:
            call()
        calls += 1
        passed = time.perf_counter() - start
        if not warm and passed > 0.1:
            calls, start, warm = 0, time.perf_counter(), True
        elif warm and passed > float(seconds):
            break
    print(round(ROWS * calls / (time.perf_counter() - start)), flush=True)
