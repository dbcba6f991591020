//! A figure before it is drawn: its marks, in the units of its axes.

use super::style::Style;

/// One figure: panels side by side, with one legend for the series of all panels.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// File name without extension.
    pub name: String,
    pub title: String,
    /// A description in words, for readers who cannot see the figure.
    pub alt: String,
    /// How to read the figure, and what it leaves out.
    pub note: String,
    pub panels: Vec<Panel>,
    pub columns: usize,
    /// Width and height of a panel, in pixels.
    pub size: [f64; 2],
}

/// One pair of axes with the series between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    pub title: String,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    pub label: String,
    /// Unit of the values; empty for counts and names.
    pub unit: String,
    pub scale: Scale,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Scale {
    /// Linear, over the range of the values.
    Linear,
    /// Linear, including zero.
    FromZero,
    Log,
    /// Names; the n-th one is at position n, from 1.
    Names(Vec<String>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Name in the legend; empty for none.
    pub label: String,
    pub style: Style,
    pub shape: Shape,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    Marks(Vec<Mark>),
    Line(Vec<[f64; 2]>),
    /// Rectangles: bars, boxes, cells, spans.
    Blocks(Vec<Block>),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Position, x and y.
    pub at: [f64; 2],
    /// Ends of the interval along x.
    pub x: Option<[f64; 2]>,
    /// Ends of the interval along y.
    pub y: Option<[f64; 2]>,
    pub name: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// From and to along x.
    pub x: [f64; 2],
    /// From and to along y.
    pub y: [f64; 2],
    /// Darkness from 0 to 1, if it encodes a value.
    pub shade: Option<f64>,
    pub name: String,
}

impl Axis {
    pub fn new(label: &str, unit: &str, scale: Scale) -> Axis {
        Axis {
            label: label.to_owned(),
            unit: unit.to_owned(),
            scale,
        }
    }

    pub fn names(label: &str, names: impl IntoIterator<Item = impl Into<String>>) -> Axis {
        let names = names.into_iter().map(Into::into).collect();
        Axis::new(label, "", Scale::Names(names))
    }

    pub fn text(&self) -> String {
        if self.unit.is_empty() {
            self.label.clone()
        } else {
            format!("{} ({})", self.label, self.unit)
        }
    }
}

impl Mark {
    pub fn new(at: [f64; 2], name: impl Into<String>) -> Mark {
        Mark {
            at,
            x: None,
            y: None,
            name: name.into(),
        }
    }
}

impl Series {
    pub fn new(label: impl Into<String>, style: Style, shape: Shape) -> Series {
        Series {
            label: label.into(),
            style,
            shape,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.range(0).is_none()
    }

    /// The range along an axis: 0 for x, 1 for y.
    pub fn range(&self, axis: usize) -> Option<[f64; 2]> {
        let all: Vec<f64> = match &self.shape {
            Shape::Marks(marks) => {
                let ends = |mark: &Mark| if axis == 0 { mark.x } else { mark.y };
                (marks.iter())
                    .flat_map(|mark| {
                        std::iter::once(mark.at[axis]).chain(ends(mark).into_iter().flatten())
                    })
                    .collect()
            }
            Shape::Line(points) => points.iter().map(|point| point[axis]).collect(),
            Shape::Blocks(blocks) => (blocks.iter())
                .flat_map(|block| if axis == 0 { block.x } else { block.y })
                .collect(),
        };
        joined(all.into_iter().map(|value| [value, value]))
    }
}

impl Panel {
    /// The range of its series along an axis: 0 for x, 1 for y.
    pub fn range(&self, axis: usize) -> Option<[f64; 2]> {
        joined(self.series.iter().filter_map(|series| series.range(axis)))
    }
}

fn joined(all: impl Iterator<Item = [f64; 2]>) -> Option<[f64; 2]> {
    all.reduce(|[low, high], [l, h]| [low.min(l), high.max(h)])
}
