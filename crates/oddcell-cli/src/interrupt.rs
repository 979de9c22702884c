//! Ctrl-C and termination requests: stops at once and removes unfinished files. Only a kill (`kill -9`) or a power cut
//! can leave one behind, named `.oddcell-….part`.

use oddcell::model_file::remove_unfinished;

use crate::output;

/// The exit code of an interrupted program, by shell convention.
const INTERRUPTED: i32 = 130;

/// Installs the handler. Some sandboxes allow none; Ctrl-C then ends the process as usual. Even then no half-written
/// file has its final name, because files are renamed into place only when complete.
pub(crate) fn listen() {
    let _ = ctrlc::set_handler(|| {
        let _none_begins = remove_unfinished();
        output::eprint_line("error: interrupted");
        std::process::exit(INTERRUPTED);
    });
}
