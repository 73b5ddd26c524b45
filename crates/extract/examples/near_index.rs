//! Measures the near-duplicate index: `cargo run --release -p trawl-extract --example near_index`.
//! Arguments: how many fingerprints (5,000,000), and how many bits may differ (3).

use std::time::Instant;

use trawl_extract::fingerprint::{Fingerprint, NearIndex, near_fingerprint};

fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut value = *state;
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .filter_map(|text| text.parse().ok());
    let count: u64 = arguments.next().unwrap_or(5_000_000);
    let distance = arguments.next().unwrap_or(3) as u32;
    let mut state = 1;
    let mut index = NearIndex::new(distance);
    let start = Instant::now();
    for id in 0..count {
        index.insert(id, Fingerprint(random(&mut state)));
    }
    let per_insert = start.elapsed().as_nanos() / u128::from(count.max(1));
    println!("{count} fingerprints, distance {distance}");
    println!("insert: {per_insert} ns each");
    let bytes = index.memory();
    println!(
        "memory: {} MB, {:.1} bytes each",
        bytes / 1_000_000,
        bytes as f64 / count as f64
    );
    measure_queries(&index, count, distance);
    measure_fingerprints();
}

/// Half of the queries are near something, half are not.
fn measure_queries(index: &NearIndex, count: u64, distance: u32) {
    let mut state = 1;
    let (mut times, mut found) = (Vec::new(), 0);
    for number in 0..count.min(200_000) {
        let mut print = Fingerprint(random(&mut state));
        if number % 2 == 0 {
            for bit in 0..distance {
                print.0 ^= 1 << ((number + u64::from(bit) * 17) % 64);
            }
        } else {
            print.0 = print.0.rotate_left(31) ^ 0x5555;
        }
        let start = Instant::now();
        found += u64::from(index.nearest(print).is_some());
        times.push(start.elapsed().as_nanos());
    }
    times.sort_unstable();
    let at = |share: f64| {
        times
            .get((times.len() as f64 * share) as usize)
            .copied()
            .unwrap_or(0) as f64
            / 1000.0
    };
    println!(
        "query: median {:.1} us, 99 % {:.1} us, worst {:.1} us; {found} found",
        at(0.5),
        at(0.99),
        at(0.999_999)
    );
}

fn measure_fingerprints() {
    let mut state = 2;
    let words: Vec<String> = (0..200_000)
        .map(|_| format!("word{}", random(&mut state) % 5000))
        .collect();
    let text = words.join(" ");
    let start = Instant::now();
    let print = near_fingerprint(&text);
    let speed = text.len() as f64 / start.elapsed().as_secs_f64() / 1e6;
    println!("fingerprint: {speed:.0} MB/s ({print:x?})");
}
