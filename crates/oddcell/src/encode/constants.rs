//! Columns in which all training rows have the same value.

use super::{EncodedColumn, Encoder, NormalRange};
use crate::Matrix;

impl EncodedColumn {
    /// The value that every training row has, if they all have the same.
    pub(super) fn constant(&self) -> Option<&str> {
        let value = match self.normal() {
            NormalRange::Range { text, constant: true, .. } => text,
            NormalRange::Levels { levels } if levels.first().is_some_and(|first| first.share == 1.0) => {
                &levels[0].name
            }
            NormalRange::Range { .. } | NormalRange::Levels { .. } | NormalRange::Lengths { .. } => {
                return None;
            }
        };
        // Nulls among equal values are a change, too.
        (self.nulls() == 0).then_some(value)
    }
}

impl Encoder {
    /// Takes the noise out of cells that have the only value their column ever had. Some detectors see noise in any cell, but
    /// such a cell makes no row odd.
    pub(crate) fn quiet_constants(&self, features: &Matrix, cells: &mut Matrix) {
        let constant: Vec<_> = self.columns().iter().filter(|column| column.constant().is_some()).collect();
        if constant.is_empty() {
            return;
        }
        for (features, row) in features.rows().zip(0..) {
            for column in &constant {
                // In training, all features were equal, so every coordinate was 0.
                if features[column.value_features()].iter().all(|feature| feature.abs() < 1e-6) {
                    cells.row_mut(row)[column.features()].fill(0.0);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        Matrix, Table,
        encode::{EncodeOptions, Encoder},
        table::{ReadOptions, TableReader},
    };

    fn read(csv: &str) -> Table {
        let reader = TableReader::from_bytes("t.csv", csv.as_bytes().to_vec(), &ReadOptions::default());
        Table::from_reader(reader.unwrap()).unwrap()
    }

    #[test]
    fn a_cell_of_a_constant_column_is_quiet_unless_it_breaks() {
        let training = read("year,x\n2013,1\n2013,2\n");
        let encoder = Encoder::fit(&training, &EncodeOptions::default(), None).unwrap();
        let later = read("year,x\n2013,1\n2014,1\n,1\n");
        let features = encoder.encode(&later.rows().next().unwrap()).unwrap().matrix;
        let mut cells = Matrix::new(vec![5.0; 6], 3, 2);
        encoder.quiet_constants(&features, &mut cells);
        assert_eq!(cells.values(), [0.0, 5.0, 5.0, 5.0, 5.0, 5.0]);
    }
}
