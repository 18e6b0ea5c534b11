import io

from cellworth.progress import ProgressLine, in_words


def test_a_line_of_progress_covers_the_one_before():
    stream = io.StringIO()
    line = ProgressLine("work", 2, stream)
    line.show(1, "a long note")
    line.show(2)
    first, last = stream.getvalue().strip("\r\n").split("\r")
    assert len(last) == len(first)
    assert [in_words(s) for s in (8.4, 65, 7320)] == ["8 s", "1 min 05 s", "2 h 02 min"]
