//! What a page or site allows to be done with its content by AI: recorded, not judged.
//!
//! Sources: `noai` and `noimageai` of robots meta elements and headers, Content-Signal and
//! Content-Usage lines (robots.txt or header), and the TDM reservation protocol.

use std::collections::BTreeMap;

use serde::Serialize;

const MAX_SIGNALS: usize = 32;
const MAX_NAME_CHARS: usize = 64;

/// The wishes of the publisher about use by AI.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AiUsage {
    /// Not for training models.
    pub noai: bool,
    /// Images not for training models.
    pub noimageai: bool,
    /// Signals by name, such as `ai-train` or `search`: whether that use is allowed. Where two
    /// lines disagree, the stricter holds.
    pub content_signals: BTreeMap<String, bool>,
    /// Whether text and data mining is reserved (`tdm-reservation`).
    pub tdm_reservation: Option<bool>,
    /// Where the conditions of text and data mining are written.
    pub tdm_policy: Option<String>,
}

impl AiUsage {
    /// Whether any source asks not to train models on the page.
    pub fn refuses_training(&self) -> bool {
        let refused = |name: &str| self.content_signals.get(name) == Some(&false);
        self.noai
            || self.tdm_reservation == Some(true)
            || ["ai-train", "train-ai", "train-genai", "bots", "ai"]
                .into_iter()
                .any(refused)
    }

    /// Adds a line such as `search=yes, ai-train=no` or `train-ai=n`, with or without its name in
    /// front.
    pub(super) fn add_signals(&mut self, line: &str) {
        let line = match line.split_once(':') {
            Some((_, behind)) => behind,
            None => line,
        };
        for part in line.split([',', ';']) {
            let Some((name, value)) = part.split_once('=') else {
                continue;
            };
            // In robots.txt a path may stand before the first name.
            let name = name.split_whitespace().last().unwrap_or_default();
            let allowed = match value.trim().to_ascii_lowercase().as_str() {
                "yes" | "y" | "?1" | "1" | "true" => true,
                "no" | "n" | "?0" | "0" | "false" => false,
                _ => continue,
            };
            let name: String = name.chars().take(MAX_NAME_CHARS).collect();
            self.add_signal(name.to_ascii_lowercase(), allowed);
        }
    }

    fn add_signal(&mut self, name: String, allowed: bool) {
        let has_room = self.content_signals.len() < MAX_SIGNALS;
        if !name.is_empty() && (has_room || self.content_signals.contains_key(&name)) {
            let held = self.content_signals.entry(name).or_insert(allowed);
            *held = *held && allowed;
        }
    }

    /// Adds a `tdm-reservation` value of a header or meta element: of several, a reservation wins.
    pub(super) fn add_reservation(&mut self, value: &str) {
        let reserved = match value.trim() {
            "1" => true,
            "0" => false,
            _ => return,
        };
        self.tdm_reservation = Some(self.tdm_reservation.unwrap_or(false) || reserved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_of_all_spellings_are_recorded_and_the_stricter_holds() {
        let mut usage = AiUsage::default();
        usage.add_signals("Content-Signal: search=yes, ai-train=no,ai-input=maybe");
        usage.add_signals("train-ai=n");
        usage.add_signals("/blog/ search=no;x");
        let signals: Vec<_> = usage.content_signals.iter().collect();
        assert_eq!(
            signals,
            [
                (&"ai-train".to_owned(), &false),
                (&"search".to_owned(), &false),
                (&"train-ai".to_owned(), &false)
            ]
        );
        assert!(usage.refuses_training());
        assert!(!AiUsage::default().refuses_training());
    }

    #[test]
    fn a_reservation_wins_over_its_absence_and_signals_are_bounded() {
        let mut usage = AiUsage::default();
        usage.add_reservation("x");
        assert_eq!(usage.tdm_reservation, None);
        usage.add_reservation(" 1 ");
        usage.add_reservation("0");
        assert_eq!(usage.tdm_reservation, Some(true));
        for number in 0..1000 {
            usage.add_signals(&format!("s{number}=yes"));
        }
        assert_eq!(usage.content_signals.len(), MAX_SIGNALS);
    }
}
