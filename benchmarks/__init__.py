"""Speed as ratios against named peers and against the floor: ``python -m benchmarks [--quick]``."""
