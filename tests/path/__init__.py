"""Which setting limits a path, and to how many bit/s."""
