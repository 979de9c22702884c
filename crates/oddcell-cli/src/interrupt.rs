//! Ctrl-C (and being asked to end): stops at once, except while a file is being written. Then the writer is asked to
//! stop, which takes the unfinished file away; a second press stops at once all the same.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::{failure::Failure, output};

static ASKED: AtomicBool = AtomicBool::new(false);
/// Files that are being written.
static WRITING: AtomicUsize = AtomicUsize::new(0);

/// The exit code of a program that was interrupted, by convention of the shells.
const INTERRUPTED: u8 = 130;

/// Starts to listen. Without a handler (none can be had in some sandboxes) Ctrl-C ends the process as usual; files
/// are renamed into place only when complete, so even then none is left half written under its name.
pub(crate) fn listen() {
    let _ = ctrlc::set_handler(|| {
        let again = ASKED.swap(true, Ordering::SeqCst);
        if again || WRITING.load(Ordering::SeqCst) == 0 {
            output::eprint_line(&failure().to_string());
            std::process::exit(i32::from(INTERRUPTED));
        }
    });
}

/// Whether Ctrl-C was pressed.
pub(crate) fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

/// What an interrupted command ends with.
pub(crate) fn failure() -> Failure {
    Failure { message: "interrupted".to_owned(), hint: None, code: INTERRUPTED }
}

/// An error if Ctrl-C was pressed.
pub(crate) fn check() -> Result<(), Failure> {
    if asked() { Err(failure()) } else { Ok(()) }
}

/// Work that has an unfinished file to take away when it is stopped; it must [`check`] now and then.
pub(crate) fn while_writing<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    struct Done;
    impl Drop for Done {
        fn drop(&mut self) {
            WRITING.fetch_sub(1, Ordering::SeqCst);
        }
    }
    WRITING.fetch_add(1, Ordering::SeqCst);
    let _done = Done;
    check()?;
    work()
}
