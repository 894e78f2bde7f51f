//! Changes names as fast as it can, until its standard input ends: the attacker of the swap checks.
//!
//! ```sh
//! swapper exchange ws/dir ws/link                       # neither is ever missing
//! swapper rename ws/dir ws/kept rename ws/link ws/dir … # one after the other, over and over
//! swapper … rest 32 2000                                 # each 32nd round rests, for 2 ms at most
//! ```
//!
//! Says "ready" after the first round, and how many rounds there were at the end.

#[cfg(unix)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    attack::main()
}

#[cfg(not(unix))]
fn main() {
    eprintln!("the swap checks need symbolic links that anybody may make");
    std::process::exit(1);
}

#[cfg(unix)]
mod attack {
    use std::error::Error;
    use std::fs;
    use std::io::{Read, Write};
    use std::os::unix::fs::symlink;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    use rustix::fs::{CWD, RenameFlags, renameat_with};

    /// One step of a round. What others have put in the way meanwhile is cleared away, and what they
    /// have taken away is not missed: the next round comes soon.
    enum Step {
        Exchange(PathBuf, PathBuf),
        Rename(PathBuf, PathBuf),
        Link {
            target: PathBuf,
            at: PathBuf,
        },
        File {
            at: PathBuf,
            content: String,
        },
        Remove(PathBuf),
        /// Without it, the attacker of a file and a link leaves the file in its place for less time
        /// than a writer needs: on a slow machine, each write would be refused, and prove nothing.
        Rest {
            every: u32,
            most: Duration,
        },
    }

    pub(super) fn main() -> Result<(), Box<dyn Error>> {
        let steps = parse(std::env::args().skip(1))?;
        let done = Arc::new(AtomicBool::new(false));
        end_with_input(Arc::clone(&done));
        let mut rounds = 0_u32;
        while !done.load(Ordering::Relaxed) {
            for step in &steps {
                take(step, rounds);
            }
            rounds += 1;
            if rounds == 1 {
                println!("ready");
                std::io::stdout().flush()?;
            }
        }
        println!("{rounds}");
        Ok(())
    }

    /// However the parent ends, its end of the pipe closes.
    fn end_with_input(done: Arc<AtomicBool>) {
        thread::spawn(move || {
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            done.store(true, Ordering::Relaxed);
        });
    }

    fn parse(mut arguments: impl Iterator<Item = String>) -> Result<Vec<Step>, Box<dyn Error>> {
        let mut steps = Vec::new();
        while let Some(verb) = arguments.next() {
            let mut next =
                || arguments.next().ok_or_else(|| format!("{verb}: an argument is missing"));
            steps.push(match verb.as_str() {
                "exchange" => Step::Exchange(next()?.into(), next()?.into()),
                "rename" => Step::Rename(next()?.into(), next()?.into()),
                "link" => Step::Link { target: next()?.into(), at: next()?.into() },
                "file" => Step::File { at: next()?.into(), content: next()? },
                "remove" => Step::Remove(next()?.into()),
                "rest" => Step::Rest {
                    every: next()?.parse()?,
                    most: Duration::from_micros(next()?.parse()?),
                },
                _ => return Err(format!("no such step: {verb}").into()),
            });
        }
        if steps.is_empty() { Err("usage: swapper STEP ARGUMENT …".into()) } else { Ok(steps) }
    }

    fn take(step: &Step, round: u32) {
        match step {
            Step::Exchange(one, other) => {
                let _ = renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE);
            }
            Step::Rename(from, to) => insist(to, || fs::rename(from, to)),
            Step::Link { target, at } => insist(at, || symlink(target, at)),
            Step::File { at, content } => {
                let _ = fs::write(at, content);
            }
            Step::Remove(at) => clear(at),
            Step::Rest { every, most } => {
                if round.is_multiple_of(*every) {
                    thread::sleep(*most * share(round / every) / SHARES);
                }
            }
        }
    }

    /// How many lengths the rests have, so that the next round meets a writer at each of its steps.
    const SHARES: u32 = 16;

    /// 7 and `SHARES` have no common factor, so each share has its turn.
    fn share(rest: u32) -> u32 {
        rest.wrapping_mul(7) % SHARES + 1
    }

    /// Does something that puts a thing at `at`, where another may stand by then.
    fn insist(at: &Path, action: impl Fn() -> std::io::Result<()>) {
        for _ in 0..100 {
            match action() {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => clear(at),
                _ => return,
            }
        }
    }

    fn clear(at: &Path) {
        let is_folder = fs::symlink_metadata(at).is_ok_and(|entry| entry.is_dir());
        let _ = if is_folder { fs::remove_dir_all(at) } else { fs::remove_file(at) };
    }
}
