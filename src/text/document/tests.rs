//! Documents against a model that keeps, for each character of the view, its bytes in the file.

use proptest::prelude::*;

use super::*;

/// Each character of the view and the bytes that stand for it, and the byte order mark's.
struct Model {
    mark: Vec<u8>,
    units: Vec<(char, Vec<u8>)>,
}

impl Model {
    fn of(file: &str) -> Self {
        let (mark, body) = match file.strip_prefix('\u{feff}') {
            Some(body) => ("\u{feff}".as_bytes().to_vec(), body),
            None => (Vec::new(), file),
        };
        let characters: Vec<char> = body.chars().collect();
        let mut units = Vec::new();
        let mut at = 0;
        while at < characters.len() {
            if characters[at..].starts_with(&['\r', '\n']) {
                units.push(('\n', b"\r\n".to_vec()));
                at += 2;
            } else {
                units.push((characters[at], characters[at].to_string().into_bytes()));
                at += 1;
            }
        }
        Self { mark, units }
    }

    fn view(&self) -> String {
        self.units.iter().map(|(character, _)| character).collect()
    }

    /// The offset in the view of each unit, and of the end.
    fn offsets(&self) -> Vec<usize> {
        let mut offsets = vec![0];
        for (character, _) in &self.units {
            offsets.push(offsets[offsets.len() - 1] + character.len_utf8());
        }
        offsets
    }

    /// The bytes of the line end at or after a unit; else of the last one before it; else LF.
    fn line_end_around(&self, unit: usize) -> Vec<u8> {
        let is_end = |unit: &&(char, Vec<u8>)| unit.0 == '\n';
        let after = self.units[unit..].iter().find(is_end);
        let found = after.or_else(|| self.units[..unit].iter().rev().find(is_end));
        found.map_or(b"\n".to_vec(), |(_, bytes)| bytes.clone())
    }

    /// The file with runs of units replaced.
    fn replace(&self, replacements: &[(Range<usize>, String)]) -> Vec<u8> {
        let mut file = self.mark.clone();
        let mut done = 0;
        for (run, text) in replacements {
            file.extend(self.units[done..run.start].iter().flat_map(|(_, bytes)| bytes));
            let ends: Vec<&Vec<u8>> = self.units[run.clone()]
                .iter()
                .filter(|(character, _)| *character == '\n')
                .map(|(_, bytes)| bytes)
                .collect();
            for (index, line) in text.split('\n').enumerate() {
                if index > 0 {
                    let end = ends.get(index - 1).or(ends.last());
                    file.extend(
                        end.map_or_else(|| self.line_end_around(run.end), |&end| end.clone()),
                    );
                }
                file.extend(line.bytes());
            }
            done = run.end;
        }
        file.extend(self.units[done..].iter().flat_map(|(_, bytes)| bytes));
        file
    }
}

fn edited(file: &str, old: &str, new: &str) -> String {
    let document = Document::parse(file.as_bytes()).unwrap();
    let start = document.view().find(old).unwrap();
    String::from_utf8(document.replace([(start..start + old.len(), new)])).unwrap()
}

#[test]
fn each_line_end_of_a_replacement_is_the_one_that_stood_there() {
    assert_eq!(edited("a\r\nb\nc\r\n", "a\nb\nc", "1\n2\n3"), "1\r\n2\n3\r\n");
    assert_eq!(edited("a\nb\r\nc", "a\nb\n", "1\n2\n3\n4\n"), "1\n2\r\n3\r\n4\r\nc");
}

#[test]
fn a_span_without_line_ends_takes_the_one_of_its_line() {
    assert_eq!(edited("a\nb\r\nc\n", "b", "1\n2"), "a\n1\r\n2\r\nc\n");
    assert_eq!(edited("a\r\nb", "b", "1\n2"), "a\r\n1\r\n2");
    assert_eq!(edited("a", "a", "1\n2"), "1\n2");
    assert_eq!(edited("a\r\nb\n", "b\n", "1\n2\n"), "a\r\n1\n2\n");
}

#[test]
fn bytes_are_written_as_given_where_they_form_something_new() {
    // The replaced span ends between a CR and what becomes its LF.
    assert_eq!(edited("a\rbc", "bc", "\nc"), "a\r\nc");
    assert_eq!(edited("ab", "a", "\u{feff}"), "\u{feff}b");
    assert_eq!(edited("\u{feff}ab", "a", ""), "\u{feff}b");
}

#[test]
fn lone_returns_and_second_byte_order_marks_are_ordinary_characters() {
    let document = Document::parse("\u{feff}\u{feff}a\r\r\nb\r".as_bytes()).unwrap();
    assert_eq!(document.view(), "\u{feff}a\r\nb\r");
    assert!(document.has_byte_order_mark());
    assert_eq!(document.line_count(), 2);
}

#[test]
fn what_is_not_text_is_refused() {
    assert!(matches!(Document::parse(b"a\0"), Err(NotText::Nul { offset: 1 })));
    assert!(matches!(Document::parse(b"a\xFF"), Err(NotText::Invalid { offset: 1, .. })));
}

#[test]
fn many_replacements_on_one_long_line_take_linear_time() {
    let file = "ab".repeat(1 << 20);
    let document = Document::parse(file.as_bytes()).unwrap();
    let replacements: Vec<_> = (0..1 << 20).map(|at| (2 * at..2 * at + 1, "\n")).collect();
    let edited = document.replace(replacements.iter().cloned());
    assert_eq!(edited, "\nb".repeat(1 << 20).as_bytes());
}

fn file() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => Just("\n"),
        3 => Just("\r\n"),
        1 => Just("\r"),
        1 => Just("\u{feff}"),
        2 => Just("a"),
        1 => Just("é"),
        1 => Just("あ"),
        1 => Just("😀"),
        1 => Just("\u{2028}"),
    ];
    let mark = prop_oneof![Just(""), Just("\u{feff}")];
    (mark, prop::collection::vec(piece, 0..60))
        .prop_map(|(mark, pieces)| mark.to_owned() + &pieces.concat())
}

/// Places as parts of the whole, so that they can be shrunk apart from the file.
fn replacements() -> impl Strategy<Value = Vec<(f64, f64, String)>> {
    prop::collection::vec((0.0..1.0, 0.0..0.3, "[x\n]{0,6}"), 0..6)
}

/// Runs of units in ascending order that do not overlap.
fn placed(parts: Vec<(f64, f64, String)>, units: usize) -> Vec<(Range<usize>, String)> {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "small numbers that are not negative"
    )]
    let at = |part: f64| (part * (units + 1) as f64) as usize;
    let mut runs: Vec<_> = parts
        .into_iter()
        .map(|(start, length, text)| (at(start), (at(start) + at(length)).min(units), text))
        .collect();
    runs.sort();
    let mut done = 0;
    let mut placed = Vec::new();
    for (start, end, text) in runs {
        let start = start.max(done);
        let end = end.max(start);
        placed.push((start..end, text));
        done = end;
    }
    placed
}

proptest! {
    #[test]
    fn replacing_agrees_with_the_model(file in file(), parts in replacements()) {
        let model = Model::of(&file);
        let offsets = model.offsets();
        let runs = placed(parts, model.units.len());
        let spans: Vec<_> = runs
            .iter()
            .map(|(run, text)| (offsets[run.start]..offsets[run.end], &**text))
            .collect();
        let document = Document::parse(file.as_bytes()).unwrap();
        let edited = document.replace(spans.iter().cloned());
        prop_assert_eq!(document.size_after(spans.iter().cloned()), edited.len() as u64);
        prop_assert_eq!(edited, model.replace(&runs));
    }

    #[test]
    fn offsets_agree_with_the_model(file in file()) {
        let model = Model::of(&file);
        let document = Document::parse(file.as_bytes()).unwrap();
        prop_assert_eq!(document.view(), model.view());
        prop_assert_eq!(document.bytes(), file.as_bytes());
        let mut byte = model.mark.len();
        let (mut line, mut column) = (1, 1);
        for (index, &offset) in model.offsets().iter().enumerate() {
            prop_assert_eq!(document.byte_offset(offset), byte);
            prop_assert_eq!(document.view_offset(byte), offset);
            prop_assert_eq!(document.position(offset), Position { line, column });
            let Some((character, bytes)) = model.units.get(index) else { break };
            if bytes == b"\r\n" {
                prop_assert_eq!(document.view_offset(byte + 1), offset);
            }
            byte += bytes.len();
            column += character.len_utf16() as u64;
            if *character == '\n' {
                (line, column) = (line + 1, 1);
                prop_assert_eq!(document.line_start(line), offset + 1);
            }
        }
    }

    #[test]
    fn nothing_replaced_changes_nothing(file in file()) {
        let document = Document::parse(file.as_bytes()).unwrap();
        let whole = document.view().to_owned();
        prop_assert_eq!(document.replace([]), file.as_bytes());
        prop_assert_eq!(document.replace([(0..whole.len(), &*whole)]), file.as_bytes());
    }
}
