use super::*;

fn found(text: &str, old: &str) -> Option<(&'static str, u64, u64)> {
    found_with(text, old, "anything new")
}

fn found_with(text: &str, old: &str, new: &str) -> Option<(&'static str, u64, u64)> {
    let closest = closest(text, old, new)?;
    Some((closest.difference.as_str(), closest.start_line, closest.end_line))
}

// Q31
#[test]
fn an_edit_that_was_made_before_is_seen() {
    assert_eq!(found_with("a\nnew\nb\n", "old", "new"), Some(("already_applied", 2, 2)));
    assert_eq!(found_with("new new old\u{a0}x", "old x", "new"), Some(("lookalike", 1, 1)));
}

#[test]
fn line_numbers_are_seen_as_each_tool_prints_them() {
    for old in [
        "  2\tb\n  3\tc\n",
        "2→b\n3→c",
        "2|b\n3|c",
        "2│b\n3│c",
        "2 | b\n3 | c",
        "2: b\n3: c",
        "2:b\n3:c",
        "L2: b\nL3: c",
        "L2:b\nL3:c",
        "2-b\n3-c",
        // As `grep -n` prints a match and the line after it.
        "2:b\n3-c",
        "2 b\n3 c",
        " 2  b\n 3  c",
    ] {
        assert_eq!(found("a\nb\nc\n", old), Some(("line_numbers", 2, 3)), "{old}");
    }
}

#[test]
fn the_number_of_an_empty_line_may_lack_the_blank_behind_it() {
    for old in [
        "1\ta\n2\t\n3\tb",
        "1\ta\n2\n3\tb",
        "1 | a\n2 |\n3 | b",
        "1|a\n2|\n3|b",
        "1: a\n2:\n3: b",
        "L1: a\nL2:\nL3: b",
        "1→a\n2→\n3→b",
        " 1  a\n 2\n 3  b",
    ] {
        assert_eq!(found("a\n\nb\n", old), Some(("line_numbers", 1, 3)), "{old}");
    }
    // Not a number behind which something else stands.
    assert_eq!(found("a\n\nb\n", "1 | a\n2 x\n3 | b"), None);
}

// Q51
#[test]
fn escapes_are_seen_on_either_side() {
    assert_eq!(found("x\na\n\tb\ny", r"a\n\tb"), Some(("escapes", 2, 3)));
    assert_eq!(found("x\nf(\"a\\n\");\n", "f(\"a\n\");"), Some(("escapes", 2, 2)));
    assert_eq!(found("say \"hi\"\n", r#"say \"hi\""#), Some(("escapes", 1, 1)));
    // Twice is no explanation.
    assert_eq!(found("a\tb\na\tb\n", r"a\tb"), Some(("other", 1, 1)));
}

// Q21, Q94
#[test]
fn blanks_are_seen_in_order() {
    assert_eq!(found("a\nb", "b\n"), Some(("final_newline", 2, 2)));
    assert_eq!(found("a  \nb\n", "a\nb"), Some(("trailing_whitespace", 1, 2)));
    assert_eq!(found("\ta\n\tb\n", "    a\n    b"), Some(("indentation", 1, 2)));
    assert_eq!(found("f(a,b)\n", "f(a, b)"), Some(("whitespace", 1, 1)));
    assert_eq!(found("a\nb = 1\nc\n", "  b = 1  "), Some(("indentation", 2, 2)));
    // Each also ignores what the ones before it ignore.
    assert_eq!(found("x\n\ta  \nb", "  a\nb\n"), Some(("indentation", 2, 3)));
}

#[test]
fn characters_are_seen_in_order() {
    assert_eq!(found("say “Hi” – …\n", "say \"Hi\" - ..."), Some(("lookalike", 1, 1)));
    assert_eq!(found("a\u{200b}b\u{202e}\n", "ab"), Some(("lookalike", 1, 1)));
    assert_eq!(found("caf\u{65}\u{301}\n", "café"), Some(("unicode_form", 1, 1)));
    assert_eq!(found("Straße ÉTÉ\n", "STRASSE"), None);
    assert_eq!(found("x ÉTÉ y\n", "x été y"), Some(("case", 1, 1)));
}

#[test]
fn a_final_sigma_is_one_letter_with_the_others() {
    for (text, old) in [("ΟΔΟΣ α", "οδοσ"), ("οδος α", "ΟΔΟΣ"), ("οδοσ", "οδος"), ("ΟΔΟΣ", "οδος")]
    {
        assert_eq!(found(text, old), Some(("case", 1, 1)), "{text} {old}");
    }
}

#[test]
fn the_lines_that_share_most_are_other() {
    let text = "fn one() {\n    first();\n}\n\nfn two() {\n    second();\n    third();\n}\n";
    let old = "fn two() {\n    seconds();\n    third();\n}";
    assert_eq!(found(text, old), Some(("other", 5, 8)));
    assert_eq!(found("let total_count = 17;\n", "let total_count = 18;"), Some(("other", 1, 1)));
}

#[test]
fn where_nothing_is_near_nothing_is_told() {
    assert_eq!(found("one two three\n", "something else"), None);
    assert_eq!(found("", "a"), None);
    assert_eq!(found("a\n}\n", "}\n}\n}"), None);
}

#[test]
fn at_most_twenty_lines_are_shown_and_the_true_end_is_told() {
    let text = (0..40).map(|number| format!("  line {number}\n")).collect::<Vec<_>>().concat();
    let old = (5..35).map(|number| format!("line {number}\n")).collect::<Vec<_>>().concat();
    let closest = closest(&text, &old, "x").unwrap();
    assert_eq!((closest.start_line, closest.end_line), (6, 35));
    assert_eq!(closest.text.lines().count(), MAX_LINES);
    assert!(closest.text.starts_with("  line 5\n") && closest.text.ends_with("line 24"));
}

// Q67
#[test]
fn a_half_of_a_line_of_a_megabyte_is_looked_for_in_linear_time() {
    let text = "word and ".repeat((1 << 20) / 9);
    let old = format!("{}wrong", &text[..500 << 10]);
    // Anything quadratic would take hours.
    assert_eq!(found(&text, &old), None);
}
