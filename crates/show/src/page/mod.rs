//! One page for one result: a single HTML file without network, for a screen, a phone and paper.
//!
//! In: the material of a result. Out: the text of the page.
//!
//! - [`contents`]: all that stands on it, in the order of the page; `headlines`: what came out, in sentences;
//!   `warnings`: what to mind; `sources`: which data it was made from; `tables`: rows to sort and filter, and what is
//!   behind a row.
//! - [`of_comparisons`], [`of_advice`], [`of_bench`]: the same page for a reproduction, a recommendation and a leaderboard.
//! - `page.html` is its form, `page.css` its looks, `page.js` sorts, filters and opens rows.

pub mod contents;
mod headlines;
pub mod of_advice;
pub mod of_bench;
pub mod of_comparisons;
mod sources;
mod tables;
mod warnings;

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};

use contents::Contents;

const FORM: &str = include_str!("page.html");
const LOOKS: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page as HTML.
///
/// # Errors
/// What is wrong with its form; a test keeps that from happening.
pub fn html(contents: &Contents) -> Result<String, minijinja::Error> {
    let mut forms = Environment::new();
    forms.set_auto_escape_callback(|_| AutoEscape::Html);
    forms.set_undefined_behavior(UndefinedBehavior::Strict);
    let form = forms.template_from_named_str("page.html", FORM)?;
    let page = minijinja::context! { page => Value::from(Serde(contents)), looks => LOOKS, script => SCRIPT };
    form.render(page)
}
