//! Colors, dashes, shapes and the color scale.
//!
//! *Source:* the palette of Okabe and Ito (2008), ordered such that neighbors also differ in lightness; and cividis by
//! Nuñez, Anderton and Renslow (2018, doi:10.1371/journal.pone.0199239), which is perceptually uniform.

use super::canvas::px;

/// The color of letters, axes and everything that is not data.
pub(super) const INK: &str = "#222222";
/// The color of grid lines.
pub(super) const GRID: &str = "#dddddd";
/// The color of leader lines.
pub(super) const GRAY: &str = "#888888";

/// A color in sRGB.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Rgb(pub(super) u8, pub(super) u8, pub(super) u8);

impl Rgb {
    /// The color in SVG notation.
    pub(super) fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }

    /// Relative luminance by WCAG 2: 0 is black, 1 is white.
    fn luminance(self) -> f64 {
        let linear = |channel: u8| {
            let part = f64::from(channel) / 255.0;
            if part <= 0.040_45 { part / 12.92 } else { libm::pow((part + 0.055) / 1.055, 2.4) }
        };
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }

    /// Black or white, whichever has more contrast on this color. Their contrasts, 1.05/(L + 0.05) for white
    /// and (L + 0.05)/0.05 for black, are equal at L + 0.05 = √(1.05 · 0.05).
    pub(super) fn letter_color(self) -> &'static str {
        if self.luminance() + 0.05 < libm::sqrt(1.05 * 0.05) { "#ffffff" } else { "#000000" }
    }
}

const PALETTE: [Rgb; 8] = [
    Rgb(0x00, 0x72, 0xb2), // blue
    Rgb(0xe6, 0x9f, 0x00), // orange
    Rgb(0xd5, 0x5e, 0x00), // vermillion
    Rgb(0x00, 0x9e, 0x73), // green
    Rgb(0x00, 0x00, 0x00), // black
    Rgb(0xcc, 0x79, 0xa7), // purple
    Rgb(0x56, 0xb4, 0xe9), // sky blue
    Rgb(0x99, 0x99, 0x99), // gray in place of yellow, which is lost on white
];

const DASHES: [&str; 5] = ["none", "7 3", "2 2.5", "9 3 2 3", "12 4"];

/// The color of a series.
pub(super) fn color(index: usize) -> String {
    PALETTE[index % PALETTE.len()].hex()
}

/// The dash pattern of a series. With 5 dashes and 8 colors, combinations repeat after 40 series.
pub(super) fn dash(index: usize) -> &'static str {
    DASHES[index % DASHES.len()]
}

/// The outline of the mark of a series around a point, as SVG path data. All shapes have about the same area as a
/// circle of that radius.
pub(super) fn marker(index: usize, x: f64, y: f64, radius: f64) -> String {
    let polygon = |corners: &[(f64, f64)]| {
        let corner = |&(dx, dy): &(f64, f64)| format!("{} {}", px(x + dx * radius), px(y + dy * radius));
        format!("M{}Z", corners.iter().map(corner).collect::<Vec<_>>().join("L"))
    };
    match index % 6 {
        0 => {
            let (r, d) = (px(radius), px(2.0 * radius));
            format!("M{} {}a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0Z", px(x - radius), px(y))
        }
        1 => polygon(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]),
        2 => polygon(&[(0.0, -1.4), (1.25, 0.85), (-1.25, 0.85)]),
        3 => polygon(&[(0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0)]),
        4 => polygon(&[(0.0, 1.4), (1.25, -0.85), (-1.25, -0.85)]),
        _ => polygon(&[
            (-0.45, -1.3),
            (0.45, -1.3),
            (0.45, -0.45),
            (1.3, -0.45),
            (1.3, 0.45),
            (0.45, 0.45),
            (0.45, 1.3),
            (-0.45, 1.3),
            (-0.45, 0.45),
            (-1.3, 0.45),
            (-1.3, -0.45),
            (-0.45, -0.45),
        ]),
    }
}

/// Cividis at ten even steps; it is nearly linear between them.
pub(super) const SCALE: [Rgb; 10] = [
    Rgb(0x00, 0x22, 0x4e),
    Rgb(0x12, 0x35, 0x70),
    Rgb(0x3b, 0x49, 0x6c),
    Rgb(0x57, 0x5d, 0x6d),
    Rgb(0x70, 0x71, 0x73),
    Rgb(0x8a, 0x86, 0x78),
    Rgb(0xa5, 0x9c, 0x74),
    Rgb(0xc3, 0xb3, 0x69),
    Rgb(0xe1, 0xcc, 0x55),
    Rgb(0xfe, 0xe8, 0x38),
];

/// The color of a share between 0 (dark) and 1 (light).
pub(super) fn scale_color(share: f64) -> Rgb {
    let position = share.clamp(0.0, 1.0) * (SCALE.len() - 1) as f64;
    let step = (position as usize).min(SCALE.len() - 2);
    let (low, high, part) = (SCALE[step], SCALE[step + 1], position - step as f64);
    let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * part).round() as u8;
    Rgb(mix(low.0, high.0), mix(low.1, high.1), mix(low.2, high.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_starts_dark_ends_light_and_never_darkens() {
        assert_eq!((scale_color(0.0), scale_color(1.0)), (SCALE[0], SCALE[9]));
        let light: Vec<f64> =
            (0..=1000).map(|step| scale_color(f64::from(step) / 1000.0).luminance()).collect();
        // A channel is rounded to 1/255; luminance may fall back by no more than that.
        assert!(light.windows(2).all(|pair| pair[1] > pair[0] - 1.0 / 255.0));
        assert!(SCALE.windows(2).all(|pair| pair[1].luminance() > pair[0].luminance()));
    }

    // The worst case is the gray in the middle, where both contrasts are √21 = 4.58; WCAG asks for 4.5.
    #[test]
    fn letters_stand_out_on_every_color_of_the_scale() {
        for step in 0..=1000 {
            let color = scale_color(f64::from(step) / 1000.0);
            let light = color.luminance() + 0.05;
            let contrast = if color.letter_color() == "#ffffff" { 1.05 / light } else { light / 0.05 };
            assert!(contrast >= 4.5, "{color:?}: {contrast}");
        }
    }
}
