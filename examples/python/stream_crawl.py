"""Crawl a site and handle its pages while the crawl runs.

    TRAWL_URL=http://127.0.0.1:8080 TRAWL_KEY=trawl_... python stream_crawl.py https://example.org/

The crawl belongs to this connection: when the script ends, the crawl ends too, and when the script
is slow, the crawl waits. Use store_crawl.py for crawls that must outlive their reader.
"""

import json
import os
import sys

import httpx

BASE = os.environ.get("TRAWL_URL", "http://127.0.0.1:8080")
HEADERS = {
    "Authorization": f"Bearer {os.environ['TRAWL_KEY']}",
}
MAX_PAGES = int(os.environ.get("MAX_PAGES", "100"))


def main(seed: str) -> None:
    # Between two pages of a polite crawl may lie minutes, so reads have no timeout.
    timeout = httpx.Timeout(30, read=None)
    with httpx.Client(base_url=BASE, headers=HEADERS, timeout=timeout) as client:
        request = client.stream(
            "POST",
            "/api/v1/spider/crawl",
            params={"result_mode": "stream", "include": "title,outcome,fetch_error"},
            json={"seed_urls": [seed], "max_pages": MAX_PAGES},
        )
        stats = None
        with request as response:
            if response.is_error:
                response.read()
                sys.exit(f"{response.status_code}: {response.json()['message']}")
            for line in response.iter_lines():
                if not line:  # a sign of life
                    continue
                message = json.loads(line)
                if message["type"] == "page":
                    page = message["data"]
                    print(page["depth"], page["url"], page.get("title") or page["outcome"])
                else:
                    stats = message["data"]
    # The figures are always the last line; without them the crawl was cut off.
    if stats is None:
        sys.exit("the stream broke off")
    print(
        f"{stats['pages_crawled']} pages, {stats['pages_failed']} failed: {stats['stop_reason']}",
        file=sys.stderr,
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
