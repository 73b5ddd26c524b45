//! Tag names as numbers, so that the scanner compares one integer instead of strings.
//!
//! Knows which elements switch the tokenizer out of the data state; knows nothing of attributes.

/// A tag name, lower-cased and packed: names of up to eight bytes are their bytes, the few longer
/// names that matter have small reserved numbers, every other long name is [`TagKey::OTHER`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TagKey(u64);

const fn pack(name: &str) -> TagKey {
    let bytes = name.as_bytes();
    let mut key = 0;
    let mut at = 0;
    while at < bytes.len() {
        key = (key << 8) | bytes[at].to_ascii_lowercase() as u64;
        at += 1;
    }
    TagKey(key)
}

macro_rules! tag_keys {
    ($($constant:ident = $name:literal),* $(,)?) => {
        impl TagKey { $(pub(crate) const $constant: TagKey = pack($name);)* }
    };
}

tag_keys! {
    A = "a", AREA = "area", ARTICLE = "article", ASIDE = "aside", BASE = "base", BODY = "body",
    BR = "br", FOOTER = "footer", FRAME = "frame", HEADER = "header", HTML = "html",
    IFRAME = "iframe", IMG = "img", LINK = "link", MAIN = "main", MATH = "math", META = "meta",
    NAV = "nav", NOEMBED = "noembed", NOFRAMES = "noframes", P = "p", SCRIPT = "script",
    STYLE = "style", SVG = "svg", TEMPLATE = "template", TEXTAREA = "textarea", TITLE = "title",
    XMP = "xmp", DESC = "desc", MI = "mi", MO = "mo", MN = "mn", MS = "ms", MTEXT = "mtext",
    B = "b", BIG = "big", CENTER = "center", CODE = "code", DD = "dd", DIV = "div", DL = "dl",
    DT = "dt", EM = "em", EMBED = "embed", H1 = "h1", H2 = "h2", H3 = "h3", H4 = "h4",
    H5 = "h5", H6 = "h6", HEAD = "head", HR = "hr", I = "i", LI = "li", LISTING = "listing",
    MENU = "menu", NOBR = "nobr", OL = "ol", PRE = "pre", RUBY = "ruby", S = "s",
    SMALL = "small", SPAN = "span", STRONG = "strong", STRIKE = "strike", SUB = "sub",
    SUP = "sup", TABLE = "table", TT = "tt", U = "u", UL = "ul", VAR = "var", FONT = "font",
    ABBR = "abbr", BDI = "bdi", BDO = "bdo", CITE = "cite", DEL = "del", DFN = "dfn",
    INS = "ins", KBD = "kbd", MARK = "mark", Q = "q", SAMP = "samp", TIME = "time",
    WBR = "wbr",
}

impl TagKey {
    pub(crate) const OTHER: TagKey = TagKey(0);
    pub(crate) const PLAINTEXT: TagKey = TagKey(1);
    pub(crate) const FOREIGN_OBJECT: TagKey = TagKey(2);
    pub(crate) const BLOCKQUOTE: TagKey = TagKey(3);
    pub(crate) const ANNOTATION_XML: TagKey = TagKey(4);

    /// The key of a name of any length and case.
    pub fn of(name: &[u8]) -> TagKey {
        if name.len() > 8 {
            return Self::of_long(name);
        }
        let packed = name.iter().fold(0, |key, byte| {
            (key << 8) | u64::from(byte.to_ascii_lowercase())
        });
        Self::of_packed(packed)
    }

    /// The key of up to eight bytes already lower-cased and packed.
    pub(crate) const fn of_packed(packed: u64) -> TagKey {
        // Names made of control characters must not pass for a reserved number.
        if packed <= 4 {
            Self::OTHER
        } else {
            TagKey(packed)
        }
    }

    pub(crate) fn of_long(name: &[u8]) -> TagKey {
        const LONG: [(&[u8], TagKey); 4] = [
            (b"plaintext", TagKey::PLAINTEXT),
            (b"foreignobject", TagKey::FOREIGN_OBJECT),
            (b"blockquote", TagKey::BLOCKQUOTE),
            (b"annotation-xml", TagKey::ANNOTATION_XML),
        ];
        let known = LONG
            .iter()
            .find(|(long, _)| name.eq_ignore_ascii_case(long));
        known.map_or(Self::OTHER, |&(_, key)| key)
    }

    /// How the content of this element is tokenised in HTML (not in SVG or MathML).
    pub(crate) fn content(self) -> Content {
        match self {
            Self::SCRIPT => Content::Script,
            Self::STYLE | Self::XMP | Self::IFRAME | Self::NOEMBED | Self::NOFRAMES => Content::Raw,
            Self::TITLE | Self::TEXTAREA => Content::Rcdata,
            Self::PLAINTEXT => Content::Plaintext,
            _ => Content::Data,
        }
    }

    /// Start tags that end SVG or MathML content wherever they appear in it.
    pub(crate) fn breaks_out_of_foreign_content(self) -> bool {
        matches!(
            self,
            Self::B
                | Self::BIG
                | Self::BLOCKQUOTE
                | Self::BODY
                | Self::BR
                | Self::CENTER
                | Self::CODE
                | Self::DD
                | Self::DIV
                | Self::DL
                | Self::DT
                | Self::EM
                | Self::EMBED
                | Self::H1
                | Self::H2
                | Self::H3
                | Self::H4
                | Self::H5
                | Self::H6
                | Self::HEAD
                | Self::HR
                | Self::I
                | Self::IMG
                | Self::LI
                | Self::LISTING
                | Self::MENU
                | Self::META
                | Self::NOBR
                | Self::OL
                | Self::P
                | Self::PRE
                | Self::RUBY
                | Self::S
                | Self::SMALL
                | Self::SPAN
                | Self::STRONG
                | Self::STRIKE
                | Self::SUB
                | Self::SUP
                | Self::TABLE
                | Self::TT
                | Self::U
                | Self::UL
                | Self::VAR
        )
    }

    /// Elements that do not separate words: `<b>Tra</b>wl` reads "Trawl".
    pub(crate) fn flows_within_a_word(self) -> bool {
        matches!(
            self,
            Self::A
                | Self::ABBR
                | Self::B
                | Self::BDI
                | Self::BDO
                | Self::BIG
                | Self::CITE
                | Self::CODE
                | Self::DEL
                | Self::DFN
                | Self::EM
                | Self::FONT
                | Self::I
                | Self::INS
                | Self::KBD
                | Self::MARK
                | Self::NOBR
                | Self::Q
                | Self::S
                | Self::SAMP
                | Self::SMALL
                | Self::SPAN
                | Self::STRIKE
                | Self::STRONG
                | Self::SUB
                | Self::SUP
                | Self::TIME
                | Self::TT
                | Self::U
                | Self::VAR
                | Self::WBR
        )
    }
}

/// The tokenizer state an element's start tag leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Data,
    Raw,
    Rcdata,
    Script,
    Plaintext,
}
