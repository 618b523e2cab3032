"""Choosing well: cross-validated paths over C, kernel and loss, thresholds for a metric, prediction sets."""
