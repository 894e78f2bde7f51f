//! The globs of hosts: absolute ones, upper and lower case, and the sentences of refusals.

use super::*;

fn globs(sandbox: &Sandbox, base: &str, list: &[&str], case: Case) -> Globs {
    let list: Vec<String> = list.iter().map(ToString::to_string).collect();
    Globs::parse_for(sandbox, Path::new(base), &list, case).unwrap()
}

fn selects(globs: &Globs, path: &str) -> bool {
    globs.decide(Path::new(path), false) == Some(Verdict::Selected)
}

#[test]
fn an_absolute_glob_is_relative_to_the_root_wherever_the_list_begins() {
    let ws = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::open(ws.path()).unwrap();
    let absolute = |rest: &str| format!("{}/{rest}", ws.path().to_str().unwrap());
    for base in ["", "src", "src/app"] {
        let select = |glob: &str, path: &str| {
            let globs = globs(&sandbox, base, &[&absolute(glob)], Case::Sensitive);
            selects(&globs, path)
        };
        assert!(select("src/app/*.ts", "src/app/a.ts"), "beneath {base:?}");
        assert!(select("*/app/*.ts", "src/app/a.ts"), "beneath {base:?}");
        assert!(select("src/**", "src/app/a.ts"), "beneath {base:?}");
        assert!(!select("app/*.ts", "src/app/a.ts"), "beneath {base:?}");
        assert!(!select("*.ts", "src/app/a.ts"), "beneath {base:?}");
    }
}

#[test]
fn the_last_glob_decides_also_where_absolute_and_relative_ones_take_turns() {
    let ws = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::open(ws.path()).unwrap();
    let root = ws.path().to_str().unwrap();
    let list = ["*.ts", &format!("!{root}/src/a*"), "/aa.*", &format!("!{root}/src/aab.ts")];
    let globs = globs(&sandbox, "src", &list, Case::Sensitive);
    let verdicts = ["b.ts", "a.ts", "aa.ts", "aab.ts"]
        .map(|name| globs.decide(Path::new(&format!("src/{name}")), false));
    let (selected, taken_back) = (Some(Verdict::Selected), Some(Verdict::Reincluded));
    assert_eq!(verdicts, [selected, taken_back, selected, taken_back]);
    assert!(!globs.has_only_negated());
}

#[test]
fn letters_of_both_cases_match_each_other_also_beyond_ascii() {
    let ws = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::open(ws.path()).unwrap();
    for (glob, path) in [
        ("*.MD", "docs/readme.md"),
        ("README*", "readme.md"),
        ("/É/*.ts", "Ü/é/a.TS"),
        ("straße.*", "Ü/STRAẞE.ts"),
        ("[A-C].ts", "Ü/b.ts"),
    ] {
        let base = if path.starts_with('Ü') { "Ü" } else { "" };
        assert!(selects(&globs(&sandbox, base, &[glob], Case::Insensitive), path), "{glob}");
        assert!(!selects(&globs(&sandbox, base, &[glob], Case::Sensitive), path), "{glob}");
    }
}

#[test]
fn a_glob_that_does_not_parse_is_told_by_its_flaw() {
    let ws = tempfile::tempdir().unwrap();
    let sandbox = Sandbox::open(ws.path()).unwrap();
    for (glob, flaw) in [
        ("[a-", "`[` without `]`"),
        ("[z-a]", "a range between `[` and `]` runs backwards"),
        ("*.{py", "`{` without `}`"),
        ("py}", "`}` without `{`"),
        #[cfg(not(windows))]
        ("a\\", "`\\` at the end"),
    ] {
        let list = ["*".to_owned(), glob.to_owned()];
        let error = Globs::parse(&sandbox, Path::new(""), &list).unwrap_err();
        let GlobFlaw::Malformed(rule) = error.flaw else {
            panic!("{glob} is refused as malformed")
        };
        assert_eq!(error.index, Some(1));
        assert_eq!(rule.strip_prefix("must be a pattern that parses: "), Some(flaw), "{glob}");
    }
}
