//! What a stage holds.
