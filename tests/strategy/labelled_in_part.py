"""Tables that lack labels, in row blocks and in memory."""

import numpy as np
import pytest

from tests.strategy.test_block_batch import both_of, make_frame

pa = pytest.importorskip("pyarrow")


def frame_without_labels(seed=0, n=160, kind="two", lacking=0.5):
    """Return a table some of whose labels are missing: two classes, three as texts, or numbers."""
    rng = np.random.default_rng(seed)
    frame = make_frame(rng, n)
    base = rng.normal(size=n)
    labels = {
        "two": (base > 0).astype(int),
        "three": np.array(["ill", "sick", "well"])[np.digitize(base, [-0.6, 0.6])],
        "number": (20 + 3 * base).round(2),
    }[kind]
    weight = 70 + 8 * base + rng.normal(size=n)
    mask = rng.random(n) < lacking
    frame = frame.set_column(
        frame.schema.get_field_index("weight"), "weight", pa.array(weight, mask=rng.random(n) < 0.4)
    )
    found = pa.array(labels.tolist(), mask=mask)
    return frame.set_column(frame.schema.get_field_index("ill"), "ill", found)


def both_without_labels(folder, block_rows=37, said=None, **how):
    """Return such a table in row blocks and in memory."""
    return both_of(folder, frame_without_labels(**how), block_rows, **(said or {}))
