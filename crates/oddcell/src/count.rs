//! Counts in messages: grouped digits and matching nouns.

/// 1234567 as `1,234,567`.
#[must_use]
pub fn count(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 row`, `1,200 rows`.
#[must_use]
pub fn counted(n: usize, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped_and_nouns_agree() {
        assert_eq!([0, 1, 999, 1_000, 1_234_567].map(count), ["0", "1", "999", "1,000", "1,234,567"]);
        assert_eq!([0, 1, 1_200].map(|n| counted(n, "row", "rows")), ["0 rows", "1 row", "1,200 rows"]);
    }
}
