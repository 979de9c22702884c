//! Model files: any bytes give a model or an error, and every score of a model is finite.

use std::{
    fmt::Write as _,
    sync::{LazyLock, OnceLock},
};

use oddcell::{
    Context, DetectorSpec, Model, Seed, Table,
    detect::DETECTORS,
    error::with_causes,
    model::FitOptions,
    model_file::{open, seal},
    table::{ReadOptions, TableReader},
    tensors::Tensor,
};
use serde_json::{Value, json};

use super::{input::Input, judging::check, readers::assert_plain};

/// A table of every kind of column; with `wild`, later rows have values that training never had.
fn table(n_rows: usize, wild: bool) -> Table {
    let mut csv = "amount,city,placed,gift,note\n".to_owned();
    for row in 0..n_rows {
        let amount = if wild { "1e300".to_owned() } else { format!("{}.5", row * 37 % 101) };
        let city = ["Oslo", "Bergen", "Voss"][row * 7 % 11 % 3];
        let (month, day) = (1 + row * 5 % 12, 1 + row * 11 % 28);
        let note = if wild { "" } else { ["call", "wait here", "x"][row % 3] };
        writeln!(csv, "{amount},{city},2025-{month:02}-{day:02} 12:30:00,{},{note}{row}", row % 3 == 0)
            .expect("a text");
    }
    let reader = TableReader::from_bytes("fuzzed", csv.into_bytes(), &ReadOptions::default());
    Table::from_reader(reader.expect("a CSV")).expect("a CSV")
}

static USUAL: LazyLock<Table> = LazyLock::new(|| table(30, false));
static WILD: LazyLock<Table> = LazyLock::new(|| table(5, true));

/// The file of a small model of the detector at this place of the list.
fn honest(index: usize) -> &'static [u8] {
    static FILES: [OnceLock<Vec<u8>>; 64] = [const { OnceLock::new() }; 64];
    FILES[index].get_or_init(|| {
        let mut detector = DetectorSpec::new(DETECTORS[index].name, None).expect("on the list");
        detector.shorten();
        let mut options = FitOptions::new(detector);
        options.split.folds = 2;
        let model = Model::fit(&USUAL, &options, &Context::silent(Seed(1))).expect("a small model");
        model.to_bytes().expect("a model can be saved")
    })
}

/// The bytes of a file.
pub fn model(data: &[u8]) {
    judge(data);
}

fn judge(file: &[u8]) {
    match Model::from_bytes(file) {
        Ok(model) => {
            check(&model, &USUAL);
            check(&model, &WILD);
        }
        Err(error) => assert_plain(&with_causes(&error)),
    }
}

/// Changes parts of an honest file and makes its checksum right again. The first byte chooses the detector, then come the
/// changes.
pub fn forged_model(data: &[u8]) {
    let mut input = Input(data);
    let (header, mut tensors) = open(honest(input.below(DETECTORS.len()))).expect("an honest file");
    let mut header: Value = serde_json::from_str(&header).expect("an honest header");
    for _ in 0..=input.below(4) {
        if input.below(3) == 0 {
            change_header(&mut header, &mut input);
        } else {
            let index = input.below(tensors.0.len());
            let tensor = tensors.0.values_mut().nth(index).expect("there are tensors");
            change_tensor(tensor, &mut input);
        }
    }
    judge(&seal(&header.to_string(), &tensors).expect("a small file"));
}

/// Walks into the header by the input, and replaces what is there.
fn change_header(value: &mut Value, input: &mut Input<'_>) {
    match value {
        Value::Object(fields) if !fields.is_empty() && input.below(16) > 0 => {
            let index = input.below(fields.len());
            change_header(fields.values_mut().nth(index).expect("below their number"), input);
        }
        Value::Array(items) if !items.is_empty() && input.below(16) > 1 => {
            let index = input.below(items.len());
            change_header(&mut items[index], input);
        }
        Value::Array(items) if !items.is_empty() => match input.below(2) {
            0 => drop(items.pop()),
            _ => items.push(items[0].clone()),
        },
        Value::Number(_) => {
            *value = if input.below(2) == 0 { json!(input.number()) } else { json!(input.bits()) }
        }
        Value::Bool(flag) => *flag = !*flag,
        Value::String(_) => *value = json!(String::from_utf8_lossy(input.bytes(8))),
        _ => {
            *value = [Value::Null, json!(0), json!(-1), json!(u64::MAX), json!([]), json!({})][input.below(6)]
                .clone()
        }
    }
}

/// Replaces a value of a tensor, all of them, or its shape.
fn change_tensor(tensor: &mut Tensor, input: &mut Input<'_>) {
    fn values<T: Copy>(values: &mut [T], input: &mut Input<'_>, value: T) {
        if input.below(4) == 0 {
            values.fill(value);
        } else if !values.is_empty() {
            let place = (input.below(256) * 256 + input.below(256)) % values.len();
            values[place] = value;
        }
    }
    let number = if input.below(2) == 0 { input.number() } else { input.bits() };
    match tensor {
        Tensor::F32(shape, _) | Tensor::F64(shape, _) | Tensor::U32(shape, _) if input.below(8) == 0 => {
            shape.reverse()
        }
        Tensor::F32(_, all) => values(all, input, number as f32),
        Tensor::F64(_, all) => values(all, input, number),
        Tensor::U32(_, all) => {
            let value = input.of(&[0, 1, 2, u32::MAX, 255, 1 << 20]);
            values(all, input, value);
        }
    }
}
