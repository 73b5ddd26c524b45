//! Pages in many encodings, declared in a header, in the page, by a mark, wrongly, or not at all.

use std::fmt::Write as _;

use encoding_rs::Encoding;
use http::HeaderValue;

use crate::reply::Reply;

/// A page in some encoding and what is said about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CharsetCase {
    /// The encoding that the bytes are in.
    pub actual: &'static str,
    /// The charset named in the Content-Type header.
    pub header: Option<&'static str>,
    /// The charset named in a meta element.
    pub meta: Option<&'static str>,
    /// Whether the bytes begin with a byte order mark.
    pub mark: bool,
}

impl CharsetCase {
    /// Bytes in an encoding about which nothing is said.
    pub const fn undeclared(actual: &'static str) -> Self {
        Self {
            actual,
            header: None,
            meta: None,
            mark: false,
        }
    }

    #[must_use]
    pub const fn header(mut self, label: &'static str) -> Self {
        self.header = Some(label);
        self
    }

    #[must_use]
    pub const fn meta(mut self, label: &'static str) -> Self {
        self.meta = Some(label);
        self
    }

    #[must_use]
    pub const fn mark(mut self) -> Self {
        self.mark = true;
        self
    }

    /// The title of the page as a reader should see it.
    pub fn title(&self) -> &'static str {
        match self.actual {
            "shift_jis" | "euc-jp" | "iso-2022-jp" => "日本語のページです",
            "gbk" | "gb18030" => "中文网页的标题",
            "big5" => "中文網頁的標題",
            "windows-1251" | "koi8-r" => "Русская страница о погоде",
            "windows-1252" => "Café, Übergröße, naïve œuvre – 20 €",
            _ => "Zażółć gęślą jaźń — 日本語 🦀",
        }
    }

    fn text(&self) -> &'static str {
        match self.actual {
            "shift_jis" | "euc-jp" | "iso-2022-jp" => {
                "これは日本語で書かれた文章です。天気がよいので、川のそばを歩きました。"
            }
            "gbk" | "gb18030" => "这是一个用中文写的网页。今天天气很好，我们去河边散步。",
            "big5" => "這是一個用中文寫的網頁。今天天氣很好，我們去河邊散步。",
            "windows-1251" | "koi8-r" => {
                "Это страница на русском языке. Сегодня хорошая погода, и мы гуляли у реки."
            }
            "windows-1252" => "Le café était fermé, où l’on mangeait des œufs à la crème brûlée.",
            _ => "Pchnąć w tę łódź jeża lub ośm skrzyń fig; größer, œuvre, 天気。",
        }
    }

    pub(crate) fn reply(&self) -> Reply {
        let kind = match self.header {
            Some(label) => format!("text/html; charset={label}"),
            None => "text/html".to_owned(),
        };
        let kind = HeaderValue::from_str(&kind).unwrap_or(HeaderValue::from_static("text/html"));
        Reply::typed(kind, self.bytes())
    }

    fn bytes(&self) -> Vec<u8> {
        let mut html = String::from(if self.mark { "\u{feff}" } else { "" });
        html.push_str("<!doctype html><html><head>");
        if let Some(label) = self.meta {
            let _ = write!(html, "<meta charset=\"{label}\">");
        }
        let _ = write!(html, "<title>{}</title></head><body>", self.title());
        // Detectors need some text to judge by.
        let paragraph = format!("<p>{}</p>\n", self.text());
        html.push_str(&paragraph.repeat(8));
        html.push_str("<p><a href=\"/\">home</a></p></body></html>\n");
        encode(&html, self.actual)
    }
}

fn encode(text: &str, label: &str) -> Vec<u8> {
    match label {
        "utf-16le" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        "utf-16be" => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        _ => {
            let encoding = Encoding::for_label(label.as_bytes()).unwrap_or(encoding_rs::UTF_8);
            encoding.encode(text).0.into_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::Encoding;

    use super::CharsetCase;

    #[test]
    fn titles_survive_their_encoding() {
        for label in [
            "shift_jis",
            "euc-jp",
            "gbk",
            "big5",
            "windows-1251",
            "koi8-r",
            "windows-1252",
            "utf-16le",
            "utf-8",
        ] {
            let case = CharsetCase::undeclared(label);
            let encoding = Encoding::for_label(label.as_bytes()).unwrap();
            let bytes = case.bytes();
            let (text, _, damaged) = encoding.decode(&bytes);
            assert!(!damaged && text.contains(case.title()), "{label}");
        }
    }
}
