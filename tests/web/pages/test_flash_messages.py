"""Notes wait for their browser, and not for ever."""

from cellworth.web.pages import flash_messages
from cellworth.web.pages.flash_messages import FlashMessages, Note


def test_a_note_is_for_one_browser():
    notes = FlashMessages()
    key = notes.keep("a", Note("done"))
    assert notes.find("a", key) == Note("done")
    assert notes.find("b", key) is None
    assert notes.find("a", "other") is None
    assert notes.find("", "") is None


def test_the_oldest_are_forgotten_first(monkeypatch):
    monkeypatch.setattr(flash_messages, "MOST", 3)
    notes = FlashMessages()
    keys = [notes.keep("a", Note(str(k))) for k in range(5)]
    assert [notes.find("a", key) is not None for key in keys] == [False, False, True, True, True]


def test_old_notes_are_not_shown(monkeypatch):
    monkeypatch.setattr(flash_messages, "SECONDS", -1.0)
    notes = FlashMessages()
    assert notes.find("a", notes.keep("a", Note("done"))) is None
