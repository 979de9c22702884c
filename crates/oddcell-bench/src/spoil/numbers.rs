//! Numbers as they are written: digits, a point, separators, and what stands around them.

/// A number in a cell. Its parts, joined again, give the cell.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Written {
    /// Blanks and a currency sign before the first digit, without the minus.
    before: String,
    /// Whether a minus stands before the first digit.
    pub(super) is_negative: bool,
    /// The digits before the point, without separators.
    whole: String,
    /// The digits after the point, if there is a point.
    fraction: Option<String>,
    /// Whether commas separate thousands.
    is_grouped: bool,
    /// Blanks and a percent sign after the last digit.
    after: String,
}

impl Written {
    /// Reads a cell: `12.5`, `-3`, `$1,200.00`, `7 %`. Numbers with an exponent are not for us to rewrite.
    pub(super) fn parse(cell: &str) -> Option<Self> {
        let start = cell.find(|letter: char| letter.is_ascii_digit() || letter == '.')?;
        let (head, rest) = cell.split_at(start);
        let is_negative = head.contains('-');
        if head.matches('-').count() > 1 || !head.chars().all(|letter| " -$€£".contains(letter)) {
            return None;
        }
        let end = rest.rfind(|letter: char| letter.is_ascii_digit() || letter == '.')? + 1;
        let (body, after) = rest.split_at(end);
        if !after.chars().all(|letter| " %".contains(letter)) {
            return None;
        }
        let (whole, fraction) = match body.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (body, None),
        };
        let groups: Vec<&str> = whole.split(',').collect();
        let is_grouped = groups.len() > 1;
        if is_grouped
            && (groups[0].is_empty()
                || groups[0].len() > 3
                || groups[1..].iter().any(|group| group.len() != 3))
        {
            return None;
        }
        let digits: String = groups.concat();
        let are_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !are_digits(&digits)
            || !fraction.is_none_or(are_digits)
            || digits.is_empty() && fraction.is_none_or(str::is_empty)
        {
            return None;
        }
        let before = head.replace('-', "");
        Some(Self {
            before,
            is_negative,
            whole: digits,
            fraction: fraction.map(str::to_owned),
            is_grouped,
            after: after.to_owned(),
        })
    }

    /// Whether it has a leading zero, as codes have.
    pub(super) fn is_code(&self) -> bool {
        self.whole.len() > 1 && self.whole.starts_with('0')
    }

    /// Whether it has no point.
    pub(super) fn is_whole(&self) -> bool {
        self.fraction.is_none()
    }

    pub(super) fn value(&self) -> f64 {
        let digits = format!("{}.{}", self.whole, self.fraction.as_deref().unwrap_or("0"));
        let size: f64 = format!("0{digits}0").parse().expect("digits and a point are a number");
        if self.is_negative { -size } else { size }
    }

    /// Ten times the number: the point moves to the right.
    pub(super) fn times_ten(&self) -> Self {
        let mut whole = self.whole.clone();
        let fraction = match &self.fraction {
            Some(fraction) if !fraction.is_empty() => {
                whole.push_str(&fraction[..1]);
                Some(fraction[1..].to_owned()).filter(|rest| !rest.is_empty())
            }
            _ => {
                whole.push('0');
                None
            }
        };
        Self { whole: without_leading_zeros(&whole), fraction, ..self.clone() }
    }

    /// A tenth of the number: the point moves to the left. A whole number that ends in zero loses the zero.
    pub(super) fn tenth(&self) -> Self {
        let (head, last) = match self.whole.len() {
            0 => ("", "0"),
            length => self.whole.split_at(length - 1),
        };
        let fraction = match &self.fraction {
            None if last == "0" => None,
            fraction => Some(format!("{last}{}", fraction.as_deref().unwrap_or(""))),
        };
        Self { whole: without_leading_zeros(head), fraction, ..self.clone() }
    }

    /// The number with the other sign.
    pub(super) fn negated(&self) -> Self {
        Self { is_negative: !self.is_negative, ..self.clone() }
    }

    /// Another value, with as many digits after the point.
    pub(super) fn with_value(&self, value: f64) -> Self {
        let digits = self.fraction.as_ref().map_or(0, String::len);
        let text = format!("{:.digits$}", value.abs());
        let (whole, fraction) = match text.split_once('.') {
            Some((whole, fraction)) => (whole, Some(fraction.to_owned())),
            None => (&*text, None),
        };
        Self { is_negative: value < 0.0, whole: whole.to_owned(), fraction, ..self.clone() }
    }

    /// The cell.
    pub(super) fn text(&self) -> String {
        let minus = if self.is_negative { "-" } else { "" };
        let whole = if self.is_grouped { grouped(&self.whole) } else { self.whole.clone() };
        let fraction = self.fraction.as_ref().map_or_else(String::new, |fraction| format!(".{fraction}"));
        let (blanks, sign) = self.before.split_at(self.before.len() - self.before.trim_start().len());
        format!("{blanks}{minus}{sign}{whole}{fraction}{}", self.after)
    }
}

fn without_leading_zeros(digits: &str) -> String {
    let rest = digits.trim_start_matches('0');
    if rest.is_empty() { "0".to_owned() } else { rest.to_owned() }
}

fn grouped(digits: &str) -> String {
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_come_back_as_they_were_written() {
        for cell in ["12.5", "-3", "$1,200.00", " 7 %", ".5", "0", "23,288  ", "-€5", "007"] {
            assert_eq!(Written::parse(cell).unwrap().text(), cell);
        }
        for cell in ["", "a1", "1e5", "1,2", "1st", "12:30", "1-2", ".", "1.2.3", "0,1234"] {
            assert_eq!(Written::parse(cell), None, "{cell}");
        }
    }

    #[test]
    fn the_point_moves_and_separators_follow() {
        let moved = |cell: &str| {
            let number = Written::parse(cell).unwrap();
            (number.times_ten().text(), number.tenth().text(), number.negated().text())
        };
        let expected =
            |ten: &str, tenth: &str, negated: &str| (ten.to_owned(), tenth.to_owned(), negated.to_owned());
        assert_eq!(moved("12.5"), expected("125", "1.25", "-12.5"));
        assert_eq!(moved("18"), expected("180", "1.8", "-18"));
        assert_eq!(moved("-180"), expected("-1800", "-18", "180"));
        assert_eq!(moved("0.05"), expected("0.5", "0.005", "-0.05"));
        assert_eq!(moved("$1,200.00"), expected("$12,000.0", "$120.000", "-$1,200.00"));
        assert_eq!(Written::parse("$1,200.00").unwrap().value(), 1200.0);
        assert_eq!(Written::parse("-.5").unwrap().value(), -0.5);
        assert_eq!(Written::parse("3.25").unwrap().with_value(-1234.567).text(), "-1234.57");
    }

    proptest! {
        #[test]
        fn ten_times_a_tenth_is_the_number(whole in 0_u32..1_000_000, digits in "[0-9]{0,4}", is_negative: bool) {
            let minus = if is_negative { "-" } else { "" };
            let point = if digits.is_empty() { "" } else { "." };
            let number = Written::parse(&format!("{minus}{whole}{point}{digits}")).unwrap();
            let (value, back) = (number.value(), number.tenth().times_ten());
            prop_assert_eq!(back.value(), value);
            prop_assert_eq!(number.times_ten().tenth().value(), value);
            prop_assert!((number.times_ten().value() - 10.0 * value).abs() <= 1e-9 * value.abs());
            prop_assert_eq!(Written::parse(&back.text()).unwrap(), back);
        }
    }
}
