import ctypes
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.linalg import cython_blas

from cellworth.complete.compiled import library
from cellworth.complete.compiled.library import address, kernels


@pytest.fixture
def forgotten():
    """Forget what was loaded, before the test and after it."""
    kernels.cache_clear()
    yield
    kernels.cache_clear()


@pytest.mark.usefixtures("compiled")
def test_both_precisions_are_there():
    assert set(kernels().passes) == {np.dtype("f8"), np.dtype("f4")}


def test_the_switch_leaves_them_out(forgotten, monkeypatch):
    monkeypatch.setenv("CELLWORTH_COMPILED", "0")
    assert kernels() is None


def test_a_library_that_does_not_load_is_left_out(forgotten, monkeypatch, tmp_path):
    (tmp_path / "broken.so").write_bytes(b"not a library")
    monkeypatch.setattr(library, "library_name", lambda: str(tmp_path / "broken.so"))
    assert kernels() is None


def test_a_library_of_other_sources_is_named(forgotten, monkeypatch, tmp_path):
    monkeypatch.setattr(library, "library_name", lambda: str(tmp_path / "kernels-new.so"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kernels() is None  # nothing was ever compiled there
    kernels.cache_clear()
    (tmp_path / "kernels-old.so").write_bytes(b"")
    with pytest.warns(UserWarning, match="compiled.build"):
        assert kernels() is None


def test_a_scipy_with_other_signatures_is_refused(monkeypatch):
    other = SimpleNamespace(__pyx_capi__={"dgemm": cython_blas.__pyx_capi__["dsyrk"]})
    monkeypatch.setattr(library, "cython_blas", other)
    with pytest.raises((LookupError, OSError)):
        library.Kernels(library.Path(ctypes.__file__).with_name("missing.so"))
    with pytest.raises(LookupError, match="signature"):
        library.pointer(other, "dgemm", library.GEMM, "d")


def test_an_address_is_that_of_the_first_number():
    A = np.arange(6.0)
    assert ctypes.c_double.from_address(address(A[2:])).value == 2
