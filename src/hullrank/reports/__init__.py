"""What people read about a model: its objective recomputed, methods compared, and the HTML report."""
