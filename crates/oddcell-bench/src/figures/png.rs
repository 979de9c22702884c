//! Renders SVG as pixels, and measures texts with the same renderer and the same built-in font.
//!
//! *Why:* with system fonts, results would differ between machines, and without any, letters would be missing. `DejaVu`
//! Sans is compiled in.

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

/// Parses an SVG with the renderer.
pub(super) fn parse(svg: &str) -> Result<Tree, FigureError> {
    let options = Options { fontdb: Arc::clone(&FONTS), ..Options::default() };
    Tree::from_str(svg, &options).map_err(|error| FigureError::Render { reason: error.to_string() })
}

/// Renders an SVG as PNG.
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
