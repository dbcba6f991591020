use std::fmt;

/// A VM type with the workers placed on it, as scenarios, tables and results write it:
///
/// | written | meaning |
/// |---|---|
/// | `g4dn.12xlarge` | one worker on every VM |
/// | `g4dn.12xlarge/4` | four |
/// | `g4dn.12xlarge/1-2-4` | three VMs with one, two and four |
/// | `g4dn.12xlarge/7@6` | seven workers on six VMs, in an unknown way |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape<'a> {
    pub vm_type: &'a str,
    pub suffix: &'a str,
    placement: Placement,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Placement {
    Even(u32),
    Fixed { vms: u32, workers: u32 },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a VM type with its workers per VM")]
pub struct NoShape(String);

pub fn vm_type(shape: &str) -> &str {
    Shape::parse(shape).map_or(shape, |shape| shape.vm_type)
}

impl<'a> Shape<'a> {
    pub fn parse(text: &'a str) -> Result<Shape<'a>, NoShape> {
        let wrong = || NoShape(text.to_owned());
        let Some((vm_type, placed)) = text.split_once('/') else {
            return Ok(Shape {
                vm_type: text,
                suffix: "",
                placement: Placement::Even(1),
            });
        };
        let count = |word: &str| word.parse::<u32>().ok().filter(|n| (1..=1000).contains(n));
        let placement = if let Some((workers, vms)) = placed.split_once('@') {
            let (workers, vms) = (count(workers), count(vms));
            let (Some(workers), Some(vms)) = (workers, vms) else {
                return Err(wrong());
            };
            if workers < vms {
                return Err(wrong());
            }
            Placement::Fixed { vms, workers }
        } else if placed.contains('-') {
            let each: Option<Vec<u32>> = placed.split('-').map(count).collect();
            let each = each.ok_or_else(wrong)?;
            Placement::Fixed {
                vms: each.len() as u32,
                workers: each.iter().sum(),
            }
        } else {
            Placement::Even(count(placed).ok_or_else(wrong)?)
        };
        if vm_type.is_empty() {
            return Err(wrong());
        }
        Ok(Shape {
            vm_type,
            suffix: &text[vm_type.len()..],
            placement,
        })
    }

    /// VMs that `workers` need; an even placement may leave the last not full. `None` where it is of another number of
    /// workers.
    pub fn vms(&self, workers: u32) -> Option<u32> {
        match self.placement {
            Placement::Even(each) => Some(workers.div_ceil(each)),
            Placement::Fixed { vms, workers: all } => (workers == all).then_some(vms),
        }
    }

    /// `(workers on each, VMs)` in the order of the workers. Unknown placements are spread evenly, the fullest VMs first.
    pub fn layout(&self, workers: u32) -> Vec<(u32, u32)> {
        let runs = match self.placement {
            Placement::Even(each) => vec![(each, workers / each), (workers % each, 1)],
            Placement::Fixed { vms, workers } => {
                if self.suffix.contains('@') {
                    let fuller = workers % vms;
                    vec![(workers / vms + 1, fuller), (workers / vms, vms - fuller)]
                } else {
                    (self.suffix.split(['/', '-']))
                        .filter_map(|each| Some((each.parse().ok()?, 1)))
                        .collect()
                }
            }
        };
        let is_there = |(each, vms): &(u32, u32)| *each > 0 && *vms > 0;
        runs.into_iter().filter(is_there).collect()
    }

    pub fn is_even(&self) -> bool {
        matches!(self.placement, Placement::Even(_))
    }

    pub fn on(&self, vm_type: &str) -> String {
        format!("{vm_type}{}", self.suffix)
    }
}

impl fmt::Display for Shape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.vm_type, self.suffix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vms(text: &str, workers: u32) -> Option<u32> {
        Shape::parse(text).expect("a shape").vms(workers)
    }

    #[test]
    fn workers_need_as_many_vms_as_their_placement_says() {
        assert_eq!(vms("e2-standard-4", 16), Some(16));
        assert_eq!(vms("g4dn.12xlarge/4", 16), Some(4));
        assert_eq!(vms("g4dn.12xlarge/4", 18), Some(5));
        assert_eq!(vms("g4dn.12xlarge/1-2-4", 7), Some(3));
        assert_eq!(vms("g4dn.12xlarge/1-2-4", 8), None);
        assert_eq!(vms("g4dn.12xlarge/7@6", 7), Some(6));
    }

    #[test]
    fn a_layout_places_every_worker_on_one_of_the_vms() {
        for (text, workers, layout) in [
            ("a", 16, vec![(1, 16)]),
            ("a/4", 16, vec![(4, 4)]),
            ("a/4", 18, vec![(4, 4), (2, 1)]),
            ("a/4", 3, vec![(3, 1)]),
            ("a/1-2-4", 7, vec![(1, 1), (2, 1), (4, 1)]),
            ("a/7@6", 7, vec![(2, 1), (1, 5)]),
            ("a/6@6", 6, vec![(1, 6)]),
        ] {
            let shape = Shape::parse(text).expect("a shape");
            assert_eq!(shape.layout(workers), layout, "{text}");
            let placed: u32 = layout.iter().map(|(each, vms)| each * vms).sum();
            let held: u32 = layout.iter().map(|(_, vms)| vms).sum();
            assert_eq!(placed, workers, "{text}");
            assert_eq!(Some(held), vms(text, workers), "{text}");
        }
    }

    #[test]
    fn a_shape_is_written_as_it_was_read_and_may_change_its_type() {
        for text in ["a", "a/4", "a/1-2-4", "a/7@6"] {
            let shape = Shape::parse(text).expect("a shape");
            assert_eq!(shape.to_string(), text);
            assert_eq!(shape.on("b"), text.replace('a', "b"));
        }
    }

    #[test]
    fn what_is_no_placement_is_refused() {
        for text in [
            "a/", "/4", "a/0", "a/x", "a/1-", "a/1-x", "a/5@6", "a/@6", "a/4/4",
        ] {
            assert!(Shape::parse(text).is_err(), "{text}");
        }
    }
}
