//! Writes files over and over, by the core or in place, until it is killed: the victim of the kill
//! checks. A process that starts in a millisecond can be killed ten thousand times. It ends with its
//! standard input, too.
//!
//! ```sh
//! writer create|overwrite core|in-place ROOT SIZE
//! ```
//!
//! `create` makes `0.txt`, `1.txt`, … and keeps the last few; `overwrite` fills `a.txt` with `A` and `B` by turns. Both ways
//! of syncing and both tiers take turns. Says "ready" after the first file.

use std::error::Error;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use ringfence::path::NewFilePath;
use ringfence::sandbox::{NewContent, Sandbox};

/// How many new files are kept.
const KEPT: usize = 4;

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: writer create|overwrite core|in-place ROOT SIZE";
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [what, how, root, size] = arguments.as_slice() else { return Err(usage.into()) };
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(0);
    });
    let overwrite = what == "overwrite";
    let mut write = writer(how == "core", Path::new(root), overwrite)?;
    let contents = ["A", "B"].map(|letter| letter.repeat(size.parse().unwrap_or(0)));
    for turn in 0_usize.. {
        let name = if overwrite { "a.txt".to_owned() } else { format!("{turn}.txt") };
        let content = if overwrite { &contents[turn % 2] } else { &contents[0] };
        write(&name, content.as_bytes(), turn)?;
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

/// Writes the bytes under the name; the number tells one turn from the next.
type WriteOnce = Box<dyn FnMut(&str, &[u8], usize) -> Result<(), Box<dyn Error>>>;

fn writer(by_core: bool, root: &Path, overwrite: bool) -> Result<WriteOnce, Box<dyn Error>> {
    if !by_core {
        let root = PathBuf::from(root);
        return Ok(Box::new(move |name, bytes, _| Ok(std::fs::write(root.join(name), bytes)?)));
    }
    let tiers = [Sandbox::open(root)?, Sandbox::open_walking(root)?];
    Ok(Box::new(move |name, bytes, turn| {
        let durable = turn % 8 == 0;
        let content = NewContent { bytes, overwrite, expected: None, durable };
        tiers[turn / 2 % 2].write_file(&NewFilePath::parse(name)?, &content, &|| false)?;
        Ok(())
    }))
}
