//! Nothing: `cargo bench -p scavsim-peers` runs the bench beside it.
