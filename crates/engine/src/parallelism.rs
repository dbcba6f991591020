use rayon::prelude::*;

/// The threads of a computation; results do not depend on them. Code that holds a lock or fills a cell that others wait for
/// must not share: a thread that waits for its helpers starts other work, which may wait for that cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Parallelism {
    /// On the current thread.
    #[default]
    One,
    /// On the threads of the current pool.
    Pool,
}

impl Parallelism {
    /// The pool of the current thread, if that has several threads; otherwise the current thread.
    pub fn of_current_thread() -> Parallelism {
        match rayon::current_thread_index() {
            Some(_) if rayon::current_num_threads() > 1 => Parallelism::Pool,
            _ => Parallelism::One,
        }
    }

    pub fn count(self) -> usize {
        match self {
            Parallelism::One => 1,
            Parallelism::Pool => rayon::current_num_threads(),
        }
    }

    /// Applies `of` to each of `items` and its index, and returns the results in order.
    pub fn map<T: Send, R: Send>(
        self,
        items: &mut [T],
        of: impl Fn(usize, &mut T) -> R + Send + Sync,
    ) -> Vec<R> {
        match self {
            Parallelism::One => {
                let all = items.iter_mut().enumerate();
                all.map(|(at, item)| of(at, item)).collect()
            }
            Parallelism::Pool => (items.par_iter_mut().enumerate().with_max_len(1))
                .map(|(at, item)| of(at, item))
                .collect(),
        }
    }

    /// Applies `of` to each number below `count`, and returns the results in order; each thread processes `at_once` of them.
    pub fn each<R: Send>(
        self,
        count: usize,
        at_once: usize,
        of: impl Fn(usize) -> R + Send + Sync,
    ) -> Vec<R> {
        match self {
            Parallelism::One => (0..count).map(of).collect(),
            Parallelism::Pool => (0..count)
                .into_par_iter()
                .with_min_len(at_once)
                .map(of)
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_out_is_in_order_on_any_number_of_threads() {
        let squares: Vec<usize> = (0..1000).map(|n| n * n).collect();
        let of_current = Parallelism::of_current_thread;
        assert_eq!(of_current(), Parallelism::One);
        assert_eq!(of_current().each(1000, 7, |n| n * n), squares);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3);
        pool.build().expect("three threads").install(|| {
            assert_eq!(of_current(), Parallelism::Pool);
            assert_eq!(of_current().count(), 3);
            assert_eq!(Parallelism::Pool.each(1000, 7, |n| n * n), squares);
            let mut items: Vec<usize> = (0..1000).collect();
            let doubled = Parallelism::Pool.map(&mut items, |at, item| {
                *item *= at;
                2 * *item
            });
            assert_eq!(items, squares);
            assert!(doubled.iter().zip(&squares).all(|(a, b)| *a == 2 * b));
        });
    }
}
