//! The core against the bare system calls, and how fast it looks through text.
//!
//! `npm run bench -- --only core`, or `cargo bench --manifest-path benches/Cargo.toml`.

use std::error::Error;
use std::fs;
use std::hint::black_box;
use std::num::NonZeroU64;
use std::time::Duration;

use criterion::{Criterion, Throughput};
use ringfence::sandbox::{ReadBuffer, Sandbox};
use ringfence::text::{InvalidUtf8, LineWindow, decode};
use ringfence::tools::file_uri::FileUri;
use ringfence::tools::read_file::{ReadAtOnce, ReadFileOptions, read_file, read_file_at_once};

const KIB: usize = 1024;

const SCRIPTS: [(&str, &str); 2] = [
    ("ASCII", "the quick brown fox jumps over the lazy dog and counts lines"),
    ("CJK", "いろはにほへとちりぬるをわかよたれそ"),
];

fn main() -> Result<(), Box<dyn Error>> {
    let mut criterion = Criterion::default()
        .configure_from_args()
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3));
    reads(&mut criterion)?;
    windows(&mut criterion)?;
    text(&mut criterion);
    uris(&mut criterion);
    criterion.final_summary();
    Ok(())
}

fn reads(criterion: &mut Criterion) -> Result<(), Box<dyn Error>> {
    let workspace = tempfile::tempdir()?;
    let path = "src/tools/read.ts";
    fs::create_dir_all(workspace.path().join("src/tools"))?;
    fs::write(workspace.path().join(path), lines(4 * KIB, "the quick brown fox"))?;

    let mut group = criterion.benchmark_group("read 4 KiB");
    let sandbox = Sandbox::open(workspace.path())?;
    let options = ReadFileOptions::default();
    // The first read learns which file system the root is on; only then may a read happen at once.
    read_file(&sandbox, path, &options, InvalidUtf8::Reject)?;
    let mut buffer = ReadBuffer::new();
    group.bench_function("ringfence", |bencher| {
        bencher.iter(|| {
            let (path, limit) = (black_box(path), 64 * KIB as u64);
            let invalid = InvalidUtf8::Reject;
            match read_file_at_once(&sandbox, path, &options, invalid, limit, &mut buffer) {
                ReadAtOnce::Answered(file) => Some((black_box(&*file.content).len(), file.meta)),
                ReadAtOnce::Opened(..) | ReadAtOnce::WouldWait => None,
            }
        });
    });
    group.bench_function("ringfence, on a worker", |bencher| {
        bencher.iter(|| read_file(&sandbox, black_box(path), &options, InvalidUtf8::Reject));
    });
    #[cfg(target_os = "linux")]
    bare::read_beneath(&mut group, workspace.path(), path)?;
    group.finish();
    Ok(())
}

/// 200 lines of 1 MiB, at its start and at its end.
fn windows(criterion: &mut Criterion) -> Result<(), Box<dyn Error>> {
    for (script, sentence) in SCRIPTS {
        let workspace = tempfile::tempdir()?;
        let content = lines(KIB * KIB, sentence);
        let last = content.split(|&byte| byte == b'\n').count() as u64 - 199;
        fs::write(workspace.path().join("file.md"), content)?;
        let sandbox = Sandbox::open(workspace.path())?;
        let mut group = criterion.benchmark_group(format!("200 lines of 1 MiB, {script}"));
        for (position, start_line) in [("start", 1), ("end", last)] {
            let window = LineWindow::new(start_line.try_into()?, 200.try_into()?);
            let options = ReadFileOptions { window, include_hash: false };
            group.bench_function(position, |bencher| {
                bencher.iter(|| read_file(&sandbox, "file.md", &options, InvalidUtf8::Reject));
            });
        }
        group.finish();
    }
    Ok(())
}

#[cfg(target_os = "linux")]
mod bare {
    use std::hint::black_box;
    use std::os::fd::AsFd;
    use std::path::Path;

    use criterion::BenchmarkGroup;
    use criterion::measurement::WallTime;
    use rustix::fs::{Mode, OFlags, ResolveFlags, fstat, open, openat2};
    use rustix::io::{Result, read};

    /// The least that a sandboxed read can do, into memory that is there already.
    pub fn read_beneath(
        group: &mut BenchmarkGroup<'_, WallTime>,
        root: &Path,
        path: &str,
    ) -> Result<()> {
        let root = open(root, OFlags::PATH | OFlags::DIRECTORY, Mode::empty())?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
        let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let mut buffer = vec![0; 8192];
        group.bench_function("bare openat2, fstat, read, close", |bencher| {
            bencher.iter(|| -> Result<(i64, usize)> {
                let file = openat2(root.as_fd(), black_box(path), flags, Mode::empty(), beneath)?;
                let size = fstat(&file)?.st_size;
                Ok((size, read(&file, &mut buffer)?))
            });
        });
        Ok(())
    }
}

fn text(criterion: &mut Criterion) {
    let first_line = LineWindow::new(NonZeroU64::MIN, NonZeroU64::MIN);
    for (script, sentence) in SCRIPTS {
        let bytes = lines(KIB * KIB, sentence);
        let mut group =
            criterion.benchmark_group(format!("count lines and check UTF-8 of 1 MiB, {script}"));
        group.throughput(Throughput::Bytes(bytes.len() as u64));
        group.bench_function("ringfence", |bencher| {
            bencher.iter(|| {
                let decoded = decode(black_box(&bytes), InvalidUtf8::Reject).ok()?;
                Some(first_line.cut(&decoded.text).line_count)
            });
        });
        group.finish();
    }
}

fn uris(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("resolveFileUri");
    group.bench_function("ringfence", |bencher| {
        bencher.iter(|| {
            let parsed = FileUri::parse(black_box("file:///assets/brand%20guide/colours.md"));
            parsed.map(|uri| (uri.scope(), uri.path(), uri.segments()))
        });
    });
    group.finish();
}

/// So many bytes of text, in lines of one sentence.
fn lines(bytes: usize, sentence: &str) -> Vec<u8> {
    let line = format!("{sentence}\n");
    let mut text = line.repeat(bytes / line.len()).into_bytes();
    text.resize(bytes, b'.');
    text
}
