//! Fine-tuning by hand.
