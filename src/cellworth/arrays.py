"""Array type aliases for the whole package."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating]
"""float32 or float64; kernels keep the precision of their input."""

Float64Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.intp]
"""Indices and counts."""

Int64Array = NDArray[np.int64]
"""Exact amounts, in whole units."""

AnyArray = NDArray[Any]
