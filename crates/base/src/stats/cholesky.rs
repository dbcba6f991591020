//! Symmetric positive matrices as L·Lᵀ, and what is solved by the triangle L. Matrices are n × n by rows; of one only the lower
//! triangle is read and written.

/// L of a matrix, in its place. `false`, with an unusable matrix, if it is not positive.
pub fn cholesky(matrix: &mut [f64], n: usize) -> bool {
    decompose(matrix, n, |rest| (rest > 0.0).then_some(rest))
}

/// L of a matrix that is positive but for rounding, in its place: squares on its diagonal are `least` or more.
pub fn cholesky_held(matrix: &mut [f64], n: usize, least: f64) {
    decompose(matrix, n, |rest| Some(rest.max(least)));
}

/// `square` makes of what is left on the diagonal the square of L's entry there.
fn decompose(matrix: &mut [f64], n: usize, square: impl Fn(f64) -> Option<f64>) -> bool {
    for i in 0..n {
        for j in 0..=i {
            let (head, row) = matrix.split_at(i * n);
            let (other, own) = if j < i {
                (&head[j * n..], row)
            } else {
                (row, row)
            };
            let dot: f64 = (other[..j].iter().zip(&own[..j])).map(|(a, b)| a * b).sum();
            let rest = own[j] - dot;
            matrix[i * n + j] = if j < i {
                rest / other[j]
            } else if let Some(square) = square(rest) {
                square.sqrt()
            } else {
                return false;
            };
        }
    }
    true
}

/// Solves L·y = `right` in its place.
pub fn forward(triangle: &[f64], n: usize, right: &mut [f64]) {
    forward_from(triangle, n, 0, right);
}

/// A column of L⁻¹, into `column`; it is 0 above the diagonal.
pub fn inverse_column(triangle: &[f64], n: usize, at: usize, column: &mut [f64]) {
    column.fill(0.0);
    column[at] = 1.0;
    forward_from(triangle, n, at, column);
}

/// Solves L·y = `right`, which is 0 before `first`.
fn forward_from(triangle: &[f64], n: usize, first: usize, right: &mut [f64]) {
    for i in first..n {
        let row = &triangle[i * n + first..i * n + i];
        let dot: f64 = row.iter().zip(&right[first..]).map(|(l, y)| l * y).sum();
        right[i] = (right[i] - dot) / triangle[i * n + i];
    }
}

/// Solves Lᵀ·x = `right` in its place.
pub fn backward(triangle: &[f64], n: usize, right: &mut [f64]) {
    for i in (0..n).rev() {
        let dot: f64 = (i + 1..n).map(|j| triangle[j * n + i] * right[j]).sum();
        right[i] = (right[i] - dot) / triangle[i * n + i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_triangle_gives_back_its_matrix() {
        let mut m = vec![4.0, 0.0, 2.0, 5.0];
        assert!(cholesky(&mut m, 2));
        assert_eq!((m[0], m[2], m[3]), (2.0, 1.0, 2.0));
        let mut right = [2.0, 5.0];
        forward(&m, 2, &mut right);
        assert_eq!(right, [1.0, 2.0]);
        // (L·Lᵀ)·x = (2, 5) has the solution (0, 1).
        backward(&m, 2, &mut right);
        assert_eq!(right, [0.0, 1.0]);
        let mut inverse = [9.0; 4];
        let (first, second) = inverse.split_at_mut(2);
        inverse_column(&m, 2, 0, first);
        inverse_column(&m, 2, 1, second);
        assert_eq!(inverse, [0.5, -0.25, 0.0, 0.5]);
    }

    #[test]
    fn what_is_not_positive_is_refused_or_held() {
        let matrix = [1.0, 0.0, 2.0, 1.0];
        assert!(!cholesky(&mut matrix.clone(), 2));
        let mut held = matrix;
        cholesky_held(&mut held, 2, 0.25);
        assert_eq!((held[0], held[2], held[3]), (1.0, 2.0, 0.5));
    }
}
