//! Writes files over and over, by the core or in place, until it is killed: the victim of the kill
//! checks. A process that starts in a millisecond can be killed ten thousand times. It ends with its
//! standard input, too.
//!
//! ```sh
//! writer create|overwrite|edit|patch core|in-place ROOT SIZE
//! ```
//!
//! `create` makes `0.txt`, `1.txt`, … and keeps the last few; `overwrite` fills `a.txt` with `A` and `B` by turns, and `edit`
//! replaces the one by the other. `patch` does so with `a.txt` and `b.txt`, moves `c.txt` to `d.txt` or back and replaces its
//! content, and makes or removes `e.txt`. Both ways of syncing and both tiers take turns. Says "ready" after the first file.

use std::error::Error;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use ringfence::path::NewFilePath;
use ringfence::sandbox::{NewContent, Sandbox};
use ringfence::tools::apply_patch::{ApplyPatchRequest, apply_patch};
use ringfence::tools::create_file::Durability;
use ringfence::tools::edit_file::{Edit, EditFileRequest, edit_file};
use ringfence::tools::entry_change::ChangeOptions;

/// How many new files are kept.
const KEPT: usize = 4;

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: writer create|overwrite|edit|patch core|in-place ROOT SIZE";
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, how, root, size] = arguments.as_slice() else { return Err(usage.into()) };
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let overwrite = what != "create";
    let mut write = match how.as_str() {
        "core" if what == "edit" => editor(Path::new(root))?,
        "core" if what == "patch" => patcher(Path::new(root))?,
        "core" => writer(Path::new(root), overwrite)?,
        _ => in_place(PathBuf::from(root)),
    };
    let contents = ["A", "B"].map(|letter| letter.repeat(size.parse().unwrap_or(0)));
    for turn in 0_usize.. {
        let name = if overwrite { "a.txt".to_owned() } else { format!("{turn}.txt") };
        let [old, new] = if overwrite { [turn + 1, turn] } else { [1, 0] };
        write(&name, [&contents[old % 2], &contents[new % 2]], turn)?;
        if let (false, Some(old)) = (overwrite, turn.checked_sub(KEPT)) {
            std::fs::remove_file(Path::new(root).join(format!("{old}.txt")))?;
        }
        if turn == 0 {
            println!("ready");
            std::io::stdout().flush()?;
        }
    }
    Ok(())
}

/// Writes the second text under the name, where the first may stand; the number tells one turn from the next.
type WriteOnce = Box<dyn FnMut(&str, [&str; 2], usize) -> Result<(), Box<dyn Error>>>;

fn in_place(root: PathBuf) -> WriteOnce {
    Box::new(move |name, [_, new], _| Ok(std::fs::write(root.join(name), new)?))
}

fn writer(root: &Path, overwrite: bool) -> Result<WriteOnce, Box<dyn Error>> {
    let tiers = [Sandbox::open(root)?, Sandbox::open_walking(root)?];
    Ok(Box::new(move |name, [_, new], turn| {
        let durable = turn % 8 == 0;
        let content = NewContent {
            bytes: new.as_bytes(),
            overwrite,
            expected: None,
            durable,
            executable: None,
        };
        tiers[turn / 2 % 2].write_file(&NewFilePath::parse(name)?, &content, &|| false)?;
        Ok(())
    }))
}

fn editor(root: &Path) -> Result<WriteOnce, Box<dyn Error>> {
    let tiers = [Sandbox::open(root)?, Sandbox::open_walking(root)?];
    Ok(Box::new(move |name, [old, new], turn| {
        let request = EditFileRequest {
            path: name.to_owned(),
            edits: vec![Edit { old: old.to_owned(), new: new.to_owned(), replace_all: false }],
            is_list: false,
            expected: None,
            dry_run: false,
        };
        let durability = if turn % 8 == 0 { Durability::Full } else { Durability::None };
        let options = ChangeOptions { durability, ..ChangeOptions::default() };
        edit_file(&tiers[turn / 2 % 2], &request, options, &|| false)?;
        Ok(())
    }))
}

fn patcher(root: &Path) -> Result<WriteOnce, Box<dyn Error>> {
    let tiers = [Sandbox::open(root)?, Sandbox::open_walking(root)?];
    Ok(Box::new(move |name, texts, turn| {
        let request =
            ApplyPatchRequest { patch: patch(name, texts, turn), ..ApplyPatchRequest::default() };
        let durability = if turn % 8 == 0 { Durability::Full } else { Durability::None };
        let options = ChangeOptions { durability, ..ChangeOptions::default() };
        apply_patch(&tiers[turn / 2 % 2], &request, options, &|| false)?;
        Ok(())
    }))
}

/// The patch of a turn. Its texts have no line end.
fn patch(name: &str, [old, new]: [&str; 2], turn: usize) -> String {
    let line = |sign: char, text: &str| format!("{sign}{text}\n\\ No newline at end of file\n");
    let replacing = |from: &str, to: &str| {
        let hunk = format!("@@ -1 +1 @@\n{}{}", line('-', old), line('+', new));
        format!("--- a/{from}\n+++ b/{to}\n{hunk}")
    };
    let is_even = turn.is_multiple_of(2);
    let (from, to) = if is_even { ("c.txt", "d.txt") } else { ("d.txt", "c.txt") };
    let last = if is_even {
        format!("--- /dev/null\n+++ b/e.txt\n@@ -0,0 +1 @@\n{}", line('+', new))
    } else {
        format!("--- a/e.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n{}", line('-', old))
    };
    let moves = format!("diff --git a/{from} b/{to}\nrename from {from}\nrename to {to}\n");
    [
        replacing(name, name),
        replacing("b.txt", "b.txt"),
        moves + &replacing(from, to),
        format!("diff --git a/e.txt b/e.txt\n{last}"),
    ]
    .concat()
}
