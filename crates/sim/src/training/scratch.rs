//! Memory that protocols keep from one stretch to the next, so that a stretch takes none.

use std::any::Any;

/// Memory of a job's protocols: one room for each type of it that was asked for.
#[derive(Debug, Default)]
pub struct Scratch {
    rooms: Vec<Box<dyn Any + Send + Sync>>,
}

impl Scratch {
    /// The memory of type `M`, as it was left; made when it is first asked for. Asked once per stretch.
    pub fn memory<M: Any + Default + Send + Sync>(&mut self) -> &mut M {
        let known = self.rooms.iter().position(|room| room.is::<M>());
        let place = known.unwrap_or_else(|| {
            self.rooms.push(Box::<M>::default());
            self.rooms.len() - 1
        });
        self.rooms[place]
            .downcast_mut()
            .expect("the room at this place was asked whether it is of this type")
    }
}

impl Clone for Scratch {
    /// No memory yet: there is nothing in it that a stretch needs.
    fn clone(&self) -> Self {
        Scratch::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct OtherMemory(Vec<u32>);

    #[test]
    fn each_type_has_a_room_that_stays_as_it_was_left() {
        let mut scratch = Scratch::default();
        scratch.memory::<Vec<u32>>().push(7);
        scratch.memory::<OtherMemory>().0.push(8);
        assert_eq!(scratch.memory::<Vec<u32>>(), &[7]);
        assert_eq!(scratch.memory::<OtherMemory>().0, [8]);
        assert!(scratch.clone().memory::<Vec<u32>>().is_empty());
    }
}
