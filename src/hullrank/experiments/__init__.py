"""Each paper's tables and figures as one runnable experiment: `hullrank reproduce`."""
