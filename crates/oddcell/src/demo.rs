//! A built-in table for trying things out: orders of a small shop, some with one wrong cell.
//!
//! The table has numbers, categories, dates and missing values, and its columns depend on each other as in
//! real tables: weight depends on the product, shipping on weight and country, the total on price, quantity
//! and discount. Half of the wrong cells are blatant, far outside the column's range. The other half are
//! common values of the column that are wrong only together with the rest of the row.
//!
//! ```
//! use oddcell::{Seed, demo};
//!
//! let demo = demo::orders(100, 2, Seed(0));
//! assert_eq!(demo.csv.lines().count(), 101); // a header and 100 orders
//! assert_eq!(demo.spoiled.len(), 2);
//! assert!(demo.spoiled[0].blatant && !demo.spoiled[1].blatant);
//! ```

use std::fmt::Write as _;

use crate::{Seed, seed::Stream};

/// A wrong cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spoiled {
    /// The row, counted from 1.
    pub row: usize,
    /// The column.
    pub column: &'static str,
    /// Whether the value alone shows that it is wrong.
    pub blatant: bool,
}

/// The table and its wrong cells.
#[derive(Debug, Clone, PartialEq)]
pub struct Demo {
    /// The table as CSV.
    pub csv: String,
    /// The number of rows.
    pub n_rows: usize,
    /// All wrong cells, in row order. A row has at most one.
    pub spoiled: Vec<Spoiled>,
}

/// Products: name, usual price, weight in kilograms.
const PRODUCTS: [(&str, f64, f64); 5] = [
    ("book", 18.0, 0.5),
    ("shoes", 85.0, 1.2),
    ("lamp", 49.0, 2.5),
    ("chair", 120.0, 8.0),
    ("phone", 420.0, 0.3),
];

/// Countries: name, share of the orders, cost of a parcel, delivery days.
const COUNTRIES: [(&str, f64, f64, f64); 5] = [
    ("Norway", 0.4, 4.0, 2.0),
    ("Sweden", 0.25, 6.0, 3.0),
    ("Denmark", 0.2, 7.0, 4.0),
    ("Iceland", 0.1, 15.0, 9.0),
    ("Greenland", 0.05, 28.0, 16.0),
];

/// 2025-01-01 00:00 UTC.
const START: i64 = 1_735_689_600;

#[derive(Debug, Clone)]
struct Order {
    placed_at: i64,
    country: &'static str,
    product: &'static str,
    quantity: f64,
    unit_price: f64,
    member: bool,
    discount: f64,
    weight_kg: f64,
    shipping: f64,
    delivery_days: f64,
    rating: Option<f64>,
    total: f64,
}

/// A column, and how its cell becomes wrong.
type Way = (&'static str, fn(&mut Order));

/// Values outside the column's range.
const BLATANT: [Way; 7] = [
    ("unit_price", |order| order.unit_price = round(order.unit_price * 100.0)), // cents instead of crowns
    ("weight_kg", |order| order.weight_kg = -order.weight_kg),
    ("delivery_days", |order| order.delivery_days += 180.0),
    ("country", |order| order.country = "Atlantis"),
    ("placed_at", |order| order.placed_at += 40 * 365 * 86_400),
    ("quantity", |order| order.quantity = 60.0),
    ("total", |order| order.total = round(order.total * 30.0)),
];

/// Common values of the column that do not fit the rest of the row.
const SUBTLE: [Way; 6] = [
    // Chairs weigh as little as phones, everything else as much as chairs.
    ("weight_kg", |order| order.weight_kg = if order.product == "chair" { 0.6 } else { 16.2 }),
    ("delivery_days", |order| order.delivery_days = if order.delivery_days > 6.0 { 2.0 } else { 15.0 }),
    ("shipping", |order| order.shipping = if order.shipping > 15.0 { 5.1 } else { 31.4 }),
    ("discount", |order| order.discount = 10.0 - order.discount), // members get 10 %, others none
    ("unit_price", |order| order.unit_price = if order.product == "phone" { 17.5 } else { 415.0 }),
    ("total", |order| order.total = round(order.total + if order.total > 300.0 { -250.0 } else { 400.0 })),
];

/// A table of `n_rows` orders, `n_spoiled` of them with one wrong cell each.
#[must_use]
pub fn orders(n_rows: usize, n_spoiled: usize, seed: Seed) -> Demo {
    let mut stream = seed.stream("demo", &[]);
    let mut orders: Vec<Order> = (0..n_rows).map(|row| order(row, n_rows, &mut stream)).collect();
    let mut rows = stream.permutation(n_rows);
    rows.truncate(n_spoiled);
    rows.sort_unstable();
    let spoil = |(index, row): (usize, usize)| {
        let blatant = index % 2 == 0;
        let ways: &[Way] = if blatant { &BLATANT } else { &SUBTLE };
        let (column, spoil) = ways[index / 2 % ways.len()];
        spoil(&mut orders[row]);
        Spoiled { row: row + 1, column, blatant }
    };
    let spoiled = rows.into_iter().enumerate().map(spoil).collect();
    Demo { csv: to_csv(&orders), n_rows, spoiled }
}

fn order(row: usize, n_rows: usize, stream: &mut Stream) -> Order {
    // Spread over the year 2025, at random within each step.
    let step = 365.0 * 86_400.0 / n_rows as f64;
    let placed_at = START + ((row as f64 + stream.uniform()) * step) as i64;
    let (product, price, weight) = PRODUCTS[stream.below(PRODUCTS.len())];
    let mut at = stream.uniform();
    let place = COUNTRIES.iter().find(|country| {
        at -= country.1;
        at < 0.0
    });
    let &(country, _, parcel, days) = place.unwrap_or(&COUNTRIES[0]);
    let quantity = 1.0 + stream.below(4) as f64;
    let unit_price = round(price * libm::exp(0.15 * stream.normal()));
    let member = stream.uniform() < 0.3;
    let discount = if member { 10.0 } else { 0.0 };
    let weight_kg = round(quantity * weight * libm::exp(0.05 * stream.normal()));
    let shipping = round(parcel + 0.8 * weight_kg + 0.3 * stream.normal().abs());
    let delivery_days = (days * libm::exp(0.12 * stream.normal())).round().max(1.0);
    let rating = (stream.uniform() < 0.7)
        .then(|| (4.6 - 0.12 * delivery_days + 0.5 * stream.normal()).round().clamp(1.0, 5.0));
    let total = round(quantity * unit_price * (1.0 - discount / 100.0) + shipping);
    Order {
        placed_at,
        country,
        product,
        quantity,
        unit_price,
        member,
        discount,
        weight_kg,
        shipping,
        delivery_days,
        rating,
        total,
    }
}

/// To two decimals.
fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

fn to_csv(orders: &[Order]) -> String {
    let mut csv = String::from(
        "order_id,placed_at,country,product,quantity,unit_price,member,discount,weight_kg,shipping,delivery_days,\
         rating,total\n",
    );
    for (row, order) in orders.iter().enumerate() {
        let placed = chrono::DateTime::from_timestamp(order.placed_at, 0).expect("a date near our time");
        let rating = order.rating.map_or_else(String::new, |rating| rating.to_string());
        let _ = writeln!(
            csv,
            "{},{},{},{},{},{:.2},{},{},{:.2},{:.2},{},{rating},{:.2}",
            10_001 + row,
            placed.format("%Y-%m-%d %H:%M:%S"),
            order.country,
            order.product,
            order.quantity,
            order.unit_price,
            order.member,
            order.discount,
            order.weight_kg,
            order.shipping,
            order.delivery_days,
            order.total,
        );
    }
    csv
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demo_has_one_wrong_cell_in_each_of_the_rows_it_names() {
        let spoiled = orders(500, 40, Seed(0));
        let clean = orders(500, 0, Seed(0));
        let differing: Vec<(usize, String)> = spoiled
            .csv
            .lines()
            .zip(clean.csv.lines())
            .enumerate()
            .flat_map(|(line, (a, b))| {
                let names: Vec<&str> = clean.csv.lines().next().unwrap().split(',').collect();
                let cells = a.split(',').zip(b.split(',')).zip(names);
                cells
                    .filter(|((a, b), _)| a != b)
                    .map(move |(_, name)| (line, name.to_owned()))
                    .collect::<Vec<_>>()
            })
            .collect();
        let named: Vec<(usize, String)> =
            spoiled.spoiled.iter().map(|s| (s.row, s.column.to_owned())).collect();
        assert_eq!(differing, named);
        assert_eq!(spoiled.spoiled.iter().filter(|s| s.blatant).count(), 20);
        assert_eq!(spoiled.csv.lines().count(), 501);
    }

    #[test]
    fn subtle_values_lie_within_the_range_of_the_column() {
        let demo = orders(2_000, 200, Seed(1));
        let names: Vec<&str> = demo.csv.lines().next().unwrap().split(',').collect();
        let column = |name: &str| names.iter().position(|n| *n == name).unwrap();
        let rows: Vec<Vec<&str>> = demo.csv.lines().skip(1).map(|line| line.split(',').collect()).collect();
        let touched: Vec<usize> = demo.spoiled.iter().map(|s| s.row - 1).collect();
        for spoiled in demo.spoiled.iter().filter(|s| !s.blatant) {
            let number = |row: usize| rows[row][column(spoiled.column)].parse::<f64>().unwrap();
            let clean = (0..rows.len()).filter(|row| !touched.contains(row)).map(number);
            let (low, high) = clean.fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)));
            assert!((low..=high).contains(&number(spoiled.row - 1)), "{spoiled:?}");
        }
    }
}
