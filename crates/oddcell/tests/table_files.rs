//! Reading and writing tables: every format round trip, and every error with its position.

#![allow(clippy::unwrap_used, reason = "a helper that fails makes its test fail")]

mod reading;

use std::{io::Write, sync::Arc};

use arrow_array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Float64Array, Int64Array, ListArray, RecordBatch,
    StringArray, StructArray,
    builder::{Int32Builder, MapBuilder, StringBuilder},
    types::Int32Type,
};
use arrow_schema::{DataType, Field, Schema};
use oddcell::{
    encode::{EncodeOptions, Encoder},
    table::{
        ColumnKind, Format, ReadOptions, Rows, Source, Table, TableError, TableReader, TableWriter, Wanted,
        read_cells,
    },
};

use self::reading::{cells, error, kinds, names, numbers, read, read_with, written};

const MIXED: &str = "id,amount,when,paid,color\n\
                     a1,1.50,2024-01-31,yes,red\n\
                     a2,NA,2024-02-01 10:00,no,\" blue, dark \"\n\
                     a3,-3e2,,yes,?\n";

#[test]
fn the_reader_can_be_moved_to_another_thread() {
    fn is_send<T: Send>() {}
    is_send::<TableReader>();
    is_send::<TableWriter<std::fs::File>>();
}

#[test]
fn a_mixed_csv_is_read_with_kinds_and_given_back_byte_for_byte() {
    use ColumnKind::{Boolean, Category, Date, Number};
    let table = read(MIXED).unwrap();
    assert_eq!(names(&table), ["id", "amount", "when", "paid", "color"]);
    assert_eq!(kinds(&table), [Category, Number, Date, Boolean, Category]);
    assert_eq!(table.n_rows(), 3);
    assert_eq!(String::from_utf8(written(&table, Format::Csv)).unwrap(), MIXED);
}

#[test]
fn json_lines_hold_plain_values_and_read_back() {
    let table = read(MIXED).unwrap();
    let text = String::from_utf8(written(&table, Format::JsonLines)).unwrap();
    let expected = r#"{"id":"a1","amount":1.50,"when":"2024-01-31","paid":"yes","color":"red"}
{"id":"a2","amount":null,"when":"2024-02-01 10:00","paid":"no","color":" blue, dark "}
{"id":"a3","amount":-3e2,"when":null,"paid":"yes","color":null}
"#;
    assert_eq!(text, expected);
    let back = read(&text).unwrap();
    assert_eq!((names(&back), kinds(&back)), (names(&table), kinds(&table)));
    assert_eq!(numbers(&back, "amount")[0], 1.5);
    let again = String::from_utf8(written(&back, Format::JsonLines)).unwrap();
    assert_eq!(read(again).unwrap().n_rows(), 3);
}

#[test]
fn parquet_keeps_numbers_truth_values_nulls_and_text() {
    let table = read(MIXED).unwrap();
    let back = read(written(&table, Format::Parquet)).unwrap();
    assert_eq!((names(&back), kinds(&back)), (names(&table), kinds(&table)));
    let types: Vec<DataType> = back.schema().fields().iter().map(|field| field.data_type().clone()).collect();
    let text = DataType::Utf8;
    assert_eq!(types, [text.clone(), DataType::Float64, text.clone(), text.clone(), text]);
    assert!(back.schema().fields().iter().all(|field| field.metadata().is_empty()));
    let amounts = back.batches[0].column(1);
    assert!(amounts.is_null(1));
    assert_eq!(numbers(&back, "paid"), [1.0, 0.0, 1.0]);
    assert_eq!(numbers(&back, "when")[..2], numbers(&table, "when")[..2]);
}

#[test]
fn a_text_column_of_digits_stays_text_from_parquet_to_parquet() {
    let schema = Arc::new(Schema::new(vec![Field::new("zip", DataType::Utf8, true)]));
    let batch =
        RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(StringArray::from(vec!["01234", "56789"]))])
            .unwrap();
    let mut writer = TableWriter::create("test", Vec::new(), Format::Parquet, &schema, &[]).unwrap();
    writer.write(&batch).unwrap();
    let table = read(writer.finish().unwrap()).unwrap();
    assert_eq!(kinds(&table), [ColumnKind::Category]);
    let back = read(written(&table, Format::Parquet)).unwrap();
    assert_eq!(cells(&back), [[Some("01234".to_owned())], [Some("56789".to_owned())]]);
}

#[test]
fn cells_come_back_as_they_were_in_every_format() {
    use DataType::{Boolean, Float64, Int64, Utf8};
    let csv = "fips,n,x,paid,flag,price,slip\n\
               01005,7,1.5,No,true,\"$1,200\",5\n\
               36061,-12,2,yes,false,$5,6\n";
    let slips = (0..12).map(|row| format!("06037,{row},0.5,no,true,$7,{row}\n")).collect::<Vec<_>>().concat();
    let table = read(format!("{csv}{slips}06037,3,4.25,no,true,$7,18OO\n")).unwrap();
    let json = String::from_utf8(written(&table, Format::JsonLines)).unwrap();
    assert!(json.starts_with(
        "{\"fips\":\"01005\",\"n\":7,\"x\":1.5,\"paid\":\"No\",\"flag\":true,\"price\":\"$1,200\",\"slip\":5}\n"
    ));
    assert!(json.ends_with("\"price\":\"$7\",\"slip\":\"18OO\"}\n"));
    let again = read(&json).unwrap();
    assert_eq!(String::from_utf8(written(&again, Format::JsonLines)).unwrap(), json);
    let parquet = read(written(&table, Format::Parquet)).unwrap();
    let types: Vec<DataType> =
        parquet.schema().fields().iter().map(|field| field.data_type().clone()).collect();
    assert_eq!(types, [Utf8, Int64, Float64, Utf8, Boolean, Utf8, Utf8]);
    let csv = String::from_utf8(written(&parquet, Format::Csv)).unwrap();
    assert!(csv.ends_with("\n06037,3,4.25,no,true,$7,18OO\n"), "{csv}");
}

#[test]
fn batches_hold_at_most_the_rows_asked_for_and_rows_stay_in_order() {
    let mut text = String::from("n\n");
    text.extend((0..25).map(|row| format!("{row}\n")));
    let options = ReadOptions { batch_rows: 10, ..ReadOptions::default() };
    for format in [Format::Csv, Format::JsonLines, Format::Parquet] {
        let bytes = written(&read(&text).unwrap(), format);
        let table = read_with(bytes, &options).unwrap();
        let sizes: Vec<usize> = table.batches.iter().map(RecordBatch::num_rows).collect();
        assert_eq!(sizes, [10, 10, 5], "{format}");
        assert_eq!(numbers(&table, "n"), (0..25).map(f64::from).collect::<Vec<_>>(), "{format}");
    }
}

#[test]
fn compressed_text_is_read_whatever_it_is_called() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(MIXED.as_bytes()).unwrap();
    let mut members = gzip.finish().unwrap();
    // A second gzip member continues the text.
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(b"a4,1,,no,red\n").unwrap();
    members.extend(gzip.finish().unwrap());
    assert_eq!(read(members).unwrap().n_rows(), 4);
    let zstd = zstd::encode_all(MIXED.as_bytes(), 1).unwrap();
    assert_eq!(read(&zstd).unwrap().n_rows(), 3);
    assert!(error(&zstd[..zstd.len() - 4]).starts_with("cannot read test: "));
}

#[test]
fn files_are_opened_by_path_and_formats_told_by_content_and_name() {
    let folder = tempfile::tempdir().unwrap();
    let open = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        TableReader::open(&Source::Path(path), &ReadOptions::default())
    };
    let table = read(MIXED).unwrap();
    for format in [Format::Csv, Format::JsonLines, Format::Parquet] {
        let reader = open("anything.dat", &written(&table, format)).unwrap();
        assert_eq!(reader.format(), format);
        assert_eq!(Table::from_reader(reader).unwrap().n_rows(), 3);
    }
    assert_eq!(open("x.tsv", b"a\tb\n1\t2\n").unwrap().delimiter(), Some(b'\t'));
    let error = open("x.jsonl", b"a,b\n1,2\n").unwrap_err().to_string();
    assert!(error.ends_with(
        "line 1, character 1: not valid JSON: expected value; one JSON object per line was expected"
    ));
    let missing = Source::Path(folder.path().join("missing.csv"));
    let error = TableReader::open(&missing, &ReadOptions::default()).unwrap_err().to_string();
    assert!(error.starts_with("cannot open ") && error.contains("missing.csv: "), "{error}");
    let error = TableReader::open(&Source::Path(folder.path().into()), &ReadOptions::default()).unwrap_err();
    assert!(matches!(error, TableError::Io { action: "open", .. }), "{error}");
}

#[test]
fn headers_options_and_marks_are_respected() {
    let options = ReadOptions { header: false, ..ReadOptions::default() };
    let table = read_with("1;2\n3;4\n", &options).unwrap();
    assert_eq!((names(&table), table.n_rows()), (vec!["x1", "x2"], 2));
    let options = ReadOptions { delimiter: Some(b'|'), ..ReadOptions::default() };
    assert_eq!(names(&read_with("a,b|c\n1,2|3\n", &options).unwrap()), ["a,b", "c"]);
    assert_eq!(names(&read("\u{FEFF}a, b\n1,2\n").unwrap()), ["a", "b"]);
    let options = ReadOptions { delimiter: Some(b'"'), ..ReadOptions::default() };
    let error = read_with("a\n1\n", &options).unwrap_err().to_string();
    assert!(error.starts_with("the delimiter `\"` cannot be used"), "{error}");
}

#[test]
fn what_is_wrong_with_a_csv_is_said_with_its_place() {
    assert_eq!(error(""), "test is empty, but a table was expected");
    assert_eq!(error("\n\n"), "test is empty, but a table was expected");
    assert_eq!(error("a,b\n"), "test has 2 columns but no rows; at least one row was expected");
    assert_eq!(error("a,b\n1,2\n\n1,2,3\n"), "test, line 4: found 3 fields, but expected 2 as in the header");
    assert_eq!(
        error("a,b\n1,\"2\n3,4\n"),
        "test, line 2: a quoted field starts here and is not closed before the end of the file"
    );
    assert_eq!(error(" ,\n1,2\n"), "test: the header has no name for column 1, 2; every column needs one");
    assert_eq!(
        error("a,b,a\n1,2,3\n"),
        "test: the column name `a` appears more than once; names must differ"
    );
    let latin = error(b"a,name\n1,x\n2,caf\xE9\n");
    assert!(
        latin.starts_with("test, line 3, column `name`: found the byte 0xE9, which is not UTF-8"),
        "{latin}"
    );
    // Each cell must be UTF-8, even if the bytes of two cells together are.
    let split = error(b"a,b\n\xC3,1\n\xA9,2\n");
    assert!(split.starts_with("test, line 2, column `a`: found the byte 0xC3"), "{split}");
    let wide: Vec<u8> = "a,b\n1,2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(error(&wide).starts_with("test is UTF-16 text"));
    assert!(error([b"\xFF\xFE", &wide[..]].concat()).starts_with("test is UTF-16 text"));
    let options = ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() };
    let error = read_with(b"PAR1xxxxPAR1", &options).unwrap_err().to_string();
    assert_eq!(error, "test should be csv, but its first bytes are those of parquet");
}

#[test] // pandas' `to_csv` and R's `write.csv` write the index without a name.
fn columns_without_a_name_get_one_and_a_note() {
    let table = read(",price\n0,12.5\n1,13\n").unwrap();
    assert_eq!(names(&table), ["unnamed column 1", "price"]);
    let notes: Vec<String> = table.all_notes();
    assert_eq!(notes, ["the column without a name is called `unnamed column 1`"]);
    let table = read("\"\",\"a\",\n\"1\",5,\n").unwrap();
    assert_eq!(names(&table), ["unnamed column 1", "a", "unnamed column 3"]);
}

#[test]
fn an_array_of_records_is_read_like_json_lines() {
    let array = "[\n  {\"a\": 1, \"b\": \"x ] \\\" , {\"},\n  {\n    \"b\": \"y\"\n  }\n]\n";
    let lines = "{\"a\": 1, \"b\": \"x ] \\\" , {\"}\n{\"b\": \"y\"}\n";
    let table = read(array).unwrap();
    assert_eq!((names(&table), cells(&table)), (names(&read(lines).unwrap()), cells(&read(lines).unwrap())));
    let options = ReadOptions { batch_rows: 1, ..ReadOptions::default() };
    assert_eq!(read_with(array, &options).unwrap().n_rows(), 2);
    let syntax = |text: &str| error(text).split(": not valid JSON: ").nth(1).unwrap_or("").to_owned();
    assert!(syntax("[{\"a\":1}\n{\"a\":2}]").starts_with("unexpected `{`"));
    assert!(syntax("[{\"a\":1},").starts_with("the array is not closed"));
    assert!(syntax("[{\"a\":1},]").starts_with("unexpected `]`"));
    assert!(syntax("[{\"a\":1}] x").starts_with("unexpected `x`"));
    assert_eq!(
        error("[{\"a\":1},\n\n  7]"),
        "test, line 3: found a number, but one JSON object per line was expected"
    );
}

#[test]
fn what_is_wrong_with_json_lines_is_said_with_its_place() {
    assert_eq!(
        error("{\"a\":1}\n[2]\n"),
        "test, line 2: found an array, but one JSON object per line was expected"
    );
    assert_eq!(
        error("{\"a\":1}\n\n{\"a\":{\"b\":1}}\n"),
        "test, line 3, key `a`: found an object, but a string, number, true, false or null was expected"
    );
    assert_eq!(error("{\"a\":1,\"a\":2}\n"), "test, line 1: the key `a` appears twice in one object");
    let syntax = error("{\"a\":1}\n{\"a\":}\n");
    assert!(syntax.starts_with("test, line 2, character 6: not valid JSON: expected value;"), "{syntax}");
    let tail = error("{\"a\":1} x\n");
    assert!(tail.starts_with("test, line 1, character 9: not valid JSON: trailing characters;"), "{tail}");
    assert_eq!(error("{}\n{}\n"), "test has no columns; at least one was expected");
    assert!(
        error(b"{\"a\":\"\xE9\"}\n").starts_with("test, line 1: found the byte 0xE9, which is not UTF-8")
    );
    // After the 1,000 keys of the first batch, 4,096 late ones are accepted.
    let own_keys: Vec<String> = (1..=6_000).map(|line| format!("{{\"k{line}\":1}}\n")).collect();
    let options = ReadOptions { batch_rows: 1_000, ..ReadOptions::default() };
    let many = read_with(own_keys.concat(), &options).unwrap_err().to_string();
    let expected = "test, line 5097: found more than 4,096 keys that the first 1,000 rows do not have;";
    assert!(many.starts_with(expected), "{many}");
}

#[test]
fn json_keys_may_come_late_in_any_order_and_be_missing() {
    let some = |text: &str| Some(text.to_owned());
    let text = "{\"a\":1}\n{\"b\":\"x\",\"a\":null}\n{\"b\":true}\n";
    let expected = [[some("1"), None], [None, some("x")], [None, some("true")]];
    for batch_rows in [1, 2, 3] {
        let table = read_with(text, &ReadOptions { batch_rows, ..ReadOptions::default() }).unwrap();
        assert_eq!(
            (names(&table), cells(&table)),
            (vec!["a", "b"], expected.clone().map(Vec::from).to_vec())
        );
        // The kind depends on all cells: `x` and `true` are names; `true` alone would be a truth value.
        assert_eq!(kinds(&table), [ColumnKind::Number, ColumnKind::Category]);
    }
}

/// The batches of a reader that knows which columns are wanted, two rows each, and its notes.
fn read_wanted(text: &str, wanted: &[&str]) -> (Vec<RecordBatch>, Vec<String>) {
    let wanted = Wanted::Only(wanted.iter().map(|&name| name.to_owned()).collect());
    let options = ReadOptions { batch_rows: 2, wanted, ..ReadOptions::default() };
    let mut reader = TableReader::from_bytes("test", text.into(), &options).unwrap();
    let batches: Vec<RecordBatch> = reader.by_ref().map(Result::unwrap).collect();
    (batches, reader.notes().to_vec())
}

#[test]
fn wanted_columns_of_json_lines_are_there_from_the_first_batch_and_other_late_keys_are_left_out() {
    let some = |text: &str| Some(text.to_owned());
    let text = "{\"b\":1}\n{\"b\":2}\n{\"c\":3,\"x\":{\"y\":4}}\n{\"x\":5,\"b\":6}\n";
    let (batches, notes) = read_wanted(text, &["a", "b", "c"]);
    let columns: Vec<Vec<String>> = batches
        .iter()
        .map(|batch| batch.schema().fields().iter().map(|field| field.name().clone()).collect())
        .collect();
    assert_eq!(columns, [["b", "a", "c"], ["b", "a", "c"]]);
    let rows = cells(&Table::from_batches("test", batches).unwrap());
    assert_eq!(rows[1..3], [[some("2"), None, None], [None, None, some("3")]]);
    let expected = ["keys that first appear after row 2 are left out: `x`", "no line has a value for `a`"];
    assert_eq!(notes, expected);
    // A table without any wanted column gets no additional columns.
    let (batches, notes) = read_wanted("{\"b\":1}\n", &["a"]);
    assert_eq!((batches[0].schema().field(0).name().as_str(), batches[0].num_columns()), ("b", 1));
    assert!(notes.is_empty(), "{notes:?}");
}

#[test]
fn json_that_nobody_reads_is_given_back_as_it_was() {
    let some = |text: &str| Some(text.to_owned());
    let text = "{\"a\":1,\"x\":{\"k\":[1,null]},\"y\":\"say \\\"hi\\\"\"}\n{\"a\":2,\"x\":7,\"y\":true}\n";
    let options = |wanted| ReadOptions { wanted, ..ReadOptions::default() };
    let except = options(Wanted::Except(vec!["x".into(), "y".into()]));
    let only = options(Wanted::Only(vec!["a".into()]));
    for options in [except, only] {
        let table = read_with(text, &options).unwrap();
        assert_eq!(String::from_utf8(written(&table, Format::JsonLines)).unwrap(), text);
        let csv = String::from_utf8(written(&table, Format::Csv)).unwrap();
        assert_eq!(csv, "a,x,y\n1,\"{\"\"k\"\":[1,null]}\",\"say \"\"hi\"\"\"\n2,7,true\n");
        let parquet = read(written(&table, Format::Parquet)).unwrap();
        assert_eq!(
            cells(&parquet.without(&["a"]).unwrap())[0],
            [some("{\"k\":[1,null]}"), some("say \"hi\"")]
        );
    }
    let wanted = options(Wanted::Only(vec!["a".into(), "x".into()]));
    let error = read_with(text, &wanted).unwrap_err().to_string();
    assert!(error.starts_with("test, line 1, key `x`: found an object, but a string, number,"), "{error}");
}

#[test]
fn arrow_files_and_streams_are_read() {
    let schema = Arc::new(Schema::new(vec![
        Field::new("f", DataType::Float64, true),
        Field::new("i", DataType::Int64, true),
        Field::new("b", DataType::Boolean, true),
    ]));
    let columns: Vec<ArrayRef> = vec![
        Arc::new(Float64Array::from(vec![Some(0.5), None])),
        Arc::new(Int64Array::from(vec![1, 2])),
        Arc::new(BooleanArray::from(vec![true, false])),
    ];
    let batch = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
    let mut file = arrow_ipc::writer::FileWriter::try_new(Vec::new(), &schema).unwrap();
    file.write(&batch).unwrap();
    let file = file.into_inner().unwrap();
    let mut stream = arrow_ipc::writer::StreamWriter::try_new(Vec::new(), &schema).unwrap();
    stream.write(&batch).unwrap();
    let stream = stream.into_inner().unwrap();
    for bytes in [file, stream] {
        let table = read(bytes).unwrap();
        assert_eq!(table.batches, std::slice::from_ref(&batch));
        assert_eq!(kinds(&table), [ColumnKind::Number, ColumnKind::Number, ColumnKind::Boolean]);
    }
}

/// Numbers beside a list, a struct, a map and bytes.
fn nested() -> RecordBatch {
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([
        Some(vec![Some(1), None]),
        None::<Vec<Option<i32>>>,
    ]);
    let field = Arc::new(Field::new("n", DataType::Int64, false));
    let structs = StructArray::from(vec![(field, Arc::clone(&numbers))]);
    let mut maps = MapBuilder::new(None, StringBuilder::new(), Int32Builder::new());
    maps.keys().append_value("k");
    maps.values().append_value(3);
    maps.append(true).unwrap();
    maps.append(false).unwrap();
    let bytes = BinaryArray::from(vec![&b"\xFF"[..], b""]);
    RecordBatch::try_from_iter([
        ("a", numbers),
        ("list", Arc::new(lists) as ArrayRef),
        ("struct", Arc::new(structs)),
        ("map", Arc::new(maps.finish())),
        ("bytes", Arc::new(bytes)),
    ])
    .unwrap()
}

#[test]
fn nested_columns_are_carried_but_not_read() {
    let batch = nested();
    let table = Table::from_batches("frame", vec![batch.clone()]).unwrap();
    for name in ["list", "struct", "map", "bytes"] {
        for kind in [ColumnKind::Category, ColumnKind::Number] {
            let error = read_cells(name, batch.column_by_name(name).unwrap(), kind, 0, "frame").unwrap_err();
            let start = format!("frame, column `{name}`: found the type ");
            assert!(error.to_string().starts_with(&start), "{error}");
        }
    }
    // Unchanged to Parquet and back; text in other formats.
    let back = read(written(&table, Format::Parquet)).unwrap();
    assert_eq!(back.batches[0].columns(), batch.columns());
    let csv = String::from_utf8(written(&table, Format::Csv)).unwrap();
    assert_eq!(csv, "a,list,struct,map,bytes\n1,\"[1, ]\",{n: 1},{k: 3},ff\n2,,{n: 2},,\n");
    let json = String::from_utf8(written(&table, Format::JsonLines)).unwrap();
    assert!(
        json.starts_with(r#"{"a":1,"list":"[1, ]","struct":"{n: 1}","map":"{k: 3}","bytes":"ff"}"#),
        "{json}"
    );
}

#[test]
fn nested_columns_make_no_features_and_must_be_ignored() {
    let table = Table::from_batches("frame", vec![nested()]).unwrap();
    let fit = |ignore: &[&str]| {
        let ignore = ignore.iter().map(|&name| name.to_owned()).collect();
        Encoder::fit(&table, &EncodeOptions { ignore, ..EncodeOptions::default() }, None)
    };
    let encoder = fit(&["list", "struct", "map", "bytes"]).unwrap();
    assert_eq!(encoder.columns().len(), 1);
    let error = fit(&["list", "map", "bytes"]).unwrap_err().to_string();
    assert!(error.starts_with("frame, column `struct`: found the type Struct("), "{error}");
    // Columns that the encoder does not read may be nested; those that it reads may not.
    assert_eq!(encoder.encode(&Rows::new(nested(), 0, "new")).unwrap().matrix.n_rows(), 2);
    let turned = RecordBatch::try_from_iter([("a", Arc::clone(nested().column(1)))]).unwrap();
    let error = encoder.encode(&Rows::new(turned, 0, "new")).unwrap_err().to_string();
    assert!(error.starts_with("new, column `a`: found the type List("), "{error}");
}

#[test]
fn tables_are_made_from_batches_of_one_schema_only() {
    let batch = |name: &str| {
        let column: ArrayRef = Arc::new(Int64Array::from(vec![1]));
        RecordBatch::try_from_iter([(name, column)]).unwrap()
    };
    assert_eq!(Table::from_batches("frame", vec![batch("a"), batch("a")]).unwrap().n_rows(), 2);
    let error = Table::from_batches("frame", vec![batch("a"), batch("b")]).unwrap_err().to_string();
    assert_eq!(error, "frame: batch 2 has the columns b (Int64), but the first batch has a (Int64)");
    assert!(Table::from_batches("frame", vec![]).is_err());
    assert!(matches!(Table::from_batches("f", vec![batch("a").slice(0, 0)]), Err(TableError::NoRows { .. })));
}

#[test]
fn kinds_can_be_changed_where_some_cell_fits_and_columns_dropped() {
    let mut table = read("zip,n\n12345,$1\n99999,x\n").unwrap();
    assert_eq!(kinds(&table), [ColumnKind::Number, ColumnKind::Category]);
    table.set_kind("zip", ColumnKind::Category).unwrap();
    let error = table.set_kind("n", ColumnKind::Date).unwrap_err().to_string();
    assert_eq!(error, "test, row 1, column `n`: found `$1`, but a date or time was expected");
    let mut other = read("n\n1\nx\n").unwrap();
    other.set_kind("n", ColumnKind::Number).unwrap();
    assert_eq!(other.all_notes()[0], "column `n`: 1 cell cannot be read as a number, namely `x` in row 2");
    let error = table.set_kind("m", ColumnKind::Category).unwrap_err().to_string();
    assert_eq!(error, "test has no column `m`; its columns are `zip`, `n`");
    let rest = table.without(&["zip"]).unwrap();
    assert_eq!((names(&rest), rest.schema().fields().len(), rest.n_rows()), (vec!["n"], 1, 2));
    assert!(matches!(table.without(&["zip", "n"]), Err(TableError::NoColumns { .. })));
}

#[test]
fn infinite_numbers_are_number_cells_and_refused_with_their_place() {
    let table = read("a\n1\ninf\n").unwrap();
    assert_eq!(kinds(&table), [ColumnKind::Number]);
    let error = read_cells("a", table.batches[0].column(0), ColumnKind::Number, 0, "test").unwrap_err();
    assert_eq!(error.to_string(), "test, row 2, column `a`: found `inf`, but a finite number was expected");
}

#[test]
fn ten_thousand_columns_are_read_in_batches_of_bounded_size() {
    let line = |cell: &dyn Fn(usize) -> String| (0..10_000).map(cell).collect::<Vec<_>>().join(",") + "\n";
    let mut text = line(&|column| format!("c{column}"));
    text.extend((0..600).map(|row| line(&|column| format!("{}", row * column))));
    let table = read(&text).unwrap();
    assert_eq!((table.columns.len(), table.n_rows()), (10_000, 600));
    assert!(table.batches.len() > 1);
    assert_eq!(numbers(&table, "c2"), (0..600).map(|row| f64::from(row * 2)).collect::<Vec<_>>());
}

#[test]
fn a_failing_sink_is_an_error_of_the_system() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let table = read(MIXED).unwrap();
    for format in [Format::Csv, Format::JsonLines, Format::Parquet] {
        let attempt = || -> Result<(), TableError> {
            let mut writer = TableWriter::create("test", Full, format, &table.schema(), &table.columns)?;
            writer.write(&table.batches[0])?;
            writer.finish().map(|_| ())
        };
        match attempt() {
            Err(TableError::Write { source, .. }) => {
                assert_eq!(source.kind(), std::io::ErrorKind::StorageFull, "{format}");
            }
            other => panic!("{format}: {other:?}"),
        }
    }
    let refused = TableWriter::create("test", Vec::new(), Format::Npy, &table.schema(), &[]).unwrap_err();
    assert_eq!(refused.to_string(), "cannot write npy: tables are written as csv, jsonl or parquet");
}

#[test]
fn values_of_json_lines_come_back_as_they_were() {
    let line = |row: usize| {
        let (truth, empty) = (row.is_multiple_of(3), if row.is_multiple_of(4) { r#""""# } else { "null" });
        let mixed = if row == 5 { r#""-""#.to_owned() } else { row.to_string() };
        let zip = 1_005 + row % 7;
        format!(
            r#"{{"zip":"{zip}","n":{row},"t":"{truth}","b":{truth},"e":{empty},"m":{mixed},"code":1005}}"#
        ) + "\n"
    };
    let lines: String = (0..30).map(line).collect();
    let mut table = read(&lines).unwrap();
    table.set_kind("code", ColumnKind::Category).unwrap();
    assert_eq!(String::from_utf8(written(&table, Format::JsonLines)).unwrap(), lines);
}
