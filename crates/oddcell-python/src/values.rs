//! Converts parameters between Python values and JSON values.

use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyNone, PyString, PyTuple},
};
use serde_json::{Map, Number, Value};

/// A parameter from Python: `None`, a bool, a number (also of `NumPy`), a string, or a list of these.
pub(crate) fn from_python(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_none() {
        return Ok(Value::Null);
    }
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(Value::Bool(value.is_true()));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::String(text.to_cow()?.into_owned()));
    }
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        let items = value.try_iter()?.map(|item| from_python(name, &item?));
        return items.collect::<PyResult<_>>().map(Value::Array);
    }
    // NumPy's integers and booleans are not Python's; `item` converts them.
    if let Ok(item) = value.getattr("item").and_then(|item| item.call0())
        && !item.is(value)
    {
        return from_python(name, &item);
    }
    if value.is_instance_of::<PyInt>() || value.hasattr("__index__")? {
        return whole(name, value);
    }
    let float = value.cast::<PyFloat>().map(PyFloatMethods::value).or_else(|_| value.extract::<f64>());
    let float = float.map_err(|_| {
        let found = value.get_type().qualname().map_or_else(|_| "?".to_owned(), |name| name.to_string());
        PyTypeError::new_err(format!(
            "parameter `{name}`: found a value of type {found}, expected a number, a string, a bool, None or a list"
        ))
    })?;
    Number::from_f64(float).map(Value::Number).ok_or_else(|| {
        PyValueError::new_err(format!("parameter `{name}` is {float}, but must be a finite number"))
    })
}

fn whole(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let number =
        value.extract::<i64>().map(Number::from).or_else(|_| value.extract::<u64>().map(Number::from));
    number.map(Value::Number).map_err(|_| {
        PyValueError::new_err(format!("parameter `{name}` is {value}, but must be less than 2^64 in size"))
    })
}

/// A parameter as a Python value.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => PyNone::get(py).to_owned().into_any(),
        Value::Bool(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => PyInt::new(py, number).into_any(),
            (None, Some(number)) => PyInt::new(py, number).into_any(),
            (None, None) => PyFloat::new(py, number.as_f64().unwrap_or(f64::NAN)).into_any(),
        },
        Value::Array(items) => {
            let items = items.iter().map(|item| to_python(py, item)).collect::<PyResult<Vec<_>>>()?;
            // A tuple, because a list must not be the default of an argument.
            PyTuple::new(py, items)?.into_any()
        }
        Value::Object(map) => dict(py, map)?.into_any(),
    })
}

/// Parameters as a Python dict.
pub(crate) fn dict<'py>(py: Python<'py>, map: &Map<String, Value>) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in map {
        dict.set_item(name, to_python(py, value)?)?;
    }
    Ok(dict)
}
