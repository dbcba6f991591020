//! Empty: `cargo bench -p scavsim-peers` runs the bench next to it.
