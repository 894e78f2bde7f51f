//! The windows against a model that knows nothing of offsets, and the decoder against itself slid
//! over its own boundaries.

use super::decode::BYTE_ORDER_MARK;
use super::lines::Lines;
use super::*;
use proptest::prelude::*;

/// The normalised text and its lines, by the definition in docs/contract.md §4, one byte at a time.
fn model(bytes: &[u8]) -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut normalised = Vec::new();
    for (index, &byte) in bytes.iter().enumerate() {
        if !(byte == b'\r' && bytes.get(index + 1) == Some(&b'\n')) {
            normalised.push(byte);
        }
    }
    let mut lines: Vec<Vec<u8>> =
        normalised.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    if lines.last().is_some_and(Vec::is_empty) {
        lines.pop();
    }
    (normalised, lines)
}

fn window(start: u64, max_lines: u64) -> LineWindow {
    LineWindow::new(start.try_into().unwrap(), max_lines.try_into().unwrap())
}

fn all_windows(text: &str, max_lines: u64) -> Vec<String> {
    let mut contents = Vec::new();
    let mut start = Some(1);
    while let Some(line) = start {
        let cut = window(line, max_lines).cut(text);
        contents.push(cut.content.into_owned());
        start = cut.next_start_line;
    }
    contents
}

#[test]
fn line_counts_of_the_documented_table() {
    for (text, lines) in [
        ("", 0),
        ("\n", 1),
        ("\n\n", 2),
        ("a\nb\n", 2),
        ("a\nb", 2),
        ("a\n\n", 2),
        ("\r", 1),
        ("\r\n", 1),
    ] {
        assert_eq!(Lines::of(text).count(text), lines, "{text:?}");
    }
}

#[test]
fn only_line_feeds_end_lines() {
    let text = "a\rb\u{c}c\u{b}d\u{85}e\u{2028}f\u{2029}g";
    let cut = window(1, 5).cut(text);
    assert_eq!((&*cut.content, cut.line_count), (text, 1));
}

#[test]
fn a_window_that_stops_before_the_end_has_no_final_line_feed() {
    let cut = window(2, 1).cut("alpha\nbeta\rmore\r\ngamma\n");
    assert_eq!(cut.content, "beta\rmore");
    assert_eq!((cut.line_count, cut.next_start_line), (3, Some(3)));
}

#[test]
fn the_window_that_reaches_the_end_keeps_the_final_line_feed() {
    let cut = window(3, 200).cut("alpha\nbeta\ngamma\r\n");
    assert_eq!((&*cut.content, cut.next_start_line), ("gamma\n", None));
}

#[test]
fn a_carriage_return_before_crlf_is_an_ordinary_character() {
    let cut = window(1, 1).cut("a\r\r\nb");
    assert_eq!(cut.content, "a\r");
}

#[test]
fn a_window_past_the_end_is_empty_and_knows_the_count() {
    for start in [4, 1200, 1 << 31, (1 << 53) - 1, u64::MAX] {
        let cut = window(start, 500).cut("a\nb\nc");
        assert_eq!((&*cut.content, cut.line_count, cut.returned_line_count), ("", 3, 0));
        assert_eq!(cut.next_start_line, None);
    }
}

#[test]
fn one_byte_order_mark_is_dropped_and_no_more() {
    let decoded = decode("\u{feff}\u{feff}a".as_bytes(), InvalidUtf8::Reject).unwrap();
    assert_eq!(decoded.text, "\u{feff}a");
    assert_eq!(decode(BYTE_ORDER_MARK, InvalidUtf8::Reject).unwrap().text, "");
}

#[test]
fn the_first_bad_byte_is_named_with_its_line() {
    assert_eq!(
        decode(b"\xEF\xBB\xBFa\nb\x99\xFF", InvalidUtf8::Reject),
        Err(NotText::Invalid { offset: 6, line: 2, value: 0x99 })
    );
}

#[test]
fn a_character_cut_off_by_the_end_of_the_file_is_named_where_it_starts() {
    assert_eq!(
        decode(b"ab\xE3\x81", InvalidUtf8::Reject),
        Err(NotText::Invalid { offset: 2, line: 1, value: 0xE3 })
    );
}

#[test]
fn wide_encodings_are_named_by_their_byte_order_mark() {
    for (bytes, encoding) in [
        (&b"\xFF\xFEh\0i\0"[..], WideEncoding::Utf16LittleEndian),
        (b"\xFE\xFF\0h\0i", WideEncoding::Utf16BigEndian),
        // Two CJK letters: no NUL anywhere.
        (b"\xFF\xFE\x2D\x4E\x87\x65", WideEncoding::Utf16LittleEndian),
        (b"\xFF\xFE\0\0h\0\0\0", WideEncoding::Utf32LittleEndian),
    ] {
        assert_eq!(decode(bytes, InvalidUtf8::Reject), Err(NotText::ByteOrderMark(encoding)));
    }
}

#[test]
fn nul_marks_a_binary_within_the_first_8192_bytes_alone() {
    let mut bytes = vec![b'a'; BINARY_CHECK_BYTES + 1];
    bytes[BINARY_CHECK_BYTES] = 0;
    assert!(decode(&bytes, InvalidUtf8::Reject).is_ok());
    bytes[BINARY_CHECK_BYTES - 1] = 0;
    for invalid in [InvalidUtf8::Reject, InvalidUtf8::Replace] {
        assert_eq!(decode(&bytes, invalid), Err(NotText::Nul { offset: BINARY_CHECK_BYTES - 1 }));
    }
}

#[test]
fn replacing_counts_maximal_ill_formed_sequences_of_the_whole_file() {
    // The example of the Unicode standard, table 3-8, and a U+FFFD of the file's own.
    let decoded =
        decode(b"\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\xEF\xBF\xBD", InvalidUtf8::Replace)
            .unwrap();
    assert_eq!(decoded.text, "a\u{fffd}\u{fffd}\u{fffd}b\u{fffd}c\u{fffd}");
    assert_eq!(decoded.replaced, Some(4));
    assert_eq!(decode(b"clean", InvalidUtf8::Replace).unwrap().replaced, Some(0));
}

#[test]
fn a_character_at_every_offset_around_the_binary_check_survives() {
    for character in ["é", "あ", "😀"] {
        for before in BINARY_CHECK_BYTES - 8..BINARY_CHECK_BYTES + 8 {
            let text = "a".repeat(before) + character + "\nend";
            let decoded = decode(text.as_bytes(), InvalidUtf8::Reject).unwrap();
            assert_eq!(decoded.text, text);
            assert_eq!(all_windows(&text, 1).join("\n"), text);
        }
    }
}

#[test]
fn written_text_has_line_feeds_alone_and_no_byte_order_mark() {
    for (text, written) in [
        ("a\r\nb\r\n", "a\nb\n"),
        ("a\rb\r\r\nc", "a\nb\n\nc"),
        ("\u{feff}\u{feff}a", "\u{feff}a"),
        ("a\\nb  \n\t", "a\\nb  \n\t"),
        ("", ""),
    ] {
        assert_eq!(to_written_form(text.to_owned()), written, "{text:?}");
    }
}

/// Text that is dense in everything that could be taken for a line end.
fn lines_of_trouble() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("\n"),
        Just("\r\n"),
        Just("\r"),
        Just("\u{85}"),
        Just("\u{2028}"),
        Just("\u{feff}"),
        Just("a"),
        Just("あ"),
        Just("😀"),
        Just("\0"),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn windows_joined_are_the_whole_normalised_text(text in lines_of_trouble()) {
        let (normalised, lines) = model(text.as_bytes());
        let whole = normalise_line_ends(&text);
        prop_assert_eq!(whole.as_bytes(), &normalised[..]);
        for max_lines in 1..=lines.len() as u64 + 2 {
            let joined = all_windows(&text, max_lines).join("\n");
            prop_assert_eq!(joined.as_bytes(), &normalised[..]);
        }
    }

    #[test]
    fn every_window_agrees_with_the_model(text in lines_of_trouble(), start in 1u64..45, max_lines in 1u64..45) {
        let (normalised, lines) = model(text.as_bytes());
        let from = usize::try_from(start - 1).unwrap().min(lines.len());
        let to = (from + usize::try_from(max_lines).unwrap()).min(lines.len());
        let mut content = lines[from..to].join(&b'\n');
        if from < to && to == lines.len() && normalised.ends_with(b"\n") {
            content.push(b'\n');
        }
        let cut = window(start, max_lines).cut(&text);
        prop_assert_eq!(cut.content.as_bytes(), &content[..]);
        prop_assert_eq!(cut.line_count, lines.len() as u64);
        prop_assert_eq!(cut.returned_line_count, (to - from) as u64);
        prop_assert_eq!(cut.next_start_line, (from < to && to < lines.len()).then_some(to as u64 + 1));
    }

    #[test]
    fn decoding_random_bytes_agrees_with_the_standard_library(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let body = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes);
        match decode(&bytes, InvalidUtf8::Replace) {
            Err(_) => prop_assert!(bytes.contains(&0)),
            Ok(decoded) => {
                let lossy = String::from_utf8_lossy(body);
                let own = body.windows(3).filter(|three| three == b"\xEF\xBF\xBD").count();
                prop_assert_eq!(&decoded.text, &lossy);
                prop_assert_eq!(decoded.replaced, Some((lossy.matches('\u{fffd}').count() - own) as u64));
                prop_assert_eq!(decode(&bytes, InvalidUtf8::Reject).is_ok(), std::str::from_utf8(body).is_ok());
            }
        }
    }
}
