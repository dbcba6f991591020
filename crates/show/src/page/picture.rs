//! The figure of a page: the columns of tables that it is drawn from.

use serde::Serialize;

use super::table::Table;

/// Two axes, and what lies on them.
#[derive(Debug, Serialize)]
pub struct Picture {
    pub title: String,
    /// How to read it.
    pub note: String,
    pub x: PictureAxis,
    pub y: PictureAxis,
    /// What axes may be over, in words; empty where they show figures only.
    pub over: &'static str,
    /// What is drawn, from behind.
    pub layers: Vec<Layer>,
}

impl Picture {
    /// Every configuration by its time and cost.
    pub fn cost_over_time(note: &str, layers: Vec<Layer>) -> Picture {
        let axis = |name, unit| PictureAxis {
            name,
            unit,
            has_logarithm: true,
        };
        Picture {
            title: "Every configuration: cost over time".to_owned(),
            note: note.to_owned(),
            x: axis("time", "h"),
            y: axis("cost", "USD"),
            over: "over the best",
            layers,
        }
    }
}

#[derive(Debug, Serialize)]
pub struct PictureAxis {
    pub name: &'static str,
    pub unit: &'static str,
    /// Whether it may be logarithmic, where all marks are above 0.
    pub has_logarithm: bool,
}

/// Rows of a table as marks. All but the table are heads of columns.
#[derive(Debug, Default, Serialize)]
pub struct Layer {
    /// Anchor of the table.
    pub table: &'static str,
    /// What its marks are called in the legend.
    pub label: &'static str,
    /// Across; rows without it are not drawn.
    pub x: &'static str,
    pub y: &'static str,
    /// Ends of the interval across.
    pub x_ends: Option<[&'static str; 2]>,
    pub y_ends: Option<[&'static str; 2]>,
    pub name: &'static str,
    /// Tells which rows are joined as the Pareto front: those in which it is not empty.
    pub front: Option<&'static str>,
    /// Tells filled marks (`measured`, or nothing) from hollow ones.
    pub filled: Option<&'static str>,
    /// What hollow marks are.
    pub hollow: &'static str,
    /// Whether every mark bears its name, and is not one of a crowd.
    pub is_named: bool,
}

impl Picture {
    /// Whether the tables contain every column that it is drawn from.
    pub fn stands_on(&self, tables: &[Table]) -> bool {
        self.layers.iter().all(|layer| {
            let Some(table) = tables.iter().find(|table| table.id == layer.table) else {
                return false;
            };
            let ends = layer.x_ends.iter().chain(&layer.y_ends).flatten();
            let single = [layer.x, layer.y, layer.name];
            let optional = layer.front.iter().chain(&layer.filled);
            let mut heads = single.iter().chain(ends).chain(optional);
            heads.all(|head| table.columns.iter().any(|column| column.name == **head))
        })
    }
}
