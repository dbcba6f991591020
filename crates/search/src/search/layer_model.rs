use super::Forecast;

/// A model of the configurations of a task, made from profiles of layers by themselves.
pub trait LayerModel: Send + Sync {
    fn profiled(&self) -> Vec<usize>;

    /// Predicts the seconds to the target from those that a pass over the layers took in profiled configurations. Whatever
    /// cannot be the best may be left out.
    fn forecast(&self, passes_s: &[(usize, f64)], forecast: &mut Forecast);
}
