"""The next cell of a row by REST."""

from tests.web.servers import api, problem


def test_the_next_cell_of_a_new_row_and_of_one_of_the_table(study, http):
    sent = http.post(api(study.name, "next"), json={"values": {"age": 61}, "budget": 20})
    assert sent.status_code == 200, sent.text
    step = sent.json()
    assert sum(step["probabilities"].values()) - 1 < 1e-6
    assert "age" not in [cell["column"] for cell in step["cells"]]
    assert step["price"] <= 20
    assert not step["stop"]
    told = http.post(api(study.name, "next"), json={"row": "p5", "error_cost": 0, "free": ["hue"]}).json()
    assert told["row"] == "p5"
    assert told["take"] in (["hue"], [])
    found = http.post(api(study.name, "undecided"), json={"error_cost": 100})
    assert found.json() == []  # all rows have labels
    problem(http.post(api(study.name, "next"), json={"values": {"agee": 61}, "budget": 20}), 422)
    problem(http.post(api(study.name, "next"), json={"values": {"age": 61}}), 422)
    problem(http.post(api(study.name, "next"), json={"budget": -1}), 422)
    problem(http.post(api("nobody", "next"), json={"budget": 1}), 404)
