//! Which language a text is in.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use trawl_extract::language::{LanguageGuess, language, text_size};

const SAMPLES: [(&str, &str); 12] = [
    (
        "en",
        "The harbour was quiet in the early morning, and the fishermen were mending their nets before the tide came in.",
    ),
    (
        "de",
        "Der Hafen war am frühen Morgen ruhig, und die Fischer flickten ihre Netze, bevor die Flut kam und die Boote hob.",
    ),
    (
        "fr",
        "Le port était calme au petit matin, et les pêcheurs réparaient leurs filets avant que la marée ne monte.",
    ),
    (
        "es",
        "El puerto estaba tranquilo por la mañana, y los pescadores remendaban sus redes antes de que subiera la marea.",
    ),
    (
        "it",
        "Il porto era tranquillo nelle prime ore del mattino e i pescatori riparavano le reti prima dell'alta marea.",
    ),
    (
        "ru",
        "Рано утром в гавани было тихо, и рыбаки чинили свои сети, пока не начался прилив и лодки не поднялись.",
    ),
    (
        "ja",
        "早朝の港は静かで、漁師たちは潮が満ちる前に網を繕っていた。子どもたちは岸辺で遊んでいる。",
    ),
    (
        "zh",
        "清晨的港口很安静，渔民们在涨潮之前修补渔网，孩子们在岸边玩耍。",
    ),
    (
        "ko",
        "이른 아침 항구는 조용했고 어부들은 밀물이 들어오기 전에 그물을 고치고 있었다. 아이들은 바닷가에서 놀았다.",
    ),
    (
        "ar",
        "كان الميناء هادئا في الصباح الباكر وكان الصيادون يصلحون شباكهم قبل أن يأتي المد وترتفع القوارب",
    ),
    (
        "th",
        "ท่าเรือเงียบสงบในยามเช้าตรู่ และชาวประมงกำลังซ่อมอวนของพวกเขาก่อนที่น้ำจะขึ้น",
    ),
    (
        "el",
        "Το λιμάνι ήταν ήσυχο νωρίς το πρωί και οι ψαράδες επισκεύαζαν τα δίχτυα τους πριν από την παλίρροια.",
    ),
];

#[test]
fn the_language_of_a_paragraph_is_detected() {
    for (code, text) in SAMPLES {
        let guess = language(&text.repeat(3), None);
        assert_eq!(guess.detected, Some(code), "{guess:?}");
        assert!(guess.reliable, "{guess:?}");
        assert_eq!(guess.best(), Some(code));
    }
}

#[test]
fn what_is_declared_is_kept_and_wins_only_where_detection_is_weak() {
    let english = SAMPLES[0].1.repeat(3);
    let guess = language(&english, Some("EN_gb"));
    assert_eq!(
        (guess.declared.as_deref(), guess.best()),
        (Some("en-GB"), Some("en-GB"))
    );
    let guess = language(&english, Some("de"));
    assert_eq!(
        (guess.declared.as_deref(), guess.best()),
        (Some("de"), Some("en"))
    );
    let guess = language("OK", Some("de"));
    assert!(!guess.reliable);
    assert_eq!(guess.best(), Some("de"));
}

#[test]
fn nothing_is_said_of_no_text() {
    assert_eq!(language("", None), LanguageGuess::default());
    assert_eq!(
        language("1234 !!", Some("nonsense")),
        LanguageGuess::default()
    );
}

#[test]
fn a_long_text_is_sampled_between_characters() {
    let (one, other) = (SAMPLES[5].1, SAMPLES[0].1);
    let text = format!("{other} {}", one.repeat(5000));
    assert_eq!(language(&text, None).detected, Some("ru"));
    let kanji = "語".repeat(100_000);
    assert!(language(&kanji, None).detected.is_some());
    assert_eq!(text_size(&kanji).word_count, 100_000);
}
