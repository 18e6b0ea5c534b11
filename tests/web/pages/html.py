"""Reads pages as a browser without script would: texts, links, and forms that can be sent."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"col", "meta", "br", "img", "link", "input", "hr"}


@dataclass
class Form:
    """A form: where it goes, and its fields as they stand."""

    action: str
    method: str
    fields: dict = field(default_factory=dict)
    controls: dict = field(default_factory=dict)


class Page(HTMLParser):
    """Parses a page strictly: tags must match, and nothing is inline code or style."""

    def __init__(self, text):
        super().__init__()
        self.open, self.forms, self.links, self.texts, self.ids = [], [], [], [], []
        self.labels, self.described, self.focus = {}, [], None
        self._form = self._select = None
        self.feed(text)
        self.close()
        assert self.open == []
        assert len(self.ids) == len(set(self.ids)), "an id is there twice"
        missing = set(self.labels) | set(self.described)
        assert missing <= set(self.ids), f"no element has the id {missing - set(self.ids)}"

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())

    def form(self, action, **fields):
        """Return the first form that goes somewhere and has these values in its fields."""
        for form in self.forms:
            if form.action.endswith(action) and fields.items() <= form.fields.items():
                return form
        raise AssertionError(f"no form goes to {action} with {fields}")

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        assert not [name for name in named if name.startswith("on") or name == "style"]
        if "id" in named:
            self.ids.append(named["id"])
        self.described += named.get("aria-describedby", "").split() + named.get("aria-labelledby", "").split()
        if tag == "label" and "for" in named:
            self.labels[named["for"]] = True
        if "autofocus" in named:
            self.focus = named.get("id")
        if tag == "a":
            self.links.append(named.get("href"))
        if tag == "form":
            self._form = Form(named.get("action", ""), named.get("method", "get"))
            self.forms.append(self._form)
        if self._form is not None and named.get("name"):
            before = self._form.controls.get(named["name"], {"values": []})
            values = [*before["values"], named.get("value")]
            self._form.controls[named["name"]] = {"tag": tag, **named, "options": [], "values": values}
            unticked = named.get("type") in ("checkbox", "radio") and "checked" not in named
            if named.get("type") != "file" and not unticked and tag != "button":
                self._form.fields[named["name"]] = named.get("value", "")
            self._select = self._form.controls[named["name"]] if tag == "select" else None
        if tag == "option" and self._select is not None:
            self._select["options"].append(named.get("value"))
            if "selected" in named:
                self._form.fields[self._select["name"]] = named.get("value", "")
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag
        if tag == "form":
            self._form = None

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            return
        if self._form is not None and self.open and self.open[-1] == "textarea":
            self._form.fields[next(reversed(self._form.controls))] = data.removeprefix("\n")
        self.texts.append(data)
