//! A JSON object as its keys and the text of its values, every byte of them: `1.50` stays `1.50`.

use serde::de::IgnoredAny;

/// The keys of an object and the text of their values; `None` if `text` is no object, or not valid.
pub(super) fn entries(text: &str) -> Option<Vec<(String, &str)>> {
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    // From here on, the JSON is known to be valid.
    let mut rest = text.trim_ascii_start().strip_prefix('{')?.trim_ascii_start();
    let mut entries = Vec::new();
    while !rest.starts_with('}') {
        let (key, after) = rest.split_at(string_end(rest));
        let after = after.trim_ascii_start().strip_prefix(':')?.trim_ascii_start();
        let (value, after) = after.split_at(value_end(after));
        entries.push((serde_json::from_str(key).ok()?, value.trim_ascii_end()));
        rest = after.strip_prefix(',').unwrap_or(after).trim_ascii_start();
    }
    Some(entries)
}

/// Where the string ends that `text` begins with.
fn string_end(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Where the value ends that `text` begins with: before the comma or brace that follows it.
fn value_end(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at += string_end(&text[at..]) - 1,
            b'{' | b'[' => depth += 1,
            b',' | b'}' if depth == 0 => return at,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn values_keep_every_byte() {
        let text = r#" { "a" : 1.50 , "b\"}":"x,}\\\" y","c":[1, {"d":"]}"} ],"e":null,"f":-0.0e+07 } "#;
        let found = entries(text).unwrap();
        let found: Vec<(&str, &str)> = found.iter().map(|(key, value)| (key.as_str(), *value)).collect();
        let expected = [
            ("a", "1.50"),
            ("b\"}", r#""x,}\\\" y""#),
            ("c", r#"[1, {"d":"]}"} ]"#),
            ("e", "null"),
            ("f", "-0.0e+07"),
        ];
        assert_eq!(found, expected);
        assert_eq!(entries("{}"), Some(Vec::new()));
        for wrong in ["", "[1]", "{\"a\":1", "{\"a\":1}}", "{\"a\" 1}", "{'a':1}", "7"] {
            assert_eq!(entries(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test] // Law: the values are those of the parser.
        fn any_object_is_split_as_the_parser_reads_it(keys in prop::collection::btree_map(".{0,6}", ".{0,6}", 0..5), deep in any::<bool>()) {
            let nested = |text: &String| if deep { serde_json::json!([{ "k": text, "n": [1, null] }]) } else { Value::from(text.as_str()) };
            let object: serde_json::Map<String, Value> = keys.iter().map(|(key, text)| (key.clone(), nested(text))).collect();
            let text = serde_json::to_string_pretty(&Value::Object(object.clone())).unwrap();
            let found = entries(&text).unwrap();
            prop_assert_eq!(found.len(), object.len());
            for (key, value) in found {
                prop_assert_eq!(serde_json::from_str::<Value>(value).unwrap(), object[&key].clone());
            }
        }

        #[test] // Law: no text makes it panic.
        fn hostile_text_is_no_object(text in "[{}\\[\\]\",:\\\\a1 ]{0,20}") {
            let parsed = serde_json::from_str::<serde_json::Map<String, Value>>(&text);
            let found = entries(&text);
            if parsed.is_ok() {
                prop_assert!(found.is_some());
            }
        }
    }
}
