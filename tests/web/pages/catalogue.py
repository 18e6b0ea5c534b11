"""Collects the texts of the pages: ``python -m tests.web.pages.catalogue`` updates the catalogues.

It keeps each translation, adds new texts untranslated, drops old ones, and needs gettext's ``msgfmt``.
"""

import ast
import subprocess
from pathlib import Path

from jinja2 import Environment

PAGES = Path(__file__).parents[3] / "src" / "cellworth" / "web" / "pages"
LOCALE = PAGES / "locale"
HEADER = (
    'msgid ""\nmsgstr ""\n"Language: {language}\\n"\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
    '"Content-Transfer-Encoding: 8bit\\n"\n"Plural-Forms: nplurals=2; plural=(n != 1);\\n"\n'
)


def texts():
    """Return all texts, in the order of the files: a string, or a singular and a plural."""
    environment = Environment(
        extensions=["jinja2.ext.i18n", "jinja2.ext.do"], trim_blocks=True, lstrip_blocks=True
    )
    environment.newstyle_gettext = True
    found = {}
    for path in sorted((PAGES / "templates").glob("*.html")):
        for _, _, text in environment.extract_translations(path.read_text("utf-8")):
            parts = (text,) if isinstance(text, str) else tuple(each for each in text if each is not None)
            if parts:  # a text in a variable has none
                found[parts[0] if len(parts) == 1 else parts] = None
    for path in sorted(PAGES.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "message":
                found[ast.literal_eval(node.args[0])] = None
    return list(found)


def read(path):
    """Return the translations of a .po file by the text, or by the singular."""
    found, key, field = {}, None, None
    for line in path.read_text("utf-8").splitlines():
        word, _, rest = line.partition(" ")
        if word == "msgid":
            key, field = ast.literal_eval(rest), "msgid"
        elif word.startswith("msgstr"):
            found.setdefault(key, []).append(ast.literal_eval(rest))
            field = "msgstr"
        elif line.startswith('"') and field == "msgstr":
            found[key][-1] += ast.literal_eval(line)
    return found


def write(path, language, translations):
    """Write a .po file with all texts, translated as far as they are."""
    lines = [HEADER.format(language=language)]
    for text in texts():
        if isinstance(text, tuple):
            one, many = translations.get(text[0], ["", ""])
            lines.append(
                f"msgid {_quoted(text[0])}\nmsgid_plural {_quoted(text[1])}\n"
                f"msgstr[0] {_quoted(one)}\nmsgstr[1] {_quoted(many)}\n"
            )
        else:
            [translated] = translations.get(text, [""])
            lines.append(f"msgid {_quoted(text)}\nmsgstr {_quoted(translated)}\n")
    path.write_text("\n".join(lines), "utf-8")


def _quoted(text):
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def main():
    for path in LOCALE.glob("*/LC_MESSAGES/pages.po"):
        write(path, path.parents[1].name, read(path))
        subprocess.run(
            ["msgfmt", "--check-format", "-o", str(path.with_suffix(".mo")), str(path)], check=True
        )


if __name__ == "__main__":
    main()
