//! Fine-tuning as asked.
