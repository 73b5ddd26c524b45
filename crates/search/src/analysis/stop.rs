//! Words that say nothing by themselves.

/// Words so common that they are no part of a document's length: Lucene's list for English.
const STOP_WORDS: [&str; 33] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "was", "will", "with",
];

/// Further words that a question is made of and its answer is not: they are left out of queries
/// that have others. In a small collection they are rare, so that their weight would be high.
const FUNCTION_WORDS: [&str; 84] = [
    "about", "after", "all", "also", "am", "any", "anyone", "because", "been", "before", "being",
    "both", "can", "cannot", "could", "did", "do", "does", "doing", "done", "each", "either",
    "from", "had", "has", "have", "having", "he", "her", "here", "him", "his", "how", "i", "its",
    "itself", "just", "may", "me", "might", "more", "most", "must", "my", "nor", "off", "ok",
    "other", "our", "out", "over", "own", "please", "s", "same", "shall", "she", "should", "so",
    "some", "t", "than", "them", "those", "through", "too", "under", "until", "upon", "us", "very",
    "we", "were", "what", "when", "where", "whether", "which", "while", "who", "whom", "why",
    "would", "you",
];

/// Is it no part of a document's length?
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Is it left out of queries that have other words?
pub fn is_function_word(word: &str) -> bool {
    is_stop_word(word) || FUNCTION_WORDS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_in_order_so_that_they_can_be_searched() {
        assert!(STOP_WORDS.is_sorted());
        assert!(FUNCTION_WORDS.is_sorted());
        assert!(is_stop_word("the") && is_function_word("which") && !is_function_word("crawl"));
    }
}
