"""What commands print, for people and for programs."""

import json


def test_a_json_document_holds_names_in_any_script(study):
    (study.folder / "t.csv").write_text("id,größe,y\nä,1.5,0\nβ,,1\nc,2.5,1\n")
    done = study("init", "t.csv", "--target", "y", "--row-id", "id", "--json")
    assert done.out.isascii()
    assert json.loads(done.out)["columns"][0]["name"] == "größe"
