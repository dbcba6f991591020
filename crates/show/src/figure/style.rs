//! How series differ: by colour, mark and dash, so that a figure can be read in grey and with any colour vision.

pub use kuva::plot::scatter::MarkerShape as Marker;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Style {
    pub colour: usize,
    pub marker: Marker,
    pub dash: Dash,
    /// Width of a line, or size of a mark, in pixels.
    pub size: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dash {
    Solid,
    Dashed,
    Dotted,
    Alternating,
    Long,
}

/// Colours of series: seven of Okabe and Ito (2008), which differ with any kind of colour vision (the yellow is darker here,
/// for print), and three darker ones. Then black and greys for the background series.
pub const COLOURS: [&str; 15] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#7a6a00", "#332288",
    "#882255", "#8c564b", "#000000", "#8a8a8a", "#a8a8a8", "#777777", "#5c5c5c",
];
/// Number of the colours of series.
const SERIES_COLOURS: usize = 10;
pub const BLACK: usize = 10;
pub const GREY: usize = 11;
const GREYS: [usize; 4] = [12, 11, 13, 14];

const MARKERS: [Marker; 10] = [
    Marker::Circle,
    Marker::Square,
    Marker::Triangle,
    Marker::Diamond,
    Marker::TriangleDown,
    Marker::Plus,
    Marker::Cross,
    Marker::Star,
    Marker::Pentagon,
    Marker::Hexagon,
];
const DASHES: [Dash; 5] = [
    Dash::Solid,
    Dash::Dashed,
    Dash::Dotted,
    Dash::Alternating,
    Dash::Long,
];

impl Style {
    /// The style of the n-th of several series. The first ten differ in colour and in mark; no two of the first 100 have both in
    /// common.
    pub fn nth(n: usize) -> Style {
        Style {
            colour: n % SERIES_COLOURS,
            marker: MARKERS[(n % SERIES_COLOURS + n / SERIES_COLOURS) % MARKERS.len()],
            dash: DASHES[n % DASHES.len()],
            size: 4,
        }
    }

    /// The style of the n-th of several background series in grey: they differ by dash and mark.
    pub fn behind(n: usize) -> Style {
        Style {
            colour: GREYS[n % GREYS.len()],
            size: 3,
            ..Style::nth(n)
        }
    }

    /// One colour for a background series.
    pub fn plain(colour: usize) -> Style {
        Style {
            colour,
            marker: Marker::Circle,
            dash: Dash::Solid,
            size: 3,
        }
    }

    pub fn marked(self, marker: Marker, size: u8) -> Style {
        Style {
            marker,
            size,
            ..self
        }
    }

    pub fn dashed(self, dash: Dash) -> Style {
        Style { dash, ..self }
    }

    pub fn hex(self) -> &'static str {
        COLOURS[self.colour]
    }
}

impl Dash {
    /// Lengths of strokes and gaps in pixels; empty for a solid line.
    pub fn lengths(self) -> &'static [u8] {
        match self {
            Dash::Solid => &[],
            Dash::Dashed => &[7, 4],
            Dash::Dotted => &[2, 3],
            Dash::Alternating => &[8, 3, 2, 3],
            Dash::Long => &[12, 4],
        }
    }
}

/// The colour of a value from 0 to 1: from light to dark, so that grey print keeps the order.
pub fn shade(value: f64) -> String {
    const ENDS: [[f64; 3]; 3] = [
        [247.0, 251.0, 255.0],
        [86.0, 160.0, 206.0],
        [8.0, 48.0, 107.0],
    ];
    let at = value.clamp(0.0, 1.0) * 2.0;
    let (from, to, share) = if at < 1.0 {
        (ENDS[0], ENDS[1], at)
    } else {
        (ENDS[1], ENDS[2], at - 1.0)
    };
    let [r, g, b] = std::array::from_fn(|i| (from[i] + (to[i] - from[i]) * share).round() as u8);
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn series_differ_in_more_than_their_colour() {
        let all: Vec<Style> = (0..100).map(Style::nth).collect();
        for (i, a) in all.iter().enumerate() {
            for b in &all[..i] {
                assert!(a.colour != b.colour || a.marker != b.marker, "{i}");
            }
        }
        for (i, a) in all[..SERIES_COLOURS].iter().enumerate() {
            for b in &all[..i] {
                assert!(a.colour != b.colour && a.marker != b.marker, "{i}");
            }
        }
        for pair in all[..SERIES_COLOURS].windows(2) {
            assert!(pair[0].dash != pair[1].dash);
        }
    }

    #[test]
    fn shades_darken() {
        let grey = |value| {
            let hex = shade(value);
            let part = |at: usize| u32::from_str_radix(&hex[at..at + 2], 16).expect("hex");
            part(1) * 3 + part(3) * 6 + part(5)
        };
        for step in 0..20 {
            assert!(grey(f64::from(step) / 20.0) > grey(f64::from(step + 1) / 20.0));
        }
    }
}
