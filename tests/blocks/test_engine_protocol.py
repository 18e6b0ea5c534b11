from functools import reduce

from hypothesis import given
from hypothesis import strategies as st

from cellworth.blocks.engine_protocol import FAN_IN, in_groups, merge_in_tree, suitable_rows


@given(n=st.integers(1, 10**9), bytes_of_row=st.integers(4, 10**5), workers=st.integers(1, 200))
def test_a_block_leaves_room_for_the_work_on_it(n, bytes_of_row, workers):
    memory = 10**9
    rows = suitable_rows(n, bytes_of_row, memory, workers)
    assert 1 <= rows <= n
    assert rows == 1 or rows * bytes_of_row * 32 <= memory - 250 * 10**6


@given(n=st.integers(1, 700))
def test_results_are_merged_level_by_level_in_the_order_of_the_blocks(n):
    """As they come, in the tree that a cluster merges whole levels of."""

    def merge(a, b):
        return (a, b)

    level = list(range(n))
    while len(level) > 1:
        level = [reduce(merge, group) for group in in_groups(level)]
    taken = []
    assert merge_in_tree(merge, (taken.append(i) or i for i in range(n))) == level[0]
    assert taken == list(range(n))
    assert FAN_IN == 8
