//! Runs a command as on an old kernel, or in a container whose filter knows none of the newer system
//! calls: the walking tier's world.
//!
//! Refused are all calls that are newer than Linux 5.6, `openat2` of 5.6 itself, and `renameat2`,
//! which is older and missing from some filters and file systems; `--keep-renameat2` leaves that one, for
//! checks of the walk alone.
//!
//! ```sh
//! cargo run --example without_new_calls -- ENOSYS node --test …   # what an old kernel says
//! cargo run --example without_new_calls -- EPERM node --test …    # what a seccomp filter says
//! ```

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use rustix::io::Errno;
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

    // Linux gives the calls since 5.1 the same number on every architecture.
    const SYS_OPENAT2: i64 = 437;
    const SYS_PIDFD_GETFD: i64 = 438; // the last of Linux 5.6
    /// Well beyond the newest call; the x32 ones, from 512 on, are none of those that are used here.
    const BEYOND_ALL: i64 = 512;

    let usage = "usage: without_new_calls ENOSYS|EPERM [--keep-renameat2] COMMAND [ARGUMENT …]";
    let mut arguments = std::env::args_os().skip(1).peekable();
    let errno = match arguments.next().as_deref().and_then(|name| name.to_str()) {
        Some("ENOSYS") => Errno::NOSYS,
        Some("EPERM") => Errno::PERM,
        _ => return Err(usage.into()),
    };
    let keeps_renameat2 = arguments.next_if(|argument| argument == "--keep-renameat2").is_some();
    let command = arguments.next().ok_or(usage)?;

    let older = [SYS_OPENAT2].into_iter().chain((!keeps_renameat2).then_some(libc::SYS_renameat2));
    let refused = (SYS_PIDFD_GETFD + 1..BEYOND_ALL).chain(older);
    let filter: BpfProgram = SeccompFilter::new(
        refused.map(|call| (call, vec![])).collect(),
        SeccompAction::Allow,
        SeccompAction::Errno(errno.raw_os_error().cast_unsigned()),
        std::env::consts::ARCH.try_into()?,
    )?
    .try_into()?;
    apply_filter(&filter)?;

    Err(Command::new(command).args(arguments).exec().into())
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("the filter is one of Linux");
    std::process::exit(1);
}
