//! Near texts have near fingerprints, and the index finds them.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use proptest::prelude::*;
use trawl_extract::fingerprint::{Fingerprint, NearIndex, near_fingerprint};

/// Numbers that look random and are the same every time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let mixed = (self.0 ^ (self.0 >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^ (mixed >> 32)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

const COMMON: [&str; 24] = [
    "the", "of", "and", "to", "in", "a", "is", "that", "for", "it", "was", "on", "with", "as",
    "be", "at", "by", "this", "from", "or", "are", "not", "an", "have",
];

/// Text in which, as in English, half of the words are a few common ones.
fn text(numbers: &mut Numbers, length: usize) -> Vec<String> {
    let word = |numbers: &mut Numbers| {
        if numbers.below(2) == 0 {
            COMMON[numbers.below(COMMON.len())].to_owned()
        } else {
            format!("word{}", numbers.below(3000))
        }
    };
    (0..length).map(|_| word(numbers)).collect()
}

fn print(words: &[String]) -> Fingerprint {
    near_fingerprint(&words.join(" ")).unwrap()
}

#[test]
fn a_few_words_changed_in_three_hundred_are_near() {
    let mut numbers = Numbers(1);
    let (mut within_three, mut within_six) = (0, 0);
    for _ in 0..500 {
        let original = text(&mut numbers, 300);
        let mut edited = original.clone();
        for edit in 0..3 {
            let at = numbers.below(edited.len());
            match edit {
                0 => edited[at] = "changed".to_owned(),
                1 => edited.insert(at, "added".to_owned()),
                _ => drop(edited.remove(at)),
            }
        }
        let distance = print(&original).distance(print(&edited));
        within_three += usize::from(distance <= 3);
        within_six += usize::from(distance <= 6);
    }
    assert!(within_three >= 425, "{within_three} of 500");
    assert!(within_six >= 490, "{within_six} of 500");
}

#[test]
fn one_change_in_a_long_text_is_near() {
    let mut numbers = Numbers(2);
    for _ in 0..100 {
        let original = text(&mut numbers, 2000);
        let mut edited = original.clone();
        edited[1000] = "2026-05-01".to_owned();
        assert!(print(&original).distance(print(&edited)) <= 3);
    }
}

#[test]
fn different_texts_are_far_even_with_the_same_phrases_around_them() {
    let mut numbers = Numbers(3);
    let template = text(&mut numbers, 40);
    let mut nearest = 64;
    for _ in 0..500 {
        let mut page = |length| {
            let mut words = template.clone();
            words.extend(text(&mut numbers, length));
            words
        };
        let (one, other) = (page(150), page(150));
        nearest = nearest.min(print(&one).distance(print(&other)));
    }
    assert!(nearest > 8, "{nearest}");
}

#[test]
fn case_and_punctuation_and_layout_do_not_count() {
    let words = text(&mut Numbers(4), 100);
    let plain = words.join(" ");
    let set = format!("# {}.\n\n", words.join(",\n").to_uppercase());
    assert_eq!(near_fingerprint(&plain), near_fingerprint(&set));
}

#[test]
fn short_and_repetitive_texts_have_none() {
    assert_eq!(near_fingerprint(""), None);
    assert_eq!(
        near_fingerprint("Page not found. Go back to the front page."),
        None
    );
    assert_eq!(near_fingerprint(&"again and again ".repeat(1000)), None);
    let words = text(&mut Numbers(5), 60).join(" ");
    assert!(near_fingerprint(&words).is_some());
}

#[test]
fn texts_without_spaces_are_compared_by_characters() {
    let mut numbers = Numbers(6);
    for first in [0x4e00_u32, 0x0e01] {
        let range = if first == 0x4e00 { 3000 } else { 40 };
        let original: Vec<char> = (0..300)
            .map(|_| char::from_u32(first + numbers.below(range) as u32).unwrap())
            .collect();
        let mut edited = original.clone();
        edited[150] = char::from_u32(first + 7).unwrap();
        let print = |text: &[char]| near_fingerprint(&text.iter().collect::<String>()).unwrap();
        assert!(print(&original).distance(print(&edited)) <= 3);
        let other: Vec<char> = original.iter().rev().copied().collect();
        assert!(print(&original).distance(print(&other)) > 8);
    }
}

#[test]
fn the_index_finds_the_nearest_and_the_first_of_equals() {
    let mut index = NearIndex::default();
    assert!(index.is_empty() && index.nearest(Fingerprint(0)).is_none());
    assert!(index.insert(7, Fingerprint(0b0011)));
    assert!(index.insert(8, Fingerprint(0b1100)));
    assert!(!index.insert(9, Fingerprint(0b1100)), "held already");
    assert_eq!(index.nearest(Fingerprint(0b1100)), Some((8, 0)));
    assert_eq!(index.nearest(Fingerprint(0)), Some((7, 2)));
    assert_eq!(index.nearest(Fingerprint(0b1111_0000)), None);
    assert_eq!(index.find_or_insert(10, Fingerprint(0b1110)), Some((8, 1)));
    assert_eq!(index.find_or_insert(11, Fingerprint(u64::MAX)), None);
    assert_eq!(
        index.find_or_insert(12, Fingerprint(u64::MAX)),
        Some((11, 0))
    );
    assert_eq!(index.len(), 3);
}

#[test]
fn the_index_agrees_with_looking_at_all() {
    for distance in [0, 3, 4, 6] {
        let mut numbers = Numbers(u64::from(distance) + 10);
        let mut index = NearIndex::new(distance);
        let mut all: Vec<Fingerprint> = Vec::new();
        for id in 0..20_000 {
            let print = Fingerprint(numbers.next());
            index.insert(id, print);
            all.push(print);
        }
        for _ in 0..2000 {
            let flips = numbers.below(9);
            let mut print = all[numbers.below(all.len())];
            for _ in 0..flips {
                print.0 ^= 1 << numbers.below(64);
            }
            let best = all
                .iter()
                .enumerate()
                .map(|(id, held)| (held.distance(print), id as u64))
                .min();
            let expected = best
                .filter(|(found, _)| *found <= distance)
                .map(|(found, id)| (id, found));
            assert_eq!(index.nearest(print), expected);
        }
    }
}

proptest! {
    #[test]
    fn any_text_has_the_same_fingerprint_twice(text in ".{0,400}") {
        prop_assert_eq!(near_fingerprint(&text), near_fingerprint(&text));
    }
}
