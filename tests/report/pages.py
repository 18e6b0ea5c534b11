"""Reads a page as strictly as the tests need: tags that match, nothing fetched, texts by table."""

import base64
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

VOID = {"meta", "br", "img", "link", "input", "hr"}


class Strict(HTMLParser):
    """Notes tags that do not match, addresses that would be fetched, and texts; refuses inline code."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.addresses, self.alternatives = [], [], [], []
        self.texts, self.rows = [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        names = dict(attributes)
        self.addresses += [names[key] for key in ("src", "href", "srcset", "data", "action") if key in names]
        assert not [name for name in names if name.startswith("on") or name == "style"]
        if tag == "img":
            self.alternatives.append(names["alt"])
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "title"):
            self.texts.append(data)
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def read_page(path):
    """Assert that a page is well-formed and needs nothing else; return what was read, pictures as XML."""
    text = path.read_text(encoding="utf-8")
    reader = Strict()
    reader.feed(text)
    reader.close()
    assert reader.open == []
    assert all(address.startswith("data:image/svg+xml;base64,") for address in reader.addresses)
    assert not re.search(r"https?:|@import|url\(|javascript:", text)
    assert {"html", "head", "title", "style", "main", "section"} <= set(reader.tags)
    assert not {"script", "link", "iframe", "object", "embed"} & set(reader.tags)
    assert reader.tags.count("table") == reader.tags.count("caption")
    assert all(reader.alternatives)
    reader.pictures = [
        ElementTree.fromstring(base64.b64decode(each.partition(",")[2])) for each in reader.addresses
    ]
    for picture in reader.pictures:
        check_picture(picture)
    return reader


def check_picture(picture):
    """Assert that an SVG has no script and refers only to itself."""
    for element in picture.iter():
        assert not element.tag.endswith("}script")
        for name, value in element.attrib.items():
            if name.endswith("href"):
                assert value.startswith(("#", "data:image/png;base64,"))
            assert not name.startswith("on")
