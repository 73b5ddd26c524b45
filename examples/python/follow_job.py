"""Follow a job by server-sent events and reconnect without losing or repeating a page.

    TRAWL_URL=http://127.0.0.1:8080 TRAWL_KEY=trawl_... python follow_job.py JOB_ID

Any number of readers may follow a job; none of them slows it or ends it.
"""

import json
import os
import sys
import time

import httpx

BASE = os.environ.get("TRAWL_URL", "http://127.0.0.1:8080")
HEADERS = {"Authorization": f"Bearer {os.environ['TRAWL_KEY']}"}


def events(response: httpx.Response):
    """Pairs of id and message. Lines that begin with a colon keep the connection alive."""
    last_id, data = None, []
    for line in response.iter_lines():
        if line.startswith("data: "):
            data.append(line[6:])
        elif line.startswith("id: "):
            last_id = line[4:]
        elif line == "" and data:
            yield last_id, json.loads("\n".join(data))
            last_id, data = None, []


def main(job: str) -> None:
    last_id = None
    # The server sends a sign of life every 15 seconds: silence for a minute is a broken connection.
    timeout = httpx.Timeout(30, read=60)
    with httpx.Client(base_url=BASE, headers=HEADERS, timeout=timeout) as client:
        while True:
            headers = {"Last-Event-ID": last_id} if last_id else {}
            try:
                with client.stream("GET", f"/api/v1/jobs/{job}/events", headers=headers) as response:
                    if response.is_error:
                        response.read()
                        sys.exit(f"{response.status_code}: {response.json()['message']}")
                    for event_id, message in events(response):
                        if message["type"] == "page":
                            last_id = event_id
                            print(event_id, message["data"]["url"])
                            continue
                        stats = message["data"]
                        if stats["status"] in ("completed", "failed", "cancelled"):
                            print(f"{stats['status']}: {stats['pages_crawled']} pages", file=sys.stderr)
                            return
            except httpx.TransportError as error:
                print(f"{error or type(error).__name__}; reconnecting", file=sys.stderr)
            # A paused job, or a server that stops, ends the stream too: look again later.
            time.sleep(2)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
