#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| oddcell_fuzz::models::forged_model(data));
