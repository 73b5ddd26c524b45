"""Scrapy on one site: follows every link, keeps nothing. Arguments: start URL, requests at once."""

import sys

import scrapy
from scrapy.crawler import CrawlerProcess


class Peer(scrapy.Spider):
    name = "peer"

    def parse(self, response):
        yield from response.follow_all(css="a")


def main():
    url, at_once = sys.argv[1], int(sys.argv[2])
    Peer.start_urls = [url]
    process = CrawlerProcess(
        {
            "CONCURRENT_REQUESTS": at_once,
            "CONCURRENT_REQUESTS_PER_DOMAIN": at_once,
            "DOWNLOAD_DELAY": 0,
            "ROBOTSTXT_OBEY": False,
            "COOKIES_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "LOG_LEVEL": "CRITICAL",
        }
    )
    process.crawl(Peer)
    process.start()


main()
