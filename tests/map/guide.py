"""What docs/terrain.md says about the file is true: its views, their columns, its questions in SQL."""

import re
import sqlite3
from pathlib import Path

from program import expect_equal

GUIDE = Path("docs/terrain.md")


def check(folder: Path) -> None:
    text = GUIDE.read_text()
    database = sqlite3.connect(f"file:{folder}/map.db?mode=ro", uri=True)
    columns = documented_columns(text)
    assert len(columns) >= 11, f"the table of views was not found: {columns}"
    for view, names in columns.items():
        found = [row[1] for row in database.execute(f"PRAGMA table_info({view})")]
        expect_equal(f"columns of {view}", set(found), names)
    views = {name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'view'")}
    assert set(columns) <= views, set(columns) - views
    questions = re.findall(r"```sql\n(.*?)```", text, re.DOTALL)
    statements = [one for block in questions for one in block.split(";") if one.strip()]
    assert len(statements) >= 5, "the SQL was not found"
    for statement in statements:
        database.execute(statement).fetchall()
    database.close()
    print(f"   {len(columns)} views, {len(statements)} questions, SQLite {sqlite3.sqlite_version}")


def documented_columns(text: str) -> dict[str, set[str]]:
    """Rows such as "| `runs` | `id, url`, and `address` (as requested) |"."""
    found = {}
    for row in re.findall(r"^\| (`[a-z_`, ]+`) \| (.*`id,.*|.*`run_id,.*) \|$", text, re.MULTILINE):
        names = {name for quoted in re.findall("`([a-z_, ]+)`", row[1]) for name in quoted.split(", ")}
        found |= dict.fromkeys(re.findall("`([a-z_]+)`", row[0]), names)
    return found
