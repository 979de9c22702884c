//! Tables as text: Markdown to read, CSV to process, LaTeX to print.

mod measurements;
mod methods;
mod results;
#[cfg(test)]
mod tests;

pub use results::Beside;

/// A table with a title and a header; the first column names the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The title.
    pub title: String,
    /// The names of the columns.
    pub header: Vec<String>,
    /// The cells, line by line.
    pub lines: Vec<Vec<String>>,
}

/// The text of a missing value.
const NONE: &str = "-";

impl Table {
    /// Formats the table as Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let rule = format!("|---{}|\n", "|---:".repeat(self.header.len().saturating_sub(1)));
        let lines: String = self.lines.iter().map(|cells| line(cells)).collect();
        format!("{}\n\n{}{rule}{lines}", self.title, line(&self.header))
    }

    /// Formats the table as CSV.
    ///
    /// # Panics
    /// If lines differ in length, which is a bug in the code that made the table.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for line in std::iter::once(&self.header).chain(&self.lines) {
            writer.write_record(line).expect("all lines have the same length");
        }
        let bytes = writer.into_inner().expect("writing to memory cannot fail");
        String::from_utf8(bytes).expect("all cells are UTF-8")
    }

    /// Formats the table as LaTeX that needs no packages.
    #[must_use]
    pub fn latex(&self) -> String {
        let line = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|cell| latex_text(cell)).collect();
            format!("{} \\\\\n", cells.join(" & "))
        };
        let lines: String = self.lines.iter().map(|cells| line(cells)).collect();
        let columns = format!("l{}", "r".repeat(self.header.len().saturating_sub(1)));
        format!(
            "% {}\n\\begin{{tabular}}{{{columns}}}\n\\hline\n{}\\hline\n{lines}\\hline\n\\end{{tabular}}\n",
            self.title,
            line(&self.header)
        )
    }
}

/// A p-value with four decimals, or with a power of ten if it is tiny.
fn probability(p_value: f64) -> String {
    if p_value < 1e-4 { format!("{p_value:.1e}") } else { format!("{p_value:.4}") }
}

/// A share in percent, with two decimals.
fn percent(share: f64) -> String {
    format!("{:.2}", 100.0 * share)
}

/// Escapes all characters that are special in LaTeX.
fn latex_text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '±' => escaped.push_str("$\\pm$"),
            '≤' => escaped.push_str("$\\le$"),
            '\\' => escaped.push_str("\\textbackslash{}"),
            '^' => escaped.push_str("\\^{}"),
            '~' => escaped.push_str("\\~{}"),
            '|' | '<' | '>' => {
                escaped.push('$');
                escaped.push(letter);
                escaped.push('$');
            }
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                escaped.push('\\');
                escaped.push(letter);
            }
            letter => escaped.push(letter),
        }
    }
    escaped
}
