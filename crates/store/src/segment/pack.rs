//! Which records go into a frame together. Pages of a site share most of their markup, which is then
//! stored once and takes little time to compress; what is read alone costs the frame up to it. Pure.

use super::Record;

/// A frame takes records until it has as many bytes; a longer record is a frame of its own.
pub(crate) const FRAME_BYTES: usize = 4 << 20;

/// Records that are compressed together, one after the other.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) records: Vec<Record>,
    /// Which records they are, and where each begins.
    pub(crate) members: Vec<(usize, u32)>,
}

/// All records in groups, those of a host and kind beside each other.
pub(crate) fn groups(records: Vec<Record>) -> Vec<Group> {
    let mut order: Vec<usize> = (0..records.len()).collect();
    order.sort_by_key(|number| records[*number].family());
    let lengths: Vec<usize> = records.iter().map(Record::len).collect();
    let mut records: Vec<Option<Record>> = records.into_iter().map(Some).collect();
    let mut rest = order.as_slice();
    let mut groups = Vec::new();
    while !rest.is_empty() {
        let (these, others) = rest.split_at(first_group(rest, &lengths));
        groups.push(Group::of(these, &mut records));
        rest = others;
    }
    groups
}

/// How many records fit into one group; one at least.
fn first_group(order: &[usize], lengths: &[usize]) -> usize {
    let mut bytes = 0;
    let fits = |number: &&usize| {
        bytes += lengths[**number];
        bytes <= FRAME_BYTES
    };
    order.iter().take_while(fits).count().max(1)
}

impl Group {
    fn of(numbers: &[usize], records: &mut [Option<Record>]) -> Self {
        let mut group = Self {
            records: Vec::with_capacity(numbers.len()),
            members: Vec::with_capacity(numbers.len()),
        };
        let mut start = 0;
        for number in numbers {
            if let Some(record) = records[*number].take() {
                group.members.push((*number, start));
                start += record.len() as u32;
                group.records.push(record);
            }
        }
        group
    }
}

#[cfg(test)]
mod tests {
    use trawl_types::UnixMillis;

    use super::{super::warc, *};

    fn record(url: &str, length: usize) -> Record {
        warc::encode(url, UnixMillis(0), 200, [], vec![b'x'; length].into())
    }

    fn members(groups: &[Group]) -> Vec<Vec<usize>> {
        let numbers = |group: &Group| group.members.iter().map(|(n, _)| *n).collect();
        groups.iter().map(numbers).collect()
    }

    #[test]
    fn records_of_a_host_and_kind_lie_beside_each_other_in_the_order_they_came() {
        let conversion = warc::encode_content("http://a.test/1", UnixMillis(0), b"{}".to_vec());
        let records = [
            record("http://b.test/1", 9),
            record("http://a.test/2", 9),
            conversion,
            record("http://a.test/1", 9),
        ];
        let groups = groups(records.to_vec());
        assert_eq!(members(&groups), [[2, 1, 3, 0]]);
        let bytes: Vec<_> = groups[0].records.iter().map(Record::bytes).collect();
        let plain = bytes.concat();
        for (number, start) in &groups[0].members {
            let there = &plain[*start as usize..];
            assert!(there.starts_with(&records[*number].bytes()));
        }
    }

    #[test]
    fn a_group_ends_before_it_grows_too_long_and_a_long_record_is_alone() {
        let half = FRAME_BYTES / 2;
        let records = [
            record("http://a.test/", half),
            record("http://a.test/", half),
            record("http://b.test/", 3 * FRAME_BYTES),
            record("http://c.test/", 1),
        ];
        assert_eq!(
            members(&groups(records.to_vec())),
            [vec![0], vec![1], vec![2], vec![3]]
        );
        assert!(groups(Vec::new()).is_empty());
    }
}
