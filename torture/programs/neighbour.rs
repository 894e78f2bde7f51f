//! A program that works in a folder while others replace a file there: the neighbour of the check
//! `neighbours`.
//!
//! ```sh
//! neighbour exchange DIR   # exchanges t.txt with u.txt, which may be a file or a link
//! neighbour edit DIR       # appends lines to t.txt, in place
//! neighbour save DIR       # puts files that it has written beside in the place of t.txt
//! neighbour both DIR       # exchanges, and edits in place
//! ```
//!
//! Each line on its standard input turns it: it begins, rests, begins again. When it rests it prints
//! how often it has done its work since the program began, and then the numbers of the edits whose file
//! had no name any more when the opening was over. It ends with its standard input.

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    neighbour::main()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("the neighbour exchanges names, which is a system call of Linux");
    std::process::exit(1);
}

#[cfg(target_os = "linux")]
mod neighbour {
    use std::error::Error;
    use std::fs::{self, OpenOptions};
    use std::io::{self, BufRead, Write};
    use std::os::unix::fs::MetadataExt;
    use std::path::{Path, PathBuf};
    use std::sync::mpsc::{Receiver, RecvError, TryRecvError, channel};

    use rustix::fs::{CWD, RenameFlags, renameat_with};

    /// Does the work of one turn; the number tells it from all others.
    type Work = fn(&Path, u64) -> io::Result<Done>;

    enum Done {
        Named,
        /// Linux finds a file by its name first and opens it later. Between these two steps the file has lost
        /// its name.
        Nameless,
    }

    pub(super) fn main() -> Result<(), Box<dyn Error>> {
        let arguments: Vec<_> = std::env::args().skip(1).collect();
        let [kind, directory] = &arguments[..] else {
            return Err("usage: neighbour exchange|edit|save|both DIR".into());
        };
        let work: Work = match kind.as_str() {
            "exchange" => exchange,
            "edit" => edit,
            "save" => save,
            "both" => |directory, number| {
                exchange(directory, number)?;
                edit(directory, number)
            },
            _ => return Err(format!("no such work: {kind}").into()),
        };
        Ok(take_turns(work, &PathBuf::from(directory), &lines())?)
    }

    /// The lines of the standard input, as they come.
    fn lines() -> Receiver<String> {
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            for line in io::stdin().lock().lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        receiver
    }

    fn take_turns(work: Work, directory: &Path, lines: &Receiver<String>) -> io::Result<()> {
        let mut done = 0;
        let mut nameless = Vec::new();
        loop {
            if matches!(lines.recv(), Err(RecvError)) {
                return Ok(());
            }
            loop {
                if let Done::Nameless = work(directory, done)? {
                    nameless.push(done);
                }
                done += 1;
                match lines.try_recv() {
                    Ok(_) => break,
                    Err(TryRecvError::Empty) => {}
                    Err(TryRecvError::Disconnected) => return Ok(()),
                }
            }
            print!("{done}");
            nameless.drain(..).for_each(|number| print!(" {number}"));
            println!();
            io::stdout().flush()?;
        }
    }

    fn exchange(directory: &Path, _number: u64) -> io::Result<Done> {
        let [one, other] = ["t.txt", "u.txt"].map(|name| directory.join(name));
        renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?;
        Ok(Done::Named)
    }

    fn edit(directory: &Path, number: u64) -> io::Result<Done> {
        let mut file = OpenOptions::new().append(true).open(directory.join("t.txt"))?;
        let names = file.metadata()?.nlink();
        writeln!(file, "edit {number}")?;
        Ok(if names == 0 { Done::Nameless } else { Done::Named })
    }

    fn save(directory: &Path, number: u64) -> io::Result<Done> {
        let beside = directory.join("saved.txt");
        fs::write(&beside, format!("save {number}"))?;
        fs::rename(beside, directory.join("t.txt"))?;
        Ok(Done::Named)
    }
}
