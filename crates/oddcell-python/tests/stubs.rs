//! Checks that the type stubs of the compiled module match its source. To update them:
//! `UPDATE_STUBS=1 cargo test --workspace --test stubs`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::{env, env::consts, fs, path::Path};

use pyo3_introspection::{introspect_cdylib, module_stub_files};

#[test]
fn the_stubs_are_current() {
    let deps = env::current_exe().unwrap().parent().unwrap().to_owned();
    let library = format!("{}_oddcell{}", consts::DLL_PREFIX, consts::DLL_SUFFIX);
    let module = introspect_cdylib(deps.join(&library), "_oddcell").unwrap();
    let stubs = module_stub_files(&module).remove(Path::new("__init__.pyi")).unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/oddcell/_oddcell.pyi");
    if env::var_os("UPDATE_STUBS").is_some() {
        fs::write(&file, &stubs).unwrap();
    }
    assert_eq!(fs::read_to_string(&file).unwrap_or_default(), stubs, "run with UPDATE_STUBS=1 to update");
}
