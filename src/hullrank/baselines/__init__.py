"""The rivals that the papers compare with, under the same interface."""
