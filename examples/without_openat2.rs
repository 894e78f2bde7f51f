//! Runs a command in a world whose kernel has no `openat2`: the walking tier's world.
//!
//! ```sh
//! cargo run --example without_openat2 -- ENOSYS node --test …   # what an old kernel says
//! cargo run --example without_openat2 -- EPERM node --test …    # what a seccomp filter says
//! ```

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    use std::collections::BTreeMap;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use rustix::io::Errno;
    use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

    /// The same number on every architecture, like all system calls since Linux 5.1.
    const SYS_OPENAT2: i64 = 437;

    let usage = "usage: without_openat2 ENOSYS|EPERM COMMAND [ARGUMENT …]";
    let mut arguments = std::env::args_os().skip(1);
    let errno = match arguments.next().as_deref().and_then(|name| name.to_str()) {
        Some("ENOSYS") => Errno::NOSYS,
        Some("EPERM") => Errno::PERM,
        _ => return Err(usage.into()),
    };
    let command = arguments.next().ok_or(usage)?;

    let refuse = SeccompAction::Errno(errno.raw_os_error().cast_unsigned());
    let filter: BpfProgram = SeccompFilter::new(
        BTreeMap::from([(SYS_OPENAT2, vec![])]),
        SeccompAction::Allow,
        refuse,
        std::env::consts::ARCH.try_into()?,
    )?
    .try_into()?;
    apply_filter(&filter)?;

    Err(Command::new(command).args(arguments).exec().into())
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("openat2 is a system call of Linux");
    std::process::exit(1);
}
