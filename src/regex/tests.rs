//! Searches in whole texts against a model that matches each line alone, with another engine.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use regex_automata::nfa::thompson::{self, WhichCaptures};
use regex_automata::{Anchored, Input, meta};

use super::simulation::SimulationCache;
use super::*;

const AGES: Duration = Duration::from_secs(60);

fn compile(pattern: &str, options: PatternOptions) -> Pattern {
    Pattern::compile(pattern, options).unwrap_or_else(|flaw| panic!("{pattern}: {flaw:?}"))
}

/// Where a match begins and ends.
type Found = (usize, usize);

/// All non-empty matches, as a search of whole texts finds them.
fn matches(pattern: &Pattern, text: &str) -> Vec<Found> {
    let deadline = Deadline::after(AGES, &|| false);
    let mut matcher = pattern.matcher();
    let mut search = matcher.search(text);
    let (mut from, mut found) = (0, Vec::new());
    while let Some(range) = search.find(from, &deadline).unwrap() {
        from = range.end;
        if range.is_empty() {
            from += text[from..].chars().next().map_or(1, char::len_utf8);
        } else {
            found.push((range.start, range.end));
        }
        if from > text.len() {
            break;
        }
    }
    found
}

/// All non-empty matches of each line alone.
fn matches_by_line(pattern: &str, options: PatternOptions, text: &str) -> Vec<Found> {
    let syntax = regex_automata::util::syntax::Config::new()
        .case_insensitive(options.case_insensitive)
        .multi_line(options.line_anchors)
        .dot_matches_new_line(options.dot_matches_line_feed);
    let regex = meta::Builder::new().syntax(syntax).build(pattern).unwrap();
    let (mut start, mut found) = (0, Vec::new());
    for line in text.split('\n') {
        let ranges = regex.find_iter(line).map(|found| found.range());
        let ranges = ranges.filter(|range| !range.is_empty());
        found.extend(ranges.map(|range| (start + range.start, start + range.end)));
        start += line.len() + 1;
    }
    found
}

/// Whether a part is repeated that can match nothing.
fn repeats_nothing(hir: &Hir) -> bool {
    let sub_is_empty = |sub: &Hir| sub.properties().minimum_len() == Some(0);
    match hir.kind() {
        HirKind::Repetition(repetition) => {
            sub_is_empty(&repetition.sub) || repeats_nothing(&repetition.sub)
        }
        HirKind::Capture(capture) => repeats_nothing(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(repeats_nothing),
        _ => false,
    }
}

fn atom() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("a"),
        Just("b"),
        Just("é"),
        Just("."),
        Just(r"\w"),
        Just(r"\s"),
        Just(r"\b"),
        Just(r"\B"),
        Just("^"),
        Just("$"),
        Just(r"\A"),
        Just(r"\z"),
        Just("[^a]"),
        Just("[a-c]"),
        Just("ab"),
        Just("[[:^alpha:]]"),
    ]
    .prop_map(str::to_owned)
}

fn pattern() -> impl Strategy<Value = String> {
    atom().prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("{one}{other}")),
            (inner.clone(), inner.clone()).prop_map(|(one, other)| format!("(?:{one}|{other})")),
            inner.clone().prop_map(|inner| format!("({inner})*")),
            inner.clone().prop_map(|inner| format!("({inner})+?")),
            inner.prop_map(|inner| format!("({inner}){{1,3}}")),
        ]
    })
}

fn text() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        4 => Just('a'), 3 => Just('b'), 1 => Just('c'), 1 => Just(' '), 1 => Just('é'), 1 => Just('日'), 2 => Just('\n'),
    ];
    prop::collection::vec(character, 0..60).prop_map(|characters| characters.iter().collect())
}

fn flags() -> impl Strategy<Value = PatternOptions> {
    any::<(bool, bool, bool)>().prop_map(|(i, m, s)| PatternOptions {
        case_insensitive: i,
        line_anchors: m,
        dot_matches_line_feed: s,
        ..PatternOptions::default()
    })
}

proptest! {
    #[test]
    fn a_search_of_the_whole_text_finds_what_each_line_alone_has(
        source in pattern(), text in text(), options in flags(),
    ) {
        let pattern = compile(&source, options);
        prop_assert_eq!(matches(&pattern, &text), matches_by_line(&source, options, &text));
    }

    #[test]
    fn the_patient_search_finds_what_the_fast_one_finds(
        source in pattern(), text in text(), options in flags(), multiline in any::<bool>(),
    ) {
        let options = PatternOptions { multiline, ..options };
        let pattern = compile(&source, options);
        let Engine::Automaton(automaton) = &pattern.engine else { return Ok(()) };
        let deadline = Deadline::after(AGES, &|| false);
        let whole = 0..text.len();
        let mut cache = automaton.cache();
        let fast = automaton.find(&mut cache, &text, whole.clone(), &deadline).unwrap();
        cache.give_up();
        let patient = automaton.find(&mut cache, &text, whole, &deadline).unwrap();
        prop_assert_eq!(fast, patient);
    }

    #[test]
    fn the_simulation_finds_what_the_other_engines_find(
        source in pattern(), text in text(), options in flags(), from in 0..60_usize,
    ) {
        let hir = parse(&source, options).unwrap().unwrap();
        let whole = meta::Builder::new().build_from_hir(&hir).unwrap();
        let nfa = thompson::Compiler::new()
            .configure(thompson::Config::new().which_captures(WhichCaptures::None))
            .build_from_hir(&hir)
            .unwrap();
        let from = (0..=from.min(text.len())).rfind(|&at| text.is_char_boundary(at)).unwrap();
        for end in [text.len(), from + text[from..].chars().next().map_or(0, char::len_utf8)] {
            let expected = whole.find(Input::new(&text).span(from..end)).map(|found| found.range());
            let mut cache = SimulationCache::new(&nfa);
            let deadline = Deadline::after(AGES, &|| false);
            for _ in 0..2 {
                let found = simulation::find(&nfa, &mut cache, &text, from..end, &deadline);
                prop_assert_eq!(&found.unwrap(), &expected);
            }
        }
    }

    #[test]
    fn backtracking_finds_what_an_automaton_finds(
        source in pattern(), text in text(), options in flags(),
    ) {
        // Engines differ in how they repeat a part that matches nothing.
        if repeats_nothing(&parse(&source, options).unwrap().unwrap()) {
            return Ok(());
        }
        // An empty look-ahead asks for the other engine and changes nothing.
        let with_look_around = compile(&format!("{source}(?=)"), options);
        prop_assert!(with_look_around.backtracks());
        prop_assert_eq!(matches(&with_look_around, &text), matches_by_line(&source, options, &text));
    }

    #[test]
    fn a_literal_pattern_finds_itself_alone(
        source in "[a.*(\\\\\\[]{1,3}", text in "[ab.*(\\\\\\[\n]{0,40}",
    ) {
        let options = PatternOptions { literal: true, ..PatternOptions::default() };
        let found = matches(&compile(&source, options), &text);
        let expected: Vec<_> = text
            .match_indices(&source)
            .map(|(at, found)| (at, at + found.len()))
            .collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn any_text_as_a_pattern_compiles_or_has_a_flaw_inside_of_it(source in ".{1,40}") {
        if let Err(flaw) = Pattern::compile(&source, PatternOptions::default()) {
            prop_assert!(flaw.offset <= source.encode_utf16().count() as u64);
            prop_assert!(!flaw.sentence.is_empty());
        }
    }
}

#[test]
fn lines_longer_than_a_block_are_matched_whole() {
    let line = "x".repeat(BLOCK_BYTES * 2);
    let text = format!("{line}needle{line}\nneedle");
    for source in ["needle", "n[e]+dle", r"needle(?=x|\b)", "(?i)NEEDLE"] {
        let found = matches(&compile(source, PatternOptions::default()), &text);
        assert_eq!(found.len(), 2, "{source}");
        assert_eq!(found[0].0, line.len(), "{source}");
    }
    let found = matches(&compile("^x+needlex+$", PatternOptions::default()), &text);
    assert_eq!(found, [(0, line.len() * 2 + 6)]);
}

#[test]
fn a_word_boundary_is_that_of_unicode_in_long_lines_and_texts_too() {
    let long = "é".repeat(BLOCK_BYTES);
    let (start, text) = (long.len(), format!("{long} id idé"));
    for options in
        [PatternOptions::default(), PatternOptions { multiline: true, ..PatternOptions::default() }]
    {
        let word = compile(r"\bid\b", options);
        assert_eq!(matches(&word, "é id idé"), [(3, 5)]);
        assert_eq!(matches(&word, &text), [(start + 1, start + 3)]);
    }
}

#[test]
fn many_matches_on_a_long_line_take_linear_time() {
    let text = "a".repeat(1 << 20);
    for source in ["a", "[ab]", "(?=a)a"] {
        let begun = Instant::now();
        let found = matches(&compile(source, PatternOptions::default()), &text);
        assert_eq!(found.len(), text.len(), "{source}");
        assert!(begun.elapsed() < Duration::from_secs(60), "{source}: {:?}", begun.elapsed());
    }
}

#[test]
fn named_references_work_and_flaws_of_look_around_have_their_own_sentence() {
    for source in [r"(?<n>f)\k<n>", "(?P<n>f)(?P=n)", r"(f)\1"] {
        assert_eq!(matches(&compile(source, PatternOptions::default()), "fof ff"), [(4, 6)]);
    }
    let flaw = |source| Pattern::compile(source, PatternOptions::default()).unwrap_err();
    for source in ["(?<=a+)b", r"(f)\2"] {
        assert!(!flaw(source).sentence.contains("1 MiB"), "{source}: {:?}", flaw(source));
    }
    assert!(flaw("(?=é(").is_probably_literal);
    assert!(flaw(r"(?!q)[ab]*a[ab]{10000}c").sentence.contains("256 parts"));
    let word = PatternOptions { word: true, ..PatternOptions::default() };
    assert!(Pattern::compile("(?=f)foo)|(b", word).is_err());
    let long = PatternOptions { literal: true, ..word };
    assert!(Pattern::compile(&"a sentence ".repeat(50), long).is_ok());
}

#[test]
fn a_pattern_of_many_classes_is_refused_before_it_is_read() {
    for source in [r"\w".repeat(30_000), "[a-z\\w]".repeat(8_000), r"\p{L}".repeat(5_000)] {
        let begun = Instant::now();
        assert!(Pattern::compile(&source, PatternOptions::default()).is_err());
        assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    }
}

#[test]
fn a_word_has_no_word_character_beside_it() {
    let word = PatternOptions { word: true, ..PatternOptions::default() };
    for source in ["id", "id(?=)", "(?x) id # comment", "(?x) id (?=) # comment"] {
        let found = matches(&compile(source, word), "width id idé (id) id_ id");
        assert_eq!(found, [(6, 8), (15, 17), (23, 25)], "{source}");
    }
    let literal = PatternOptions { literal: true, ..word };
    assert_eq!(matches(&compile("-x", literal), "a-x -x"), [(4, 6)]);
}

#[test]
fn matches_may_hold_line_feeds_where_that_is_asked_for() {
    let multiline = PatternOptions { multiline: true, ..PatternOptions::default() };
    assert_eq!(matches(&compile(r"a\nb", multiline), "a\nb a\nb"), [(0, 3), (4, 7)]);
    assert_eq!(matches(&compile(r"(a)\n\1", multiline), "a\na"), [(0, 3)]);
    assert!(matches(&compile("^b", multiline), "a\nb").is_empty());
    let anchors = PatternOptions { line_anchors: true, ..multiline };
    assert_eq!(matches(&compile("^b", anchors), "a\nb"), [(2, 3)]);
}

#[test]
fn the_flag_of_crlf_mode_changes_nothing() {
    let texts = ["a\nb\na", "a\rb\ra\n", "\ra\r\nb\r", "\r", "a b\r\r\na"];
    let patterns = [
        ("(?R)", "^a$"),
        ("(?mR)", "^a$"),
        ("(?mR)", "^.+$"),
        ("(?Rs)", ".+"),
        ("(?R)", "^."),
        ("(?R)", "[^b]+$"),
    ];
    for ((flags, source), text) in
        patterns.into_iter().flat_map(|pattern| texts.map(|text| (pattern, text)))
    {
        let plain = flags.replace('R', "");
        let plain = if plain == "(?)" { String::new() } else { plain };
        for multiline in [false, true] {
            let options = PatternOptions { multiline, ..PatternOptions::default() };
            for look_around in ["", "(?=)"] {
                let found = |pattern: &str| matches(&compile(pattern, options), text);
                let expected = found(&format!("{plain}{source}{look_around}"));
                let group = flags.replace(')', ":");
                for pattern in [format!("{flags}{source}"), format!("{group}{source})")] {
                    let found = found(&format!("{pattern}{look_around}"));
                    assert_eq!(found, expected, "{pattern}{look_around} in {text:?}");
                }
            }
        }
    }
    // A flaw stands where it stands.
    let flaw = Pattern::compile("(?R)(?=a)[z-a]", PatternOptions::default()).unwrap_err();
    assert_eq!(
        flaw.offset,
        Pattern::compile("(?i)(?=a)[z-a]", PatternOptions::default()).unwrap_err().offset
    );
}

#[test]
fn hostile_patterns_are_refused_by_their_size() {
    for source in [r"(\w{1000}){1000}", "((((a{100}){100}){100}){100})", r"(\w{200}){50}(?=a)"] {
        let begun = Instant::now();
        let flaw = Pattern::compile(source, PatternOptions::default()).unwrap_err();
        let is_about_size = ["1 MiB", "256 parts"].iter().any(|size| flaw.sentence.contains(size));
        assert!(is_about_size, "{source}: {flaw:?}");
        assert!(begun.elapsed() < Duration::from_secs(1), "{source}");
    }
    let nested = format!("{}a{}", "(".repeat(251), ")".repeat(251));
    assert!(Pattern::compile(&nested, PatternOptions::default()).is_err());
}

#[test]
fn a_flaw_says_where_it_is_in_utf16_units() {
    let flaw = Pattern::compile("é😀(", PatternOptions::default()).unwrap_err();
    assert_eq!((flaw.offset, flaw.is_probably_literal), (3, true));
    let flaw = Pattern::compile("😀[z-a]", PatternOptions::default()).unwrap_err();
    assert_eq!(flaw.offset, 3);
}

/// Searches until the time is used up; how long it took beyond that.
fn overtime(pattern: &Pattern, text: &str, time: Duration) -> Option<Duration> {
    let begun = Instant::now();
    let deadline = Deadline::after(time, &|| false);
    let mut matcher = pattern.matcher();
    let mut search = matcher.search(text);
    let mut from = 0;
    loop {
        match search.find(from, &deadline) {
            Ok(Some(found)) if found.end < text.len() => from = found.end + 1,
            Ok(_) => return None,
            Err(stop) => {
                assert_ne!(stop, Stop::Cancelled);
                return Some(begun.elapsed().saturating_sub(time));
            }
        }
    }
}

#[test]
fn the_deadline_is_kept_whatever_the_pattern() {
    let line = "ab ".repeat((64 << 10) / 3);
    let long = "ab ".repeat(1 << 20);
    for source in [
        "[ab ]{1,4000}x",
        "([ab]|[b ]|[a ]){1,2000}x",
        r"(\w+\s+){1,20}x",
        "(a|b| )*x",
        "(a+)+$(?!b)",
        r"(\w+\s*)+x(?=y)",
        r"([ab ]+)*\1x",
        r"\b(\w+\s*){1,10}x\b",
    ] {
        let pattern = compile(source, PatternOptions::default());
        for text in [&line, &long] {
            let late = overtime(&pattern, text, Duration::from_millis(100));
            let limit = Duration::from_millis(if cfg!(debug_assertions) { 2_000 } else { 50 });
            assert!(late.is_none_or(|late| late < limit), "{source}: {late:?} late");
        }
    }
    for source in HOSTILE {
        let Ok(pattern) = Pattern::compile(source, PatternOptions::default()) else { continue };
        for text in hostile_lines() {
            let late = overtime(&pattern, &text, Duration::from_millis(5));
            let limit = Duration::from_millis(if cfg!(debug_assertions) { 2_000 } else { 50 });
            assert!(late.is_none_or(|late| late < limit), "{source}: {late:?} late");
        }
        let text = hostile_lines()[6].repeat(15);
        let late = overtime(&pattern, &text, Duration::from_millis(5));
        assert!(late.is_none_or(|late| late < Duration::from_secs(2)), "{source}: {late:?} late");
    }
}

#[test]
fn a_search_is_stopped_in_the_middle_of_a_step_that_goes_on() {
    // Each position takes as many steps as the line has characters, squared, and none of them back.
    let pattern = compile("(?:.(?=(?:.(?=.))*))*y", PatternOptions::default());
    let text = format!("{}y", "a".repeat(64 << 10));
    let asked = std::sync::atomic::AtomicU32::new(0);
    let cancelled = || asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) > 1_000;
    let mut matcher = pattern.matcher();
    let stopped = matcher.search(&text).find(0, &Deadline::after(AGES, &cancelled));
    assert_eq!(stopped, Err(Stop::Cancelled));
    // What is left of that search is in nobody's way.
    let deadline = Deadline::after(AGES, &|| false);
    assert_eq!(matcher.search("aay").find(0, &deadline), Ok(Some(0..3)));
    let heavy = format!("(?:{}.(?!x))*y", "()".repeat(60));
    let heavy = compile(&heavy, PatternOptions::default());
    assert_eq!(heavy.matcher().search(&text).find(0, &deadline), Err(Stop::TooCostly));
}

#[test]
fn patterns_of_many_parts_work_with_word_boundaries_in_long_lines() {
    let hash = "0123456789abcdef".repeat(4);
    for long in ["é ".repeat(40 << 10), "é ".repeat(600 << 10)] {
        let text = format!("{long}{hash} {hash}é");
        for source in [r"\b[0-9a-f]{64}\b", r"\b[0-9a-f]{60,400}\b"] {
            let found = matches(&compile(source, PatternOptions::default()), &text);
            assert_eq!(found, [(long.len(), long.len() + 64)], "{source}");
        }
        if text.len() > 1 << 20 {
            continue;
        }
        let look_around = r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])";
        assert_eq!(matches(&compile(look_around, PatternOptions::default()), &text).len(), 2);
    }
}

/// Lines of 64 KiB that make a match long, or fail late.
fn hostile_lines() -> Vec<String> {
    let lines = [
        "ab ".repeat(64 << 10),
        format!("é{}", "ab ".repeat(64 << 10)),
        format!("é{}", "a".repeat(64 << 10)),
        "é".repeat(64 << 10),
        "aé ".repeat(64 << 10),
        format!("é{}", "0123456789abcdef".repeat(4 << 10)),
        "abcé bca acb b".repeat(8 << 10),
    ];
    // The bytes without which the patterns have no match.
    let last = " yxz";
    let length = |line: &str| (0..=(64 << 10) - last.len()).rfind(|&at| line.is_char_boundary(at));
    lines.map(|line| format!("{}{last}", &line[..length(&line).unwrap()])).to_vec()
}

/// Prints what the engines that cannot be stopped take for each part and byte.
#[test]
#[ignore = "measures"]
fn cost_of_a_search_that_cannot_be_stopped() {
    for source in [
        r"\b[0-9a-f]{64}\b",
        r"\b[a-zé ]{1,200}x\b",
        r"\b(?:[ab]|[b ]|[a ]){1,80}x\b",
        r"\b(?:\w|\s){1,120}x\b",
        r"(?:a|é|\b)*x\b",
        r"\b\w+\s*(?:\w+\s*){1,20}x\b",
        r"[ab ]*a[ab ]{200}x",
        r"(?:\w|\s)*\w(?:\w|\s){100}x",
        r"\w*a\w{200}x",
        r".*a.{250}x",
        r".*é.{50}x",
        r"(?:[ab]|[b ]|[a ])*a(?:[ab]|[b ]|[a ]){50}x",
        r"(?i)(?:\w|\s)*ab(?:\pL|\W){50}x",
    ] {
        let hir = parse(source, PatternOptions::default()).unwrap().unwrap();
        let parts = line_pattern::parts(&hir);
        let engines = meta::Builder::new().build_from_hir(&hir).unwrap();
        for (index, line) in hostile_lines().iter().enumerate() {
            for anchored in [Anchored::No, Anchored::Yes] {
                let mut took = Duration::MAX;
                for _ in 0..3 {
                    let mut cache = engines.create_cache();
                    let begun = cpu_time();
                    let _ =
                        engines.search_half_with(&mut cache, &Input::new(line).anchored(anchored));
                    took = took.min(cpu_time().saturating_sub(begun));
                }
                let each = took.as_nanos() * 10 / u128::from(parts * line.len() as u64);
                println!(
                    "{took:>12.1?} {each:>4} ns/10 {source} {parts} line {index} {anchored:?}"
                );
            }
        }
    }
}

/// The time that this thread has had a processor.
fn cpu_time() -> Duration {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(times.split(' ').next().unwrap().parse().unwrap())
}

/// Prints how late the deadline is seen.
#[test]
#[ignore = "measures"]
fn how_late_the_deadline_is_seen() {
    for source in HOSTILE {
        let pattern = match Pattern::compile(source, PatternOptions::default()) {
            Ok(pattern) => pattern,
            Err(flaw) => {
                println!("{source}: {}", flaw.sentence);
                continue;
            }
        };
        for (index, text) in hostile_lines().iter().enumerate() {
            for time in [1, 20] {
                let time = Duration::from_millis(time);
                let begun = cpu_time();
                let late = overtime(&pattern, text, time);
                let late = late.map(|_| cpu_time().saturating_sub(begun).saturating_sub(time));
                println!("{:>12.1?} {source} line {index}", late.unwrap_or_default());
            }
        }
    }
}

/// Patterns that cost as much as they can.
const HOSTILE: &[&str] = &[
    r"\b[0-9a-f]{64}\b",
    r"\b[a-zé ]{1,200}x\b",
    r"\b(?:[ab]|[b ]|[a ]){1,80}x\b",
    r"\b(?:\w|\s){1,120}x\b",
    r"\b(?:\w|\s){1,2000}x\b",
    r"\b\w+\s*(?:\w+\s*){1,20}x\b",
    r"(?:\ba|é|\B.)*x\b",
    r"(?:\b|a|b|\B| |é){200}x\b",
    r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])",
    r"(?!x)[ab ]*a[ab ]{200}x",
    r"(?!x)[ab ]*a[ab ]{28}x",
    r"(?:.(?![ab ]*a[ab ]{28}x))*y",
    r"(?!x).*é.{27}x",
    r"(?!x)(?:\w|\s)*\w(?:\w|\s){100}x",
    r"(?!x)(?:\w|\s)*\w(?:\w|\s){10}x",
    r"(?!x).*é.{30}x",
    r"(?:.(?!.*x))*y",
    r"(?:.(?!.*a.{20}x))*y",
    r"(?:.(?=(?:.(?=.))*))*y",
    r"(?:.(?=(?:.(?=(?:.(?!x))*))*))*y",
    r"(?>(?:.(?!x))*)*y",
    r"((.)(.)?(?!x))*\1y",
    r"(?i)(.*)\1(?!.)x",
    r"(?:()()()()()()()()()()()()()()()().(?!x))*y",
    r"(?>(?:()()()()()()()()()()()()()()()().(?!x))*)y",
    r"(?:(?:(?:.(?!x))?){1,20})*y",
    r"(?=((?:.|é(?!x))*))\1y",
    r"(?:.{1,100}(?!x)){1,2}y",
    r"(?:.{0,100}(?!x))*y",
    r"(?:\w{0,120}\s?(?!x))*y",
    r"(?~x.*y)z",
];
