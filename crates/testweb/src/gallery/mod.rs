//! Every behaviour once, under a fixed path, with the end that a crawl of it should come to.
//! The ends are named as the crawler names its outcomes; several that are right are parted by `|`.

mod bodies;
mod network;

use std::fmt::Write as _;

use crate::behaviour::Behaviour;

/// A piece of the gallery.
#[derive(Debug, Clone)]
pub struct GalleryEntry {
    /// Path to ask for, on any host.
    pub path: String,
    pub behaviour: Behaviour,
    /// What the path does.
    pub what: &'static str,
    /// Names of the outcomes that are right, parted by `|`.
    pub expected_outcome: &'static str,
    /// Where it is mounted; ends in `*` where it has paths below it.
    mount: String,
}

impl GalleryEntry {
    /// Whether an outcome of this name is right.
    pub fn expects(&self, outcome: &str) -> bool {
        self.expected_outcome
            .split('|')
            .any(|expected| expected == outcome)
    }
}

/// All pieces of the gallery, in a fixed order.
pub fn hostile_gallery() -> Vec<GalleryEntry> {
    let mut entries = network::entries();
    entries.extend(bodies::entries());
    entries
}

/// The gallery as paths and behaviours, with a page at `/hostile/` that links to each piece.
pub(crate) fn gallery_mounts() -> Vec<(String, Behaviour)> {
    let entries = hostile_gallery();
    let mut index =
        String::from("<!doctype html><title>Hostile gallery</title><h1>Gallery</h1><ul>\n");
    for entry in &entries {
        let _ = writeln!(
            index,
            "<li><a href=\"{}\">{}</a></li>",
            entry.path, entry.what
        );
    }
    index.push_str("</ul>\n");
    let mut mounts = vec![("/hostile/".to_owned(), Behaviour::page(index))];
    mounts.extend(
        entries
            .into_iter()
            .map(|entry| (entry.mount, entry.behaviour)),
    );
    mounts
}

/// An entry at `/hostile/<name>`; a `*` at the end of the name takes in all paths below.
fn entry(
    name: &str,
    behaviour: Behaviour,
    what: &'static str,
    expected_outcome: &'static str,
) -> GalleryEntry {
    let mount = format!("/hostile/{name}");
    let path = mount.trim_end_matches('*').to_owned();
    GalleryEntry {
        path,
        behaviour,
        what,
        expected_outcome,
        mount,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::hostile_gallery;

    #[test]
    fn every_piece_has_a_path_of_its_own() {
        let paths: HashSet<_> = hostile_gallery()
            .into_iter()
            .map(|entry| entry.path)
            .collect();
        assert_eq!(paths.len(), hostile_gallery().len());
        assert!(paths.len() > 90, "{}", paths.len());
    }
}
