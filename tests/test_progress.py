import io

import pytest

from cellworth.progress import ProgressLine, heard_by, in_words, portion, report


def test_a_line_of_progress_covers_the_one_before():
    stream = io.StringIO()
    line = ProgressLine("work", 2, stream)
    line.show(1, "a long note")
    line.show(2)
    first, last = stream.getvalue().strip("\r\n").split("\r")
    assert len(last) == len(first)
    assert [in_words(s) for s in (8.4, 65, 7320)] == ["8 s", "1 min 05 s", "2 h 02 min"]


def test_work_inside_work_is_heard_as_one_that_never_falls():
    heard = []
    with heard_by(heard.append):
        with portion(0.0, 0.5):
            report(0.5)
            report(0.1)  # begins again inside: nothing is taken back
            with portion(0.5, 1.0):
                report(0.5)
        with portion(0.5, 1.0):
            report(2.0)
    assert heard == [0.25, 0.375, 0.5, 1.0]
    report(0.5)  # nobody listens
    with portion(0.0, 1.0):
        report(0.5)
    assert len(heard) == 4


def test_what_fails_is_not_said_to_be_done():
    heard = []

    def work():
        with portion(0.0, 1.0):
            report(0.3)
            raise ValueError("no")

    with heard_by(heard.append), pytest.raises(ValueError, match="no"):
        work()
    assert heard == [0.3]
