"""Behind nginx, configured as the documentation says."""

import os
import re
import shutil
import socket
import subprocess
from pathlib import Path

import httpx
import pytest

from cellworth.web.security.tokens import add_token
from tests.campaign.campaigns import make_table
from tests.conftest import need
from tests.web.servers import begin, serving, until

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "behind-a-proxy.md"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A server that asks for tokens, and a token."""
    folder = tmp_path_factory.mktemp("proxied")
    store = f"sqlite:///{folder}/study.db"
    begin(store, make_table(), strategy="random")
    token = add_token(folder / "tokens.json", who="Ann", role="manage")
    with serving(store, "--tokens", str(folder / "tokens.json")) as server:
        yield server.url, token


def proxy(folder, text):
    """Run nginx with a server block, and return it once it listens."""
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    need(program is not None, "nginx: apt-get install nginx")
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    user = "user root;\n" if os.getuid() == 0 else ""  # or its workers could not write there
    config = folder / "nginx.conf"
    config.write_text(
        f"{user}daemon off;\npid {folder}/pid;\nerror_log stderr;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{places}{text}\n}}\n"
    )
    words = [program, "-p", str(folder), "-c", str(config), "-e", "stderr"]
    return subprocess.Popen(words, stderr=subprocess.PIPE, text=True)


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def is_listening(port):
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(params=[True, False], ids=["as documented", "without Host"])
def proxied(request, served, tmp_path):
    """The address of the proxy, and whether it passes the Host on."""
    (text,) = re.findall(r"```nginx\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    port = free_port()
    text = re.sub(r"ssl_certificate.*;", "", text.replace("listen 443 ssl;", f"listen 127.0.0.1:{port};"))
    text = text.replace("http://127.0.0.1:8000", served[0])
    assert "proxy_set_header Host" in text
    if not request.param:
        text = re.sub(r"proxy_set_header Host.*;", "", text)
    process = proxy(tmp_path, text)
    try:
        until(lambda: is_listening(port) or process.poll() is not None)
        assert process.poll() is None, process.stderr.read()
        yield f"http://127.0.0.1:{port}", request.param
    finally:
        process.terminate()
        process.wait(10)
        process.stderr.close()


def test_pages_programs_and_news_behind_nginx(proxied, served):
    url, passes = proxied
    headers = {"Authorization": f"Bearer {served[1]}", "Origin": url}
    path = f"{url}/api/v1/campaigns/study"
    with httpx.Client(headers=headers, timeout=30) as client:
        sent = client.post(f"{path}/clock", json={}, headers={"X-Request-ID": "mine"})
        if not passes:
            assert sent.status_code == 403
            assert "let it pass the Host on, or serve with --public-url" in sent.json()["detail"]
            return
        assert sent.status_code == 200, sent.text
        large = {"answers": ("a.csv", b"row,column,value\n" + b",,\n" * 700_000)}  # 2.1 MB
        assert client.post(f"{path}/tell-file", files=large).status_code in (200, 422)
        too_large = {"answers": ("a.csv", b"x" * 53_000_000)}  # nginx itself refuses more than 50 MiB
        assert client.post(f"{path}/tell-file", files=too_large).status_code == 413
        with client.stream("GET", f"{url}/campaigns/study/events") as stream:
            lines = stream.iter_lines()
            assert next(lines) == "retry: 2000"  # nothing waits for a buffer to fill
        form = client.get(f"{url}/login", headers={"Accept": "text/html"})
        assert form.status_code == 200
