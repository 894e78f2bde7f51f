use proptest::prelude::*;

use super::*;

fn edit(old: &str, new: &str) -> Edit {
    Edit { old: old.to_owned(), new: new.to_owned(), replace_all: false }
}

fn all(old: &str, new: &str) -> Edit {
    Edit { replace_all: true, ..edit(old, new) }
}

fn edited(text: &str, edits: &[Edit]) -> Result<String, Misfit> {
    plan(text, edits, &|| false).map(|spans| replaced(text, &spans, edits))
}

fn overlap(edit: usize, other: usize) -> Result<String, Misfit> {
    Err(Misfit::Overlap { edit, other })
}

// T01
#[test]
fn the_order_of_edits_does_not_matter() {
    let text = "one\ntwo\nthree\n";
    let edits = [edit("three", "3"), edit("one", "1")];
    assert_eq!(edited(text, &edits).unwrap(), "1\ntwo\n3\n");
}

// T11
#[test]
fn two_lines_are_exchanged_by_two_edits() {
    // One after the other, the second edit would find two places.
    assert_eq!(edited("a\nb\n", &[edit("a", "b"), edit("b", "a")]), overlap(1, 0));
    let edits = [edit("a1", "b2"), edit("b1", "a2")];
    assert_eq!(edited("a1\nb1\n", &edits).unwrap(), "b2\na2\n");
}

// T07
#[test]
fn spans_that_touch_are_fine() {
    assert_eq!(edited("abcd", &[edit("ab", "1"), edit("cd", "2")]).unwrap(), "12");
}

// T06, T09
#[test]
fn spans_that_share_a_character_are_refused() {
    assert_eq!(edited("abcd", &[edit("abc", "1"), edit("bcd", "2")]), overlap(1, 0));
    assert_eq!(edited("abcd", &[edit("abcd", "1"), edit("bc", "2")]), overlap(1, 0));
    assert_eq!(edited("xaxa", &[all("a", "1"), edit("xaxa", "2")]), overlap(1, 0));
}

// T04
#[test]
fn an_edit_that_matches_what_an_earlier_one_writes_is_refused() {
    // Twice one after the other, once in the text as it was.
    assert_eq!(edited("a b", &[edit("a", "b"), edit("b", "c")]), overlap(1, 0));
    // Not at all in the text as it was.
    assert_eq!(edited("a", &[edit("a", "b"), edit("b", "c")]), overlap(1, 0));
    // Where two ends meet.
    assert_eq!(edited("ax-b ab", &[edit("x-", ""), edit("ab", "c")]), overlap(1, 0));
    // All places, of which the earlier edit has made one more.
    assert_eq!(edited("a b", &[edit("a", "b"), all("b", "c")]), overlap(1, 0));
}

#[test]
fn missing_and_multiple_places_come_before_overlaps() {
    let misfit = plan("aab", &[edit("aab", "1"), edit("ab", "2"), edit("z", "3")], &|| false);
    assert_eq!(misfit, Err(Misfit::NoMatch { edit: 2 }));
    let misfit = plan("aab", &[edit("aab", "1"), edit("a", "2"), edit("z", "3")], &|| false);
    assert_eq!(misfit, Err(Misfit::MultipleMatches { edit: 1, count: 2, first: vec![0, 1] }));
}

#[test]
fn a_missing_place_is_told_before_an_overlap() {
    let edits = [edit("a", "b"), edit("b", "c"), edit("z", "y")];
    assert_eq!(edited("a", &edits), Err(Misfit::NoMatch { edit: 2 }));
}

#[test]
fn edits_that_multiply_each_other_end_without_the_memory_for_it() {
    let mut edits = vec![all("a", &"a".repeat(100)); 20];
    assert_eq!(edited("a", &edits), overlap(1, 0));
    edits.push(edit("zz", "y"));
    assert_eq!(edited("a", &edits), Err(Misfit::NoMatch { edit: 20 }));
    let chain: Vec<_> = ('a'..'t')
        .zip('b'..)
        .map(|(from, to)| all(&from.to_string(), &to.to_string().repeat(1000)))
        .collect();
    assert_eq!(edited("abcdefghijklmnopqrst", &chain), overlap(1, 0));
    let large = all("a", &"x".repeat(1 << 20));
    let size = 11 << 20;
    assert_eq!(edited(&"a".repeat(11), &[large]), Err(Misfit::TooLarge { size }));
}

// Q34, Q36, Q37
#[test]
fn all_places_are_taken_from_the_left_in_one_pass() {
    assert_eq!(edited("aaaa", &[all("aa", "a")]).unwrap(), "aa");
    assert_eq!(edited("aaa", &[all("a", "aa")]).unwrap(), "aaaaaa");
    assert_eq!(edited("width id", &[all("id", "no")]).unwrap(), "wnoth no");
}

/// An edit after the other, with the rules of a single one; `None` if one has no place or several.
fn one_after_the_other(text: &str, edits: &[Edit]) -> Option<String> {
    let mut text = text.to_owned();
    for edit in edits {
        let places = (0..text.len()).filter(|&at| text[at..].starts_with(&edit.old)).count();
        text = match (edit.replace_all, places) {
            (_, 0) => return None,
            (true, _) => text.replace(&edit.old, &edit.new),
            (false, 1) => text.replacen(&edit.old, &edit.new, 1),
            (false, _) => return None,
        };
    }
    Some(text)
}

/// The edits at their places in the text as it was; `None` if one has none or several, or two overlap.
fn all_at_once(text: &str, edits: &[Edit]) -> Option<String> {
    let mut spans = Vec::new();
    for edit in edits {
        let places: Vec<_> = if edit.replace_all {
            text.match_indices(&edit.old).map(|(at, _)| at).collect()
        } else {
            (0..text.len()).filter(|&at| text[at..].starts_with(&edit.old)).collect()
        };
        if places.is_empty() || !edit.replace_all && places.len() > 1 {
            return None;
        }
        spans.extend(places.into_iter().map(|at| (at, at + edit.old.len(), &edit.new)));
    }
    spans.sort_unstable();
    if spans.windows(2).any(|pair| pair[0].1 > pair[1].0) {
        return None;
    }
    let mut edited = text.to_owned();
    for (start, end, new) in spans.into_iter().rev() {
        edited.replace_range(start..end, new);
    }
    Some(edited)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn a_list_is_accepted_if_both_ways_to_read_it_agree(
        text in "[ab\n]{0,12}",
        edits in prop::collection::vec(("[ab\n]{1,3}", "[ab\n]{0,3}", any::<bool>()), 1..4),
    ) {
        let edits: Vec<_> = edits
            .into_iter()
            .map(|(old, new, replace_all)| Edit { old, new, replace_all })
            // Equal texts are refused before.
            .filter(|edit| edit.old != edit.new)
            .collect();
        let expected =
            all_at_once(&text, &edits).filter(|at_once| one_after_the_other(&text, &edits).as_ref() == Some(at_once));
        let found = edited(&text, &edits);
        if let Err(Misfit::Overlap { edit, other }) = found {
            prop_assert!(other < edit);
        }
        prop_assert_eq!(found.ok(), expected);
    }
}
