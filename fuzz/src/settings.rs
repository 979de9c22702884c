//! Settings: any text is a valid setting or an error that can be shown.

use oddcell::{DetectorSpec, encode::EncodeOptions, error::with_causes, model::SplitOptions};
use serde_json::Value;

use super::readers::assert_plain;

/// `--detector NAME --set KEY=VALUE`, as the name, NUL, and the setting.
pub fn setting(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Some((name, setting)) = text.split_once('\0') else { return };
    let Some((key, value)) = setting.split_once('=') else { return };
    let built = DetectorSpec::new(name, None).and_then(|mut spec| {
        spec.set_text(key, value)?;
        spec.build()
    });
    if let Err(error) = built {
        assert_plain(&with_causes(&error));
    }
}

/// A config file: what `--config` hands to the library.
pub fn config(data: &[u8]) {
    let Ok(config) = toml::from_str::<Value>(&String::from_utf8_lossy(data)) else { return };
    let name = config["detector"].as_str().unwrap_or("noise");
    let built = DetectorSpec::new(name, config["preset"].as_str()).and_then(|mut spec| {
        for (key, value) in config["params"].as_object().into_iter().flatten() {
            spec.set(key, value.clone())?;
        }
        spec.build()
    });
    if let Err(error) = built {
        assert_plain(&with_causes(&error));
    }
    let _ = serde_json::from_value::<EncodeOptions>(config["encode"].clone());
    if let Ok(split) = serde_json::from_value::<SplitOptions>(config["fit"].clone())
        && let Err(error) = split.validate()
    {
        assert_plain(&with_causes(&error));
    }
}
