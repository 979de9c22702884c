//! A page in the style of the report for pictures and tables made elsewhere: the results of the laboratory.

use askama::Template;

use crate::page::{STYLE, THEME_SCRIPT, policy, rendered};

/// A page of pictures and tables.
#[derive(Debug, Clone, Default)]
pub struct Gallery {
    /// The title.
    pub title: String,
    /// One or two sentences below the title.
    pub lead: String,
    /// Names and values.
    pub facts: Vec<(String, String)>,
    /// From top to bottom.
    pub sections: Vec<Section>,
}

/// A section of the page.
#[derive(Debug, Clone, Default)]
pub struct Section {
    /// The heading.
    pub title: String,
    /// Its pictures.
    pub pictures: Vec<Picture>,
}

/// A picture and the numbers behind it.
#[derive(Debug, Clone, Default)]
pub struct Picture {
    /// What the picture shows.
    pub title: String,
    /// A whole SVG document. Its texts must already be escaped; the page includes it unchanged.
    pub svg: String,
    /// The numbers behind it as a table, header first; may be empty.
    pub table: Vec<Vec<String>>,
}

#[derive(Template)]
#[template(path = "gallery.html")]
struct Page<'a> {
    title: &'a str,
    policy: &'a str,
    style: &'a str,
    script: &'a str,
    gallery: &'a Gallery,
}

impl Gallery {
    /// The HTML of the page.
    #[must_use]
    pub fn html(&self) -> String {
        let mut gallery = self.clone();
        let pictures = gallery.sections.iter_mut().flat_map(|section| &mut section.pictures);
        for (at, picture) in pictures.enumerate() {
            picture.svg = inline(&picture.svg, at);
        }
        let script = format!("\"use strict\";(()=>{{\n{THEME_SCRIPT}}})();\n");
        let page = Page {
            title: &self.title,
            policy: &policy(STYLE, &script),
            style: STYLE,
            script: &script,
            gallery: &gallery,
        };
        rendered(&page)
    }
}

/// Makes the pattern names of an SVG unique, so that it can share a page with others.
fn inline(svg: &str, at: usize) -> String {
    let own = |prefix: &str| format!("{prefix}p{at}-");
    svg.replace(" id=\"", &own(" id=\"")).replace("url(#", &own("url(#"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_names_of_two_pictures_differ_and_texts_are_escaped() {
        let svg = r#"<svg><pattern id="a"/><rect fill="url(#a)"/></svg>"#;
        let picture = |title: &str| Picture {
            title: title.to_owned(),
            svg: svg.to_owned(),
            table: vec![vec!["set".to_owned()], vec!["<i>".to_owned()]],
        };
        let section =
            Section { title: "<b>heat</b>".to_owned(), pictures: vec![picture("one"), picture("two")] };
        let html = Gallery { sections: vec![section], ..Gallery::default() }.html();
        for at in 0..2 {
            assert!(
                html.contains(&format!("<pattern id=\"p{at}-a\"/><rect fill=\"url(#p{at}-a)\"/>")),
                "{html}"
            );
        }
        assert!(!html.contains("<b>heat") && !html.contains("<i>"));
    }
}
