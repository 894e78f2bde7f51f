//! Does one thing once, inside [`measured`], for callgrind to count its instructions:
//!
//! ```sh
//! valgrind --tool=callgrind --toggle-collect='*measured*' instructions read-4-kib
//! ```
//!
//! `scripts/check-instructions.mjs` runs it and compares.

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::Path;

use ringfence::hash::sha256;
use ringfence::path::NewFilePath;
use ringfence::sandbox::{Containment, Sandbox};
use ringfence::text::{InvalidUtf8, LineWindow};
use ringfence::tools::apply_patch::{ApplyPatchRequest, apply_patch};
use ringfence::tools::create_file::{
    CreateFileOptions, CreateFileRequest, Durability, create_file,
};
use ringfence::tools::entry_change::ChangeOptions;
use ringfence::tools::file_uri::FileUri;
use ringfence::tools::read_file::{ReadFileOptions, read_file};
use ringfence::tools::snapshot::{SnapshotOptions, workspace_snapshot};

const KIB: usize = 1024;
const PATH: &str = "src/tools/file.ts";

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    let usage = "usage: instructions PATH-TO-MEASURE";
    let name = std::env::args().nth(1).ok_or(usage)?;
    match name.as_str() {
        "read-4-kib" => read(&lines(4 * KIB), 1),
        "read-window-of-1-mib" => read(&lines(KIB * KIB), 8000),
        "create-empty" => create(0),
        "create-16-kib" => create(16 * KIB),
        "overwrite-16-kib-expected" => overwrite_expected(),
        "patch-20-files-5-hunks-each" => patch(20, 200, 5),
        "patch-200-hunks" => patch(1, 3400, 200),
        "resolve-file-uri" => resolve(),
        "snapshot-of-1000-files" => snapshot(),
        "containment" => containment(),
        _ => Err(usage.into()),
    }
}

/// What callgrind collects is what happens in here. The first call of anything is dearer than all
/// that follow, so `work` runs once before.
#[inline(never)]
fn measured<T>(work: &mut dyn FnMut() -> T) -> T {
    black_box(work())
}

fn read(content: &[u8], start_line: u64) -> Outcome {
    let workspace = workspace_with(content)?;
    let sandbox = Sandbox::open(workspace.path())?;
    let options = ReadFileOptions {
        window: LineWindow::new(start_line.try_into()?, 200.try_into()?),
        include_hash: false,
    };
    let mut work = || read_file(&sandbox, black_box(PATH), &options, InvalidUtf8::Reject);
    work()?;
    measured(&mut work)?;
    Ok(())
}

fn create(bytes: usize) -> Outcome {
    let workspace = tempfile::tempdir()?;
    let sandbox = Sandbox::open(workspace.path())?;
    let content = String::from_utf8(lines(bytes))?;
    let create_at = |path: &str| -> Outcome {
        let request = CreateFileRequest {
            path: NewFilePath::parse(path)?,
            content: content.clone(),
            overwrite: false,
            expected: None,
        };
        create_file(&sandbox, request, &CreateFileOptions::default(), &|| false)?;
        Ok(())
    };
    create_at("first.ts")?;
    measured(&mut || create_at(black_box("second.ts")))
}

fn overwrite_expected() -> Outcome {
    let content = lines(16 * KIB);
    let workspace = workspace_with(&content)?;
    let sandbox = Sandbox::open(workspace.path())?;
    let text = String::from_utf8(content)?;
    let expected = sha256(text.as_bytes());
    let mut overwrite = || -> Outcome {
        let request = CreateFileRequest {
            path: NewFilePath::parse(black_box(PATH))?,
            content: text.clone(),
            overwrite: true,
            expected: Some(expected),
        };
        create_file(&sandbox, request, &CreateFileOptions::default(), &|| false)?;
        Ok(())
    };
    overwrite()?;
    measured(&mut overwrite)
}

/// Patches some files of so many lines each, with so many hunks in each.
fn patch(files: usize, lines: usize, hunks: usize) -> Outcome {
    let workspace = tempfile::tempdir()?;
    let sandbox = Sandbox::open(workspace.path())?;
    let line = |number: usize, word: &str| format!("{number} {word} the quick brown fox");
    let text: String = (1..=lines).map(|number| line(number, "old") + "\n").collect();
    let [mut forth, mut back] = [String::new(), String::new()];
    for file in 0..files {
        let name = format!("file-{file}.ts");
        fs::write(workspace.path().join(&name), &text)?;
        for (patch, from, to) in [(&mut forth, "old", "new"), (&mut back, "new", "old")] {
            write!(patch, "--- a/{name}\n+++ b/{name}\n")?;
            for hunk in 0..hunks {
                let at = hunk * (lines / hunks) + 5;
                let [before, after] = [line(at - 1, "old"), line(at + 1, "old")];
                write!(patch, "@@ -{0},3 +{0},3 @@\n {before}\n", at - 1)?;
                write!(patch, "-{}\n+{}\n {after}\n", line(at, from), line(at, to))?;
            }
        }
    }
    let apply = |patch: &str| -> Outcome {
        let request = ApplyPatchRequest { patch: patch.to_owned(), ..Default::default() };
        let options = ChangeOptions { durability: Durability::None, ..ChangeOptions::default() };
        apply_patch(&sandbox, &request, options, &|| false)?;
        Ok(())
    };
    apply(&forth)?;
    measured(&mut || apply(black_box(&back)))
}

fn resolve() -> Outcome {
    let mut resolve = || {
        let parsed = FileUri::parse(black_box("file:///assets/brand%20guide/colours.md"));
        parsed.map(|uri| (uri.scope(), uri.path(), uri.segments()))
    };
    resolve()?;
    measured(&mut resolve)?;
    Ok(())
}

fn snapshot() -> Outcome {
    let workspace = tempfile::tempdir()?;
    for index in 0..1000 {
        let file = workspace.path().join(format!("folder-{}/file-{index}.ts", index % 10));
        fs::create_dir_all(file.parent().unwrap_or(Path::new("")))?;
        fs::write(file, "")?;
    }
    let sandbox = Sandbox::open(workspace.path())?;
    let options = SnapshotOptions { max_entries: 2000.try_into()?, ..Default::default() };
    let mut list = || workspace_snapshot(&sandbox, &options, &|| false);
    list()?;
    measured(&mut list)?;
    Ok(())
}

/// Not every valgrind knows `openat2`, and the two tiers count differently.
fn containment() -> Outcome {
    let workspace = tempfile::tempdir()?;
    let tier = match Sandbox::open(workspace.path())?.containment() {
        Containment::Kernel => "kernel",
        Containment::Walk => "walk",
    };
    println!("{tier}");
    Ok(())
}

fn workspace_with(content: &[u8]) -> Result<tempfile::TempDir, Box<dyn Error>> {
    let workspace = tempfile::tempdir()?;
    let file = workspace.path().join(PATH);
    fs::create_dir_all(file.parent().unwrap_or(Path::new("")))?;
    fs::write(file, content)?;
    Ok(workspace)
}

/// So many bytes of text in lines of 64.
fn lines(bytes: usize) -> Vec<u8> {
    let line = format!("{:.<63}\n", "the quick brown fox jumps over the lazy dog");
    line.repeat(bytes / line.len()).into_bytes()
}
