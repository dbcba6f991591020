//! A figure as SVG and as PNG, drawn by `kuva`; its font is embedded.

use kuva::TickFormat;
use kuva::backend::raster::RasterBackend;
use kuva::backend::svg::SvgBackend;
use kuva::plot::legend::{LegendEntry, LegendShape};
use kuva::plot::line::LineStyle;
use kuva::plot::{BandPlot, LinePlot, ScatterPlot};
use kuva::prelude::{Layout, Plot, Theme};
use kuva::render::figure::{Figure as Sheet, FigureLegendPosition};
use kuva::render::render::Scene;

use super::description::{Axis, Figure, Mark, Panel, Scale, Series, Shape};
use super::style::{Dash, Style, shade};

/// Colours of the background, of text, and of lines behind the data. A page replaces them by the colours of its own theme.
pub const PAPER: &str = "#ffffff";
pub const INK: &str = "#1a1a1a";
pub const GRID: &str = "#dedede";

/// Prefix of the library's names for clip paths of panels.
const CLIP: &str = "kuva-clip-";
/// Pixels of a PNG per pixel of the SVG: enough for print at the width of a column.
const PNG_SCALE: f32 = 2.0;
/// Opacity of blocks behind others.
const FILL: f64 = 0.85;
/// Pixels per letter of a name at an axis: names that do not fit are rotated.
const LETTER: f64 = 7.5;
const BESIDE: f64 = 90.0;

pub fn svg(figure: &Figure) -> String {
    let drawn = own_numbers(&SvgBackend::new().render_scene(&scene(figure)));
    // The library adds its version, and has no alternative text.
    let (open, rest) = drawn.split_once("-->").unwrap_or(("", &drawn));
    let tag = open.split_once('>').map_or(open, |(tag, _)| tag);
    let width = size(tag, "width");
    let height = size(tag, "height");
    format!(
        "{tag} viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">\n<title>{}</title>\n<desc>{}</desc>\n{}\n",
        escaped(&figure.title),
        escaped(&figure.title),
        escaped(&figure.alt),
        rest.trim()
    )
}

/// Numbers clip paths per drawing. The library numbers them over all drawings of a process, so that the bytes would depend on
/// other drawings.
fn own_numbers(svg: &str) -> String {
    let mut parts = svg.split(CLIP);
    let mut all = parts.next().unwrap_or_default().to_owned();
    let mut seen: Vec<&str> = Vec::new();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_digit());
        let number = &part[..part.len() - rest.len()];
        let at = seen.iter().position(|known| *known == number);
        let at = at.unwrap_or_else(|| {
            seen.push(number);
            seen.len() - 1
        });
        all += &format!("clip-{at}{rest}");
    }
    all
}

fn size<'t>(tag: &'t str, name: &str) -> &'t str {
    let from = format!(" {name}=\"");
    let rest = tag.split_once(&*from).map_or("", |(_, rest)| rest);
    rest.split_once('"').map_or("", |(value, _)| value)
}

pub fn escaped(text: &str) -> String {
    let mut all = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => all.push_str("&amp;"),
            '<' => all.push_str("&lt;"),
            '>' => all.push_str("&gt;"),
            '"' => all.push_str("&quot;"),
            '\'' => all.push_str("&#39;"),
            c => all.push(c),
        }
    }
    all
}

#[derive(Debug, Clone, thiserror::Error)]
#[error("{library}")]
pub struct NotEncoded {
    /// The library's message; it has no types for errors.
    library: String,
}

pub fn png(figure: &Figure) -> Result<Vec<u8>, NotEncoded> {
    let raster = RasterBackend::new().with_scale(PNG_SCALE);
    raster
        .render_scene(&scene(figure))
        .map_err(|library| NotEncoded { library })
}

fn scene(figure: &Figure) -> Scene {
    let columns = figure.columns.clamp(1, figure.panels.len().max(1));
    let rows = figure.panels.len().div_ceil(columns).max(1);
    let structure: Vec<Vec<usize>> = (0..figure.panels.len()).map(|at| vec![at]).collect();
    let mut sheet = Sheet::new(rows, columns)
        .with_title(plain(&figure.title))
        .with_title_size(title_size(figure, columns))
        .with_structure(structure)
        .with_plots(figure.panels.iter().map(plots).collect())
        .with_layouts(
            (figure.panels.iter())
                .map(|panel| layout(panel, figure.size[0]))
                .collect(),
        )
        .with_cell_size(figure.size[0], figure.size[1])
        .with_spacing(12.0);
    let legend = legend(figure);
    if !legend.is_empty() {
        sheet = sheet
            .with_shared_legend_position(FigureLegendPosition::RightTop)
            .with_shared_legend_entries(legend);
    }
    sheet.render()
}

/// The font size of a heading that fits: letters are about 0.6 of their size wide.
fn title_size(figure: &Figure, columns: usize) -> u32 {
    let room = figure.size[0] * columns as f64;
    let letters = figure.title.chars().count().max(1) as f64;
    ((room / (0.62 * letters)) as u32).clamp(10, 16)
}

/// One entry per label of any panel, in the order of the panels' series.
fn legend(figure: &Figure) -> Vec<LegendEntry> {
    let mut entries: Vec<(usize, LegendEntry)> = Vec::new();
    let all = figure
        .panels
        .iter()
        .flat_map(|panel| panel.series.iter().enumerate());
    for (place, series) in all {
        let label = plain(&series.label);
        if label.is_empty() || entries.iter().any(|(_, entry)| entry.label == label) {
            continue;
        }
        let dash = series.style.dash;
        let shaded = match &series.shape {
            Shape::Blocks(blocks) => blocks.first().and_then(|block| block.shade),
            _ => None,
        };
        let entry = LegendEntry {
            label,
            color: shaded.map_or_else(|| series.style.hex().to_owned(), shade),
            shape: match &series.shape {
                Shape::Marks(_) => LegendShape::Marker(series.style.marker),
                Shape::Line(_) => LegendShape::Line,
                Shape::Blocks(_) => LegendShape::Rect,
            },
            dasharray: match (&series.shape, dash) {
                (Shape::Line(_), dash) if dash != Dash::Solid => Some(lengths(dash)),
                _ => None,
            },
        };
        entries.push((place, entry));
    }
    entries.sort_by_key(|(place, _)| *place);
    entries.into_iter().map(|(_, entry)| entry).collect()
}

fn layout(panel: &Panel, width: f64) -> Layout {
    let marks_only = (panel.series.iter()).all(|series| matches!(series.shape, Shape::Marks(_)));
    let (x, y) = (
        placed(&panel.x, panel.range(0), marks_only),
        placed(&panel.y, panel.range(1), marks_only),
    );
    let mut layout = Layout::new((x[0], x[1]), (y[0], y[1]))
        .with_title(plain(&panel.title))
        .with_title_size(13)
        .with_x_label(plain(&panel.x.text()))
        .with_y_label(plain(&panel.y.text()))
        .with_label_size(12)
        .with_tick_size(11)
        .with_body_size(11)
        .with_ticks(5)
        .with_theme(Theme {
            background: PAPER.to_owned(),
            axis_color: INK.to_owned(),
            grid_color: GRID.to_owned(),
            tick_color: INK.to_owned(),
            text_color: INK.to_owned(),
            legend_bg: PAPER.to_owned(),
            legend_border: GRID.to_owned(),
            ..Theme::light()
        })
        .with_font_family("DejaVu Sans, Verdana, sans-serif")
        .with_x_axis_min(x[0])
        .with_x_axis_max(x[1])
        .with_y_axis_min(y[0])
        .with_y_axis_max(y[1]);
    match &panel.x.scale {
        Scale::Log => layout = layout.with_log_x(),
        Scale::Names(names) => {
            layout = layout.with_x_categories(names.iter().map(|name| plain(name)).collect());
            let longest = names.iter().map(|name| name.chars().count()).max();
            let letters = longest.unwrap_or(0) * names.len();
            if letters as f64 * LETTER > width - BESIDE {
                layout = layout.with_x_tick_rotate(-40.0);
            }
        }
        Scale::Linear | Scale::FromZero => {}
    }
    match &panel.y.scale {
        Scale::Log => layout = layout.with_log_y(),
        Scale::Names(names) => {
            layout = layout.with_y_categories(names.iter().map(|name| plain(name)).collect());
        }
        Scale::Linear | Scale::FromZero => {}
    }
    if matches!(panel.x.scale, Scale::Linear | Scale::FromZero) {
        layout = layout.with_x_tick_format(TickFormat::Auto);
    }
    layout
}

/// The start and end of an axis.
fn placed(axis: &Axis, range: Option<[f64; 2]>, marks_only: bool) -> [f64; 2] {
    let [low, high] = range.unwrap_or([0.0, 1.0]);
    match &axis.scale {
        Scale::Names(names) => [0.5, names.len() as f64 + 0.5],
        Scale::Log => [low / 1.25, high * 1.25],
        Scale::Linear | Scale::FromZero => {
            let zero = axis.scale == Scale::FromZero;
            let (low, high) = if zero {
                (low.min(0.0), high.max(0.0))
            } else {
                (low, high)
            };
            // A single value has a margin, too.
            let room = if high > low {
                0.06 * (high - low)
            } else {
                (0.1 * high.abs()).max(0.5)
            };
            // Bars begin at the axis; a mark on it would be cut off.
            let low = if zero && low == 0.0 && !marks_only {
                0.0
            } else {
                low - room
            };
            let high = if zero && high == 0.0 {
                0.0
            } else {
                high + room
            };
            [low, high]
        }
    }
}

fn plots(panel: &Panel) -> Vec<Plot> {
    panel.series.iter().flat_map(drawn).collect()
}

fn drawn(series: &Series) -> Vec<Plot> {
    let style = series.style;
    match &series.shape {
        Shape::Marks(marks) => vec![marked(marks, style).into()],
        Shape::Line(points) => {
            let line = LinePlot::new()
                .with_data(points.iter().map(|[x, y]| (*x, *y)))
                .with_color(style.hex())
                .with_stroke_width(1.6)
                .with_line_style(match style.dash {
                    Dash::Solid => LineStyle::Solid,
                    dash => LineStyle::Custom(lengths(dash)),
                });
            vec![line.into()]
        }
        Shape::Blocks(blocks) => (blocks.iter())
            .map(|block| {
                let [y0, y1] = block.y;
                let colour = block.shade.map_or_else(|| style.hex().to_owned(), shade);
                let opacity = if block.shade.is_some() { 1.0 } else { FILL };
                Plot::Band(
                    BandPlot::new(block.x, [y0, y0], [y1, y1])
                        .with_color(colour)
                        .with_opacity(opacity),
                )
            })
            .collect(),
    }
}

fn marked(marks: &[Mark], style: Style) -> ScatterPlot {
    let arms = |value: f64, ends: Option<[f64; 2]>| {
        let [low, high] = ends.unwrap_or([value, value]);
        ((value - low).max(0.0), (high - value).max(0.0))
    };
    let mut plot = ScatterPlot::new()
        .with_data(marks.iter().map(|mark| (mark.at[0], mark.at[1])))
        .with_color(style.hex())
        .with_size(f64::from(style.size))
        .with_marker(style.marker);
    if marks.iter().any(|mark| mark.x.is_some()) {
        plot = plot.with_x_err_asymmetric(marks.iter().map(|mark| arms(mark.at[0], mark.x)));
    }
    if marks.iter().any(|mark| mark.y.is_some()) {
        plot = plot.with_y_err_asymmetric(marks.iter().map(|mark| arms(mark.at[1], mark.y)));
    }
    plot
}

fn lengths(dash: Dash) -> String {
    let lengths: Vec<String> = dash.lengths().iter().map(u8::to_string).collect();
    lengths.join(" ")
}

/// A text that the library does not read as mathematics.
fn plain(text: &str) -> String {
    text.replace('$', "\\$")
}
