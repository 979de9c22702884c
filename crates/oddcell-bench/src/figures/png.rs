//! From SVG to pixels, and how wide a text will be: both by the same renderer with the same built-in font.
//!
//! *Why:* a machine without fonts would draw no letters, and one with other fonts other ones. `DejaVu` Sans
//! is compiled in.

use std::sync::{Arc, LazyLock};

use resvg::{
    tiny_skia::{Color, Pixmap, Transform},
    usvg::{Options, Tree, fontdb},
};

use super::FigureError;

/// Pixels per unit of the SVG: sharp on screens of double density and in print.
const SCALE: f32 = 2.0;

static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_source(fontdb::Source::Binary(Arc::new(dejavu::sans::regular())));
    Arc::new(fonts)
});

/// Reads an SVG as the renderer does.
pub(super) fn parse(svg: &str) -> Result<Tree, FigureError> {
    let options = Options { fontdb: Arc::clone(&FONTS), ..Options::default() };
    Tree::from_str(svg, &options).map_err(|error| FigureError::Render { reason: error.to_string() })
}

/// An SVG as PNG.
pub(super) fn render(svg: &str) -> Result<Vec<u8>, FigureError> {
    let tree = parse(svg)?;
    let size = tree.size();
    let (width, height) = ((size.width() * SCALE).ceil(), (size.height() * SCALE).ceil());
    let mut pixels = Pixmap::new(width as u32, height as u32)
        .ok_or_else(|| FigureError::Render { reason: format!("{width} x {height} pixels are too many") })?;
    pixels.fill(Color::WHITE);
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| FigureError::Render { reason: error.to_string() })
}
