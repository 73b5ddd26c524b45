//! Bytes to charset, links, metadata, sitemaps: never fails, gives a value and warnings.
