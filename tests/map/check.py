"""Runs every check of maps against other people's programs; says what failed."""

import shutil
import sys
import time
import traceback
from pathlib import Path

import browser
import documentation
import exports
import guide
from program import Programs


def main() -> int:
    target = Path(sys.argv[1]).resolve()
    programs = Programs(target)
    work = target / "map-check" / "work"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    checks = [
        ("the map of two real sites is that of a plain search", lambda: documentation.check(programs, work / "docs")),
        ("the guide says the truth about the file", lambda: guide.check(work / "docs")),
        ("networkx reads every export of them", lambda: exports.check(programs, work / "docs")),
        ("networkx reads every export of the test web, after two runs", lambda: exports.check_test_web(programs, work / "web")),
        ("a browser shows a summary with hostile text as text", lambda: browser.check_hostile(programs, work / "hostile")),
        ("a browser settles 2,000 domains and answers meanwhile", lambda: browser.check_large(programs, work / "large")),
    ]
    failed = 0
    for name, check in checks:
        start = time.monotonic()
        try:
            check()
        except Exception:  # the other checks are worth their results too
            failed += 1
            print(f"FAILED {name}\n{traceback.format_exc()}", flush=True)
        else:
            print(f"ok     {name} ({time.monotonic() - start:.0f} s)", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
