"""Files wait for their second request: not for others, not for ever, and not without limit."""

import asyncio

import pytest

from cellworth.errors import DataError
from cellworth.table.files import FileBytes
from cellworth.web.uploads import Uploads

FILE = FileBytes("a.csv", b"row,column,value\n", 1000)


def run(work, **limits):
    """Run a coroutine function of a store of uploads."""
    now = [0.0]

    async def all_of_it():
        uploads = Uploads(clock=lambda: now[0], **limits)
        try:
            return await work(uploads, now)
        finally:
            folder = uploads._folder
            await uploads.close()
            assert folder is None or not folder.exists()

    return asyncio.run(all_of_it())


def kept(uploads):
    """Return how many files are known, and check that those and no others are on disk."""
    assert {path.name for path in uploads._folder.iterdir()} == set(uploads._waiting)
    return len(uploads)


def test_a_file_comes_back_whole_and_again():
    async def work(uploads, now):
        key = await uploads.keep(FILE, campaign="study", who="Ann")
        assert uploads._folder.stat().st_mode & 0o077 == 0
        return [await uploads.get(key, campaign="study", who="Ann") for _ in range(2)]

    assert run(work) == [FILE, FILE]


@pytest.mark.parametrize(("campaign", "who"), [("study", "Bob"), ("other", "Ann"), ("study", None)])
def test_a_file_is_for_one_person_and_campaign(campaign, who):
    async def work(uploads, now):
        key = await uploads.keep(FILE, campaign="study", who="Ann")
        with pytest.raises(DataError, match="no longer on the server"):
            await uploads.get(key, campaign=campaign, who=who)
        return await uploads.get(key, campaign="study", who="Ann")

    assert run(work) == FILE


def test_nothing_waits_for_ever():
    async def work(uploads, now):
        old = await uploads.keep(FILE, campaign="study", who="Ann")
        now[0] = 50.0
        new = await uploads.keep(FILE, campaign="study", who="Ann")
        now[0] = 101.0
        with pytest.raises(DataError, match="Send it again"):
            await uploads.get(old, campaign="study", who="Ann")
        await uploads.get(new, campaign="study", who="Ann")
        assert kept(uploads) == 1
        await uploads.drop(new)
        await uploads.drop("../../etc/passwd")  # no such key
        return kept(uploads)

    assert run(work, longest_wait=100.0) == 0


def test_a_person_keeps_the_newest_few_of_each_campaign():
    async def work(uploads, now):
        of_bob = await uploads.keep(FILE, campaign="study", who="Bob")
        keys = [await uploads.keep(FILE, campaign="study", who="Ann") for _ in range(5)]
        assert kept(uploads) == 3
        for key in keys[:3]:
            with pytest.raises(DataError):
                await uploads.get(key, campaign="study", who="Ann")
        await uploads.get(of_bob, campaign="study", who="Bob")
        return [(await uploads.get(key, campaign="study", who="Ann")).name for key in keys[3:]]

    assert run(work, most_each=2) == ["a.csv", "a.csv"]


def test_all_of_them_together_have_a_limit():
    async def work(uploads, now):
        for who in range(10):
            newest = await uploads.keep(FILE, campaign="study", who=f"person {who}")
        assert uploads.size <= 40
        assert kept(uploads) == 2
        large = FileBytes("b.csv", b"x" * 100)
        key = await uploads.keep(large, campaign="study", who="Ann")  # the newest stays, whatever its size
        assert kept(uploads) == 1
        with pytest.raises(DataError):
            await uploads.get(newest, campaign="study", who="person 9")
        return await uploads.get(key, campaign="study", who="Ann")

    assert run(work, most_bytes=40).content == b"x" * 100
