//! Element names as an enum, and what HTML says about each kind of element.
//!
//! Names that change nothing about Markdown are all [`Tag::Other`].

use std::borrow::Cow;

macro_rules! tags {
    ($($tag:ident = $name:literal),* $(,)?) => {
        /// The elements the renderer tells apart.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(in crate::markdown) enum Tag { $($tag,)* Other, /// A text node.
            Text }

        impl Tag {
            fn of_lower(name: &str) -> Tag {
                match name { $($name => Tag::$tag,)* _ => Tag::Other }
            }
        }
    };
}

tags! {
    A = "a", Abbr = "abbr", Acronym = "acronym", Address = "address", Annotation = "annotation",
    Area = "area", Article = "article", Aside = "aside", Audio = "audio", B = "b", Base = "base",
    Big = "big", Blockquote = "blockquote", Body = "body", Br = "br", Button = "button",
    Canvas = "canvas", Caption = "caption", Center = "center", Cite = "cite", Code = "code",
    Col = "col", Colgroup = "colgroup", Datalist = "datalist", Dd = "dd", Del = "del",
    Details = "details", Dfn = "dfn", Dialog = "dialog", Dir = "dir", Div = "div", Dl = "dl",
    Dt = "dt", Em = "em", Embed = "embed", Fieldset = "fieldset", Figcaption = "figcaption",
    Figure = "figure", Font = "font", Footer = "footer", Form = "form", Frame = "frame",
    H1 = "h1", H2 = "h2", H3 = "h3", H4 = "h4", H5 = "h5", H6 = "h6", Head = "head",
    Header = "header", Hgroup = "hgroup", Hr = "hr", Html = "html", I = "i", Iframe = "iframe",
    Image = "image", Img = "img", Input = "input", Ins = "ins", Kbd = "kbd", Legend = "legend",
    Li = "li", Link = "link", Listing = "listing", Main = "main", Map = "map", Math = "math",
    Menu = "menu", Meta = "meta", Meter = "meter", Nav = "nav",
    Nobr = "nobr", Noembed = "noembed", Noframes = "noframes", Noscript = "noscript",
    Object = "object", Ol = "ol", Optgroup = "optgroup", Option = "option", P = "p",
    Param = "param", Plaintext = "plaintext", Pre = "pre", Progress = "progress", Q = "q",
    Rp = "rp", Rt = "rt", Rtc = "rtc", S = "s", Samp = "samp", Script = "script",
    Search = "search", Section = "section", Select = "select", Small = "small",
    Source = "source", Span = "span", Strike = "strike", Strong = "strong", Style = "style",
    Sub = "sub", Summary = "summary", Sup = "sup", Svg = "svg", Table = "table",
    Tbody = "tbody", Td = "td", Template = "template", Textarea = "textarea", Tfoot = "tfoot",
    Th = "th", Thead = "thead", Title = "title", Tr = "tr", Track = "track", Tt = "tt",
    U = "u", Ul = "ul", Var = "var", Video = "video", Wbr = "wbr", Xmp = "xmp",
}

impl Tag {
    /// The tag of a name in any case.
    pub(super) fn of(name: &str) -> Tag {
        let name = if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(name.to_ascii_lowercase())
        } else {
            Cow::Borrowed(name)
        };
        match Self::of_lower(&name) {
            Tag::Image => Tag::Img,
            tag => tag,
        }
    }

    /// Elements that never have content.
    pub(super) fn is_void(self) -> bool {
        use Tag::{
            Area, Base, Br, Col, Embed, Frame, Hr, Img, Input, Link, Meta, Param, Source, Track,
            Wbr,
        };
        matches!(
            self,
            Area | Base
                | Br
                | Col
                | Embed
                | Frame
                | Hr
                | Img
                | Input
                | Link
                | Meta
                | Param
                | Source
                | Track
                | Wbr
        )
    }

    /// Formatting elements: they survive the implied end of a block around them.
    pub(super) fn is_formatting(self) -> bool {
        use Tag::{B, Big, Code, Em, Font, I, Nobr, S, Small, Strike, Strong, Tt, U};
        matches!(
            self,
            B | Big | Code | Em | Font | I | Nobr | S | Small | Strike | Strong | Tt | U
        )
    }

    /// `<h1>` to `<h6>` as a number.
    pub(in crate::markdown) fn heading_level(self) -> Option<u8> {
        Some(match self {
            Tag::H1 => 1,
            Tag::H2 => 2,
            Tag::H3 => 3,
            Tag::H4 => 4,
            Tag::H5 => 5,
            Tag::H6 => 6,
            _ => return None,
        })
    }

    /// Lists with items.
    pub(in crate::markdown) fn is_list(self) -> bool {
        matches!(self, Tag::Ul | Tag::Ol | Tag::Menu | Tag::Dir)
    }

    /// The parts of a table outside its cells.
    pub(super) fn is_table_frame(self) -> bool {
        matches!(
            self,
            Tag::Table | Tag::Thead | Tag::Tbody | Tag::Tfoot | Tag::Tr
        )
    }

    /// What may stand directly in the frame of a table.
    pub(super) fn belongs_in_table_frame(self) -> bool {
        self.is_table_part()
            || matches!(
                self,
                Tag::Script | Tag::Style | Tag::Template | Tag::Input | Tag::Form
            )
    }

    /// Rows, cells and the like.
    pub(super) fn is_table_part(self) -> bool {
        matches!(
            self,
            Tag::Caption
                | Tag::Colgroup
                | Tag::Col
                | Tag::Thead
                | Tag::Tbody
                | Tag::Tfoot
                | Tag::Tr
                | Tag::Td
                | Tag::Th
        )
    }

    /// Elements that an end tag outside cannot see into.
    pub(super) fn is_scope(self) -> bool {
        matches!(
            self,
            Tag::Td | Tag::Th | Tag::Caption | Tag::Table | Tag::Object | Tag::Template
        )
    }

    /// Elements that begin on a line of their own.
    pub(in crate::markdown) fn is_block(self) -> bool {
        use Tag::{
            Address, Article, Aside, Blockquote, Caption, Center, Dd, Details, Dialog, Div, Dl, Dt,
            Fieldset, Figcaption, Figure, Footer, Form, Header, Hgroup, Hr, Legend, Li, Listing,
            Main, Nav, Option, P, Plaintext, Pre, Search, Section, Summary, Table, Tbody, Td,
            Tfoot, Th, Thead, Tr, Xmp,
        };
        self.is_list()
            || self.heading_level().is_some()
            || matches!(
                self,
                Address
                    | Article
                    | Aside
                    | Blockquote
                    | Caption
                    | Center
                    | Dd
                    | Details
                    | Dialog
                    | Div
                    | Dl
                    | Dt
                    | Fieldset
                    | Figcaption
                    | Figure
                    | Footer
                    | Form
                    | Header
                    | Hgroup
                    | Hr
                    | Legend
                    | Li
                    | Listing
                    | Main
                    | Nav
                    | Option
                    | P
                    | Plaintext
                    | Pre
                    | Search
                    | Section
                    | Summary
                    | Table
                    | Tbody
                    | Td
                    | Tfoot
                    | Th
                    | Thead
                    | Tr
                    | Xmp
            )
    }

    /// Start tags that end an open `<p>`.
    pub(super) fn closes_paragraph(self) -> bool {
        self.is_block() && !self.is_table_part() && self != Tag::Option && self != Tag::Legend
    }

    /// Elements whose content is never text to read.
    pub(in crate::markdown) fn is_unread(self) -> bool {
        use Tag::{
            Area, Audio, Base, Canvas, Col, Colgroup, Datalist, Embed, Frame, Iframe, Input, Link,
            Meta, Meter, Noembed, Noframes, Noscript, Object, Optgroup, Option, Param, Progress,
            Rp, Script, Select, Source, Style, Svg, Template, Textarea, Title, Track, Video,
        };
        matches!(
            self,
            Area | Audio
                | Base
                | Canvas
                | Col
                | Colgroup
                | Datalist
                | Embed
                | Frame
                | Iframe
                | Input
                | Link
                | Meta
                | Meter
                | Noembed
                | Noframes
                | Noscript
                | Object
                | Optgroup
                | Option
                | Param
                | Progress
                | Rp
                | Script
                | Select
                | Source
                | Style
                | Svg
                | Template
                | Textarea
                | Title
                | Track
                | Video
        )
    }
}
