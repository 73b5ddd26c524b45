//! One lease to one outcome over HTTP: limits, decompression caps, address guard, proxies.
