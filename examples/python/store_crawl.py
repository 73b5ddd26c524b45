"""Start a crawl as a job, read its results by cursor, and go on after a break.

    TRAWL_URL=http://127.0.0.1:8080 TRAWL_KEY=trawl_... python store_crawl.py https://example.org/ out

Writes pages to out/pages.ndjson and remembers in out/state.json how far it came. Stop it, or the
server, at any time and run the same command again: the job is the same one, and every page is
written once.
"""

import json
import os
import sys
import time
import uuid
from pathlib import Path

import httpx

BASE = os.environ.get("TRAWL_URL", "http://127.0.0.1:8080")
HEADERS = {"Authorization": f"Bearer {os.environ['TRAWL_KEY']}"}
MAX_PAGES = int(os.environ.get("MAX_PAGES", "1000"))


class Place:
    """Where we are. Pages and cursor must agree, so the cursor knows how long the file was."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.file = folder / "state.json"
        if self.file.exists():
            self.state = json.loads(self.file.read_text())
        else:
            # Kept before the job is made: a repeated request with it finds the same job.
            self.state = {"idempotency_key": str(uuid.uuid4()), "cursor": 0, "bytes": 0}
            self.save()
        self.pages = open(folder / "pages.ndjson", "a+b")
        self.pages.truncate(self.state["bytes"])

    def add(self, pages: list, cursor: int) -> None:
        for page in pages:
            self.pages.write(json.dumps(page).encode() + b"\n")
        self.pages.flush()
        self.state["cursor"] = cursor
        self.state["bytes"] = os.fstat(self.pages.fileno()).st_size
        self.save()

    def save(self) -> None:
        new = self.file.with_suffix(".new")
        new.write_text(json.dumps(self.state))
        new.replace(self.file)


def ask(client: httpx.Client, method: str, path: str, **more) -> dict:
    """A request that waits out a server that restarts or asks for patience."""
    while True:
        try:
            response = client.request(method, "/api/v1" + path, **more)
        except httpx.TransportError as error:
            print(f"{error or type(error).__name__}; trying again", file=sys.stderr)
            time.sleep(1)
            continue
        if response.status_code in (429, 503):
            time.sleep(int(response.headers.get("retry-after", "1")))
            continue
        if response.is_error:
            error = response.json()
            sys.exit(f"{error['code']}: {error['message']} (request {error['request_id']})")
        return response.json()


def main(seed: str, folder: str) -> None:
    place = Place(Path(folder))
    with httpx.Client(base_url=BASE, headers=HEADERS, timeout=30) as client:
        job = ask(
            client,
            "POST",
            "/spider/crawl",
            # What is to be read later has to be named now: a crawl keeps only what is asked for.
            params={"result_mode": "store", "include": "title,markdown"},
            json={"seed_urls": [seed], "max_pages": MAX_PAGES},
            headers={"Idempotency-Key": place.state["idempotency_key"]},
        )["job_id"]
        print(f"job {job}, from cursor {place.state['cursor']}", file=sys.stderr)
        while True:
            answer = ask(
                client,
                "GET",
                f"/jobs/{job}/results",
                params={"cursor": place.state["cursor"], "limit": 100, "include": "title,markdown"},
            )
            if answer["pages"]:
                place.add(answer["pages"], answer["cursor"])
            if not answer["has_more"]:
                # `status` was read before the results, so that nothing can have come in between.
                if answer["status"] in ("completed", "failed", "cancelled", "paused"):
                    break
                time.sleep(1)
        view = ask(client, "GET", f"/jobs/{job}")
    failed = f", {view['pages_failed']} failed" if view["partial"] else ""
    print(f"{view['status']} ({view['reason']}): {view['pages_crawled']} pages{failed}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
