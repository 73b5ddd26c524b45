//! Numbers that are known without asking the database: those of hosts and pages are made of keyed
//! hashes. Pure.

use trawl_types::{HostId, KeySecret, PageId, UrlKey};

/// Numbers of pages fit into the integers of JSON's readers.
const URL_BITS: u32 = 37;
const HOST_BITS: u32 = 16;

/// Tables of pages have so many partitions: the first bits of a page's number.
pub(super) const PARTITIONS: usize = 16;

pub(super) fn partition_of(page: PageId) -> usize {
    (page.0 >> (URL_BITS + HOST_BITS - PARTITIONS.trailing_zeros())) as usize % PARTITIONS
}

/// The number of a host. Nobody can aim for another's without the secret.
pub(crate) fn host_id(secret: KeySecret, name: &str) -> HostId {
    let hash = secret.key(name, "").host >> 1;
    // Zero means the one before all.
    HostId(i64::try_from(hash).unwrap_or(i64::MAX).max(1))
}

/// The number that a page has unless others have it: it clusters by host.
pub(crate) fn first_choice(key: UrlKey) -> PageId {
    let host = key.host >> (64 - HOST_BITS);
    let url = key.url >> (64 - URL_BITS);
    PageId(((host << URL_BITS) | url) as i64)
}

/// The number to try after one that turned out to be another's.
pub(crate) fn next_choice(page: PageId) -> PageId {
    PageId((page.0 + 1) & ((1 << (URL_BITS + HOST_BITS)) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_cluster_by_host_and_fit_into_53_bits() {
        let key = |host, url| UrlKey { host, url };
        let last = first_choice(key(u64::MAX, u64::MAX));
        assert_eq!(last.0, (1 << 53) - 1);
        assert_eq!(next_choice(last), PageId(0));
        assert_eq!((partition_of(last), partition_of(PageId(0))), (15, 0));
        assert_eq!(
            partition_of(PageId(562_949_953_421_312)),
            1,
            "as the schema has it"
        );
        let one = first_choice(key(1 << 48, 0));
        assert_eq!(one.0 >> 37, 1);
        assert!(first_choice(key(1 << 48, u64::MAX)) < first_choice(key(2 << 48, 0)));
    }

    #[test]
    fn hosts_have_positive_numbers_that_depend_on_the_secret() {
        let (one, two) = (KeySecret([1; 16]), KeySecret([2; 16]));
        assert!(host_id(one, "a.test").0 > 0);
        assert_ne!(host_id(one, "a.test"), host_id(two, "a.test"));
    }
}
