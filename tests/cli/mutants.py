"""Damaged copies of a file, as keyboards, spreadsheets, mail programs and disks damage files."""

import codecs

JUNK = ["\0", '"', "'", ",", ";", "\t", "\r", "\n", "\r\n", "=", "é", "\ufeff", "\u2028", "9", "-", " ", "x"]
FIELDS = ["", "p1", "dose", "nonsense", "1e400", "-0.0", "nan", '""', "=1+1", "'=1+1", "1,5", "2024-02-30"]
ENCODINGS = ["utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1", "utf-7"]


def mutant(text, rng):
    """Return the bytes of a damaged copy of a text."""
    for _ in range(rng.integers(1, 4)):
        text = WAYS[rng.integers(len(WAYS))](text, rng)
    way = rng.integers(12)
    if way == 0:
        return text.encode(ENCODINGS[rng.integers(len(ENCODINGS))], errors="replace")
    content = text.encode()
    if way == 1:
        return codecs.BOM_UTF8 + content
    if way == 2 and content:
        place = rng.integers(len(content))
        return content[:place] + bytes([rng.integers(256)]) + content[place + 1 :]
    return content[: rng.integers(len(content) + 1)] if way == 3 else content


def _place(text, rng):
    return int(rng.integers(len(text) + 1))


def _delete_character(text, rng):
    place = _place(text, rng)
    return text[:place] + text[place + 1 :]


def _double_character(text, rng):
    place = _place(text, rng)
    return text[:place] + text[place : place + 1] + text[place:]


def _insert_junk(text, rng):
    place = _place(text, rng)
    return text[:place] + JUNK[rng.integers(len(JUNK))] + text[place:]


def _change_character(text, rng):
    return _insert_junk(_delete_character(text, rng), rng)


def _change_lines(text, rng, change):
    lines = text.split("\n")
    place = int(rng.integers(len(lines)))
    return "\n".join(lines[:place] + change(lines, place) + lines[place + 1 :])


def _delete_line(text, rng):
    return _change_lines(text, rng, lambda lines, place: [])


def _double_line(text, rng):
    return _change_lines(text, rng, lambda lines, place: [lines[place]] * 2)


def _copy_line(text, rng):
    return _change_lines(text, rng, lambda lines, place: [lines[place], lines[int(rng.integers(len(lines)))]])


def _change_fields(text, rng, change):
    def changed(lines, place):
        fields = lines[place].split(",")
        at = int(rng.integers(len(fields)))
        return [",".join(fields[:at] + change(fields[at]) + fields[at + 1 :])]

    return _change_lines(text, rng, changed)


def _delete_field(text, rng):
    return _change_fields(text, rng, lambda field: [])


def _double_field(text, rng):
    return _change_fields(text, rng, lambda field: [field, field])


def _replace_field(text, rng):
    return _change_fields(text, rng, lambda field: [FIELDS[rng.integers(len(FIELDS))]])


def _quote_field(text, rng):
    return _change_fields(text, rng, lambda field: [f'"{field}"'])


def _long_field(text, rng):
    return _change_fields(text, rng, lambda field: ["7" * int(10 ** rng.uniform(1, 5.3))])


def _line_ends(text, rng):
    return text.replace("\n", ["\r\n", "\r", "\n\n"][rng.integers(3)])


def _separators(text, rng):
    return text.replace(",", [";", "\t", ",,"][rng.integers(3)])


WAYS = [
    _delete_character,
    _double_character,
    _insert_junk,
    _change_character,
    _delete_line,
    _double_line,
    _copy_line,
    _delete_field,
    _double_field,
    _replace_field,
    _quote_field,
    _long_field,
    _line_ends,
    _separators,
]
