"""A PostgreSQL server of the tests' own: started on a free port of this machine, and removed afterwards."""

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path

USER = "cellworth"


def find_binaries():
    """Return the folder of PostgreSQL's programs, or None; Debian keeps them out of the path."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: float(folder.parent.name))
    on_path = shutil.which("initdb")
    folders += [Path(on_path).parent] if on_path else []
    return next((folder for folder in reversed(folders) if (folder / "initdb").exists()), None)


class Server:
    def __init__(self, binaries, parent=None):
        self.binaries = binaries
        self.folder = Path(tempfile.mkdtemp(prefix="cellworth-pg-", dir=parent))
        self.port = free_port()
        # The server refuses to run as root, so it runs as the user that Debian's package made for it.
        self.as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        if self.as_user:
            shutil.chown(self.folder, "postgres", "postgres")
        self._run(
            "initdb", "-D", self.data, "-U", USER, "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C"
        )
        rules = self.data / "pg_hba.conf"
        rules.write_text("host all guarded 127.0.0.1/32 scram-sha-256\n" + rules.read_text())
        self.start()

    @property
    def data(self):
        return self.folder / "data"

    def start(self):
        # Tests kill processes, and do not cut the power: what the system has taken is as good as on the disk.
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c fsync=off"
        options += f" -c unix_socket_directories={self.folder}"
        self._run("pg_ctl", "-D", self.data, "-w", "-l", self.folder / "log", "-o", options, "start")

    def stop(self, mode="fast"):
        self._run("pg_ctl", "-D", self.data, "-w", "-m", mode, "stop")

    def remove(self):
        try:
            self.stop("immediate")
        finally:
            shutil.rmtree(self.folder)

    def url(self, user=USER, port=None, database="postgres"):
        return f"postgresql://{user}@127.0.0.1:{port or self.port}/{database}"

    def execute(self, statement):
        import psycopg

        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute(statement)

    def clear(self):
        """Empty the database; this is faster than to make a new one."""
        self.end_sessions()
        self.execute("ALTER DATABASE postgres RESET ALL")
        self.execute("DROP SCHEMA public CASCADE")
        self.execute("CREATE SCHEMA public")

    def end_sessions(self):
        """End every other session, as an administrator would."""
        self.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = 'postgres' AND pid <> pg_backend_pid()"
        )

    def _run(self, program, *arguments):
        command = [*self.as_user, self.binaries / program, *arguments]
        subprocess.run(
            list(map(str, command)), check=True, cwd=self.folder, stdout=subprocess.DEVNULL, timeout=60
        )


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
