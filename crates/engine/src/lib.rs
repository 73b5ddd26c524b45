//! The one pipeline: a crawl's life from seed to stored page.
