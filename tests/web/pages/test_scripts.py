"""What scripts load comes from here, and is kept."""


def test_plotly_comes_from_here_and_is_kept(ann):
    answer = ann.client.get("/static/plotly.min.js")
    assert answer.status_code == 200
    assert answer.headers["content-encoding"] == "gzip"
    assert b"plotly.js" in answer.content[:300]
    tag = answer.headers["etag"]
    assert ann.client.get("/static/plotly.min.js", headers={"If-None-Match": tag}).status_code == 304
