//! Any text as a seed and as a link. The first byte chooses the normalisation rules, a line feed
//! separates base and link.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trawl_rules::Normaliser;
use trawl_types::{CrawlUrl, HostKey, KeySecret, spec::NormaliseSpec};

fuzz_target!(|data: &[u8]| {
    let Some((&flags, rest)) = data.split_first() else {
        return;
    };
    let text = String::from_utf8_lossy(rest);
    let normaliser = normaliser(flags);
    let (base, href) = text.split_once('\n').unwrap_or((&text, ""));
    let Ok(base) = normaliser.seed(base) else {
        return;
    };
    check(&normaliser, &base);
    if let Ok(joined) = normaliser.join(base.address(), href) {
        check(&normaliser, &joined);
    }
});

fn normaliser(flags: u8) -> Normaliser {
    let spec = NormaliseSpec {
        strip_www: flags & 1 == 0,
        strip_trailing_slash: flags & 2 == 0,
        ignore_scheme: flags & 4 == 0,
        upgrade_https: flags & 8 != 0,
        ..NormaliseSpec::default()
    };
    Normaliser::new(&spec, KeySecret([7; 16]))
}

/// What holds for every URL that came out of normalisation.
fn check(normaliser: &Normaliser, url: &CrawlUrl) {
    let address = url.address();
    assert!(address.fragment().is_none(), "{address} has a fragment");
    assert!(address.username().is_empty() && address.password().is_none());
    assert!(HostKey::of(address).is_some());

    let again = normaliser.seed(address.as_str());
    let again = again.unwrap_or_else(|reason| panic!("{address} refused at second sight: {reason}"));
    assert_eq!(again.address(), address, "an address changes when read again");
    assert_eq!(again.key(), url.key(), "{address} has two keys");

    let identity = normaliser.identity(address);
    let same = normaliser.seed(&identity);
    let same = same.unwrap_or_else(|reason| panic!("identity {identity} refused: {reason}"));
    assert_eq!(normaliser.identity(same.address()), identity, "normalising twice of {address}");
    assert_eq!(same.key(), url.key(), "{identity} is another page than {address}");
}
