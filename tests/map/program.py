"""The programs under test, how they are run, and what a map's file says."""

import json
import sqlite3
import subprocess
from contextlib import contextmanager
from pathlib import Path


class Programs:
    """What cargo built, and a folder to work in that is empty at the start."""

    def __init__(self, target: Path):
        self.built = target / "debug"
        self.packages = target / "map-check" / "packages"
        self.kept = target / "map-check" / "screenshots"
        self.kept.mkdir(parents=True, exist_ok=True)

    def trawl_map(self, config: Path, *flags: str) -> str:
        """Runs `trawl map`; anything but success is a failed check."""
        return self._run(["trawl", "map", str(config), *flags])

    def big_map(self, pages: int, links: int, domains: int, folder: Path) -> None:
        folder.mkdir()
        self._run(["examples/big_map", str(pages), str(links), str(domains), str(folder)])

    def _run(self, command: list[str]) -> str:
        done = subprocess.run(
            [self.built / command[0], *command[1:]], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
        return done.stdout

    @contextmanager
    def test_web(self, *flags: str):
        """The test web while it is needed; gives what it says of itself."""
        process = subprocess.Popen(
            [self.built / "trawl-testweb", *flags], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.stdin.close()
            process.wait()


def write_config(folder: Path, port: int, lists: str, max_depth: int) -> Path:
    """A configuration for sites on loopback; nothing else can be contacted."""
    path = folder / "map.toml"
    path.write_text(f"""
[crawler]
max-depth = {max_depth}
max-concurrent-pages-open = 20
minimum-time-on-page = 100
max-domain-requests = 5000

[output]
database-path = "{folder}/map.db"
summary-path = "{folder}/summary.md"

[network]
upgrade-https = false
allow-networks = ["127.0.0.0/8"]
allow-ports = [{port}]
resolve = ["*.test=127.0.0.1"]
{lists}""")
    return path


def rows(folder: Path, sql: str) -> list[tuple]:
    """What the map's file answers, through its documented views."""
    database = sqlite3.connect(f"file:{folder}/map.db?mode=ro", uri=True)
    try:
        return database.execute(sql).fetchall()
    finally:
        database.close()


def expect_equal(name: str, found, expected) -> None:
    """Says where two sets or tables differ, not only that they do."""
    if found == expected:
        return
    if isinstance(found, dict):
        found, expected = set(found.items()), set(expected.items())
    lines = [f"{name} differ"]
    if isinstance(found, set):
        for title, some in (("only in the map", found - expected), ("missing in the map", expected - found)):
            lines += [f"  {title}: {len(some)}", *(f"    {one}" for one in sorted(some, key=str)[:20])]
    else:
        lines.append(f"  found {found}, expected {expected}")
    raise AssertionError("\n".join(lines))
