//! Rules against paths: spellings, folders, exceptions, and the sentences of refusals.

use proptest::prelude::*;

use super::*;

const ALLOWED: Judgement =
    Judgement { refuses_file: false, refuses_folder: false, hides_ancestors: false };
const REFUSED: Judgement = Judgement::REFUSED;
const NO_FOLDER: Judgement = Judgement { refuses_folder: true, ..ALLOWED };

fn list(patterns: &[&str]) -> Vec<String> {
    patterns.iter().map(ToString::to_string).collect()
}

fn denying(patterns: &[&str]) -> AccessRules {
    AccessRules::parse(RuleLists { deny: Some(list(patterns)), ..RuleLists::default() }).unwrap()
}

fn read(patterns: &[&str], path: &str) -> Judgement {
    denying(patterns).judge(Path::new(path), Access::Read)
}

#[test]
fn a_pattern_without_a_slash_holds_at_any_depth_and_one_with_a_slash_from_the_root() {
    for path in [".env", "a/.env", "a/b/.env", ".env/x", "a/.env/x/y"] {
        assert_eq!(read(&[".env"], path), REFUSED, "{path}");
    }
    for path in [".envx", "x.env", "a/env", "."] {
        assert_eq!(read(&[".env"], path), ALLOWED, "{path}");
    }
    assert_eq!(read(&["/.env"], "a/.env"), ALLOWED);
    assert_eq!(read(&["a/.env"], "b/a/.env"), ALLOWED);
    assert_eq!(read(&["./a/.env"], "a/.env"), REFUSED);
    assert_eq!(read(&["**/a/.env"], "b/a/.env"), REFUSED);
    assert_eq!(read(&["*.{pem,key}"], "a/x.key"), REFUSED);
}

#[test]
fn a_pattern_with_a_final_slash_means_folders_and_absent_names() {
    assert_eq!(read(&["keys/"], "keys"), NO_FOLDER);
    assert_eq!(read(&["keys/"], "a/keys"), NO_FOLDER);
    assert_eq!(read(&["keys/"], "keys/a"), REFUSED);
}

#[test]
fn an_exception_takes_a_name_back_but_nothing_in_a_folder_that_is_matched() {
    let env = [".env", ".env.*", "!.env.example"];
    assert_eq!(read(&env, ".env.local"), REFUSED);
    assert_eq!(read(&env, ".env.example"), ALLOWED);
    assert_eq!(read(&[".env.*", "!.env.example", ".env.*"], ".env.example"), REFUSED);
    assert_eq!(read(&["keys/", "!keys/public.pem"], "keys/public.pem"), REFUSED);
    assert_eq!(read(&["keys/*", "!keys/public.pem"], "keys/public.pem"), ALLOWED);
    assert_eq!(read(&[".vscode/", "!**/node_modules/**"], "node_modules/x/.vscode/a"), ALLOWED);
    assert_eq!(read(&[".vscode/", "!**/node_modules/**"], "x/.vscode/a"), REFUSED);
}

#[test]
fn an_exception_for_folders_lets_them_be_listed() {
    let only_markdown = ["*", "!*/", "!*.md"];
    assert_eq!(read(&only_markdown, "docs"), Judgement { refuses_file: true, ..ALLOWED });
    assert_eq!(read(&only_markdown, "a.md"), ALLOWED);
    assert_eq!(read(&only_markdown, "docs/a.md"), Judgement { hides_ancestors: true, ..ALLOWED });
    assert!(read(&only_markdown, "docs/a.txt").refuses_file);
}

#[test]
fn names_that_a_file_system_may_take_for_the_same_are_denied_alike() {
    let cases = [
        (".env", ".ENV"),
        (".ENV", ".env"),
        ("caf\u{e9}", "cafe\u{301}"),
        ("cafe\u{301}", "caf\u{e9}"),
        ("É", "é"),
        (".ssh", ".ſsh"),
        (".ssh", ".s\u{200d}sh"),
        ("pass", "paß"),
        ("files", "ﬁles"),
        ("[A-C].key", "b.KEY"),
        ("*.PEM", "a.pem"),
        ("K", "\u{212a}"),
        // The pattern has the letter beyond ASCII, and the name does not.
        ("straße", "STRASSE"),
        ("ﬁle", "FILE"),
        ("\u{212a}", "k"),
        ("ẞ", "ss"),
    ];
    for (pattern, path) in cases {
        assert_eq!(read(&[pattern], path), REFUSED, "{pattern} {path}");
    }
}

#[test]
fn what_a_person_has_approved_is_not_read_only_nor_what_lies_beneath_it() {
    let lists = RuleLists {
        deny: Some(list(&[".env"])),
        read_only: Some(list(&["hooks", ".vscode"])),
        ..RuleLists::default()
    };
    let rules = AccessRules::parse(lists).unwrap();
    let asking = rules.asking();
    for path in ["hooks/a", "b/hooks/.env"] {
        let _ = asking.judge(Path::new(path), Access::Change);
    }
    let _ = asking.judge(Path::new("hooks/read"), Access::Read);
    let approving = rules.approving(&asking);
    let refuses = |path| approving.judge(Path::new(path), Access::Change).is_refused();
    assert!(!refuses("hooks/a") && !refuses("hooks/a/b"));
    for path in ["hooks/b", "hooks/ab", "hooks", "hooks/read", ".vscode/a", "b/hooks/.env"] {
        assert!(refuses(path), "{path}");
    }
    assert!(rules.judge(Path::new("hooks/a"), Access::Change).is_refused());
}

#[test]
fn the_name_that_a_pattern_spells_is_denied_whatever_it_looks_like() {
    let cases = [
        ("straße[0-9].key", "straße1.key"),
        ("µ[0-9]", "µ1"),
        ("λόγος[0-9]", "λόγος1"),
        ("paß\\[1\\]", "paß[1]"),
        ("*", "\u{200b}"),
        ("?*/.env", "\u{200b}/.env"),
        ("a/?*", "a/\u{3164}"),
        ("É[0-9]", "É1"),
    ];
    for (pattern, path) in cases {
        if cfg!(windows) && pattern.contains('\\') {
            continue;
        }
        assert_eq!(read(&[pattern], path), REFUSED, "{pattern} {path}");
    }
}

#[test]
fn names_beyond_ascii_are_excepted_like_others() {
    let only_markdown = ["*", "!*/", "!*.md"];
    for path in ["docs/ä.md", "größe/b.md"] {
        assert!(!read(&only_markdown, path).refuses_file, "{path}");
    }
    let packages = [".vscode", "!**/node_modules/**"];
    for path in ["node_modules/x/.vscode/ä.json", "node_modules/ä/.vscode/a.json"] {
        assert_eq!(read(&packages, path), ALLOWED, "{path}");
    }
    assert_eq!(read(&packages, "ä/.vscode/a.json"), REFUSED);
}

#[test]
fn a_pattern_that_is_none_without_case_takes_nothing_from_the_others() {
    assert_eq!(read(&["\u{200d}", ".ssh"], ".ſsh"), REFUSED);
}

#[test]
fn an_exception_takes_back_only_what_is_spelled_like_it() {
    for (exception, path) in [("!straße.key", "strasse.key"), ("!É.key", "é.key")] {
        assert_eq!(read(&["*.key", exception], path), REFUSED, "{exception} {path}");
        assert_eq!(read(&["*.key", exception], &exception[1..]), ALLOWED, "{exception}");
    }
}

#[cfg(unix)]
#[test]
fn a_name_that_is_not_utf8_is_compared_byte_by_byte() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let path = Path::new(OsStr::from_bytes(b"a/\xFF.KEY"));
    for pattern in ["?.key", "*.key", "a/"] {
        assert_eq!(denying(&[pattern]).judge(path, Access::Read), REFUSED, "{pattern}");
    }
}

#[test]
fn only_files_are_changed_where_write_only_excepts_folders() {
    let write_only = Some(list(&["*", "!*/"]));
    let rules = AccessRules::parse(RuleLists { write_only, ..RuleLists::default() }).unwrap();
    assert_eq!(rules.judge(Path::new("a"), Access::Change), NO_FOLDER);
}

#[test]
fn writing_is_allowed_where_write_only_matches_and_nothing_protects_the_path() {
    let rules = AccessRules::parse(RuleLists {
        deny: Some(list(&[".env"])),
        read_only: Some(list(&["src/generated/"])),
        write_only: Some(list(&["src/", "*.MD"])),
    })
    .unwrap();
    let judged = |path| {
        let judge = |access| rules.judge(Path::new(path), access);
        (judge(Access::Read), judge(Access::Change))
    };
    assert_eq!(judged("src/a.ts"), (ALLOWED, ALLOWED));
    assert_eq!(judged("docs/a.md"), (ALLOWED, ALLOWED));
    assert_eq!(judged("docs/a.txt"), (ALLOWED, REFUSED));
    assert_eq!(judged("src/.env"), (REFUSED, REFUSED));
    assert_eq!(judged("src/generated/a.ts"), (ALLOWED, REFUSED));
    assert_eq!(judged("src/generated"), (ALLOWED, NO_FOLDER));
    let none = RuleLists { write_only: Some(Vec::new()), ..RuleLists::default() };
    let none = AccessRules::parse(none).unwrap();
    assert_eq!(none.judge(Path::new("a"), Access::Change), REFUSED);
}

#[test]
fn what_write_only_matches_is_not_wider_than_its_spelling() {
    let lists = RuleLists { write_only: Some(list(&["pass", "É"])), ..RuleLists::default() };
    let rules = AccessRules::parse(lists).unwrap();
    let change = |path| rules.judge(Path::new(path), Access::Change);
    assert_eq!([change("PASS"), change("E\u{301}")], [ALLOWED, ALLOWED]);
    assert_eq!([change("paß"), change("é"), change("p\u{200d}ass")], [REFUSED; 3]);
}

#[test]
fn spaces_at_the_end_do_not_belong_to_a_pattern_unless_escaped() {
    assert_eq!(read(&[".env  "], ".env"), REFUSED);
    assert_eq!(read(&["a\\ "], "a "), if cfg!(windows) { ALLOWED } else { REFUSED });
}

#[test]
fn a_pattern_that_is_wrong_is_named_with_its_rule() {
    for (pattern, rule) in [
        ("", "1 to 4,096 bytes"),
        ("# secrets", "must not begin with `#`"),
        ("../x", "must not lead out"),
        ("{a,../b}", "must not lead out"),
        ("{a,b/}", "must not have `/` at the end"),
        ("..", "must not lead out"),
        ("a/../b", "must not hold `..`"),
        ("[a", "`[` without `]`"),
        ("{a", "`{` without `}`"),
        ("!", "must name something"),
        ("/", "must name something"),
        ("   ", "1 to 4,096 bytes"),
    ] {
        let lists = RuleLists { read_only: Some(list(&["ok", pattern])), ..RuleLists::default() };
        let error = AccessRules::parse(lists).unwrap_err();
        assert_eq!((error.list, error.index), ("read_only", Some(1)));
        assert!(error.rule.contains(rule), "{pattern:?}: {}", error.rule);
    }
}

proptest! {
    /// A denied folder takes all beneath it along, and the case of ASCII letters changes no judgement.
    #[test]
    fn what_lies_in_a_denied_path_is_denied(
        patterns in prop::collection::vec("!?(\\*\\*/)?[abA*?]{1,3}(/[abA*]{1,2})?/?", 1..5),
        names in prop::collection::vec("[abAB]{1,2}", 1..4),
    ) {
        let lists = RuleLists { deny: Some(patterns), ..RuleLists::default() };
        let Ok(rules) = AccessRules::parse(lists) else { return Ok(()) };
        let judge = |path: &str| rules.judge(Path::new(path), Access::Read);
        let path = names.join("/");
        prop_assert_eq!(judge(&path), judge(&path.to_uppercase()));
        if judge(&path).refuses_folder {
            prop_assert_eq!(judge(&format!("{path}/x")), REFUSED);
        }
    }
}
