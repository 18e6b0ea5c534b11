"""An adviser's state as bytes, read back without running anything that the bytes might say.

A pickle can name any function of any module, and loading it calls them. Here only the names in `ADMITTED`
are looked up: what the strategies of this package were seen to need. Anything else is refused, and the
caller goes without the cache.
"""

from __future__ import annotations

import io
import pickle
import zlib
from importlib.metadata import version
from typing import Any

import numpy as np
import sklearn

ADMITTED = frozenset(
    {
        ("cellworth.complete.committee_completer", "CommitteeCompleter"),
        ("cellworth.complete.gaussian.posterior", "Calibration"),
        ("cellworth.complete.gaussian.completer", "GaussianCompleter"),
        ("cellworth.complete.gaussian.dense", "DenseGaussian"),
        ("cellworth.complete.gaussian.factor", "FactorGaussian"),
        ("cellworth.complete.gaussian.margins", "Margins"),
        ("cellworth.complete.gaussian.posterior", "Cells"),
        ("cellworth.complete.gaussian.posterior", "FittedGaussian"),
        ("cellworth.complete.gaussian.posterior", "Posterior"),
        ("cellworth.complete.lmafit", "LMaFitCompleter"),
        ("cellworth.complete.nnls", "NNLSCompleter"),
        ("cellworth.complete.scaling", "Scaling"),
        ("cellworth.complete.supervised", "SupervisedCompleter"),
        ("numpy", "dtype"),
        ("numpy", "ndarray"),
        # NumPy 1 has `core` where NumPy 2 has `_core`.
        ("numpy.core.multiarray", "_reconstruct"),
        ("numpy.core.multiarray", "scalar"),
        ("numpy.core.numeric", "_frombuffer"),
        ("numpy._core.multiarray", "_reconstruct"),
        ("numpy._core.multiarray", "scalar"),
        ("numpy._core.numeric", "_frombuffer"),
    }
)
"""Classes and functions, by module and name, that a cache may name."""


WORTH_SHRINKING = 32_000_000
"""Bytes. Fitted floats shrink by a third, at a second for each 30 MB: larger caches would delay the ask."""


def freeze(content: dict[str, Any]) -> bytes:
    """Return plain containers, arrays and fitted completers as compressed bytes."""
    frozen = pickle.dumps((_versions(), content), protocol=5)
    return zlib.compress(frozen, level=1 if len(frozen) <= WORTH_SHRINKING else 0)


def thaw(blob: bytes) -> dict[str, Any] | None:
    """Return what `freeze` froze; None if it is damaged, of another version, or names anything else."""
    try:
        versions, content = _Reader(io.BytesIO(zlib.decompress(blob))).load()
    except Exception:  # whatever is wrong with a cache, the log has everything
        return None
    return content if versions == _versions() and isinstance(content, dict) else None


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in ADMITTED:
            raise pickle.UnpicklingError(f"{module}.{name} is not admitted")
        return super().find_class(module, name)


def _versions() -> tuple[str, ...]:
    """Return the versions that decide whether a fitted completer can be used again."""
    return version("cellworth"), np.__version__, sklearn.__version__
