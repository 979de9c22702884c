//! Ctrl-C (and being asked to end): stops at once and takes unfinished files away. Only a process that is killed
//! (`kill -9`, a power cut) can leave one behind, under a name of its own: `.oddcell-….part`.

use oddcell::model_file::remove_unfinished;

use crate::output;

/// The exit code of a program that was interrupted, by convention of the shells.
const INTERRUPTED: i32 = 130;

/// Starts to listen. Without a handler (none can be had in some sandboxes) Ctrl-C ends the process as usual; files
/// are renamed into place only when complete, so even then none is left half written under its name.
pub(crate) fn listen() {
    let _ = ctrlc::set_handler(|| {
        let _none_begins = remove_unfinished();
        output::eprint_line("error: interrupted");
        std::process::exit(INTERRUPTED);
    });
}
