"""scavsim from Python."""
