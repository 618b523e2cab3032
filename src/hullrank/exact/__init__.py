"""Rank statistics maximised exactly: charge 0 or 1 for every pair, with an upper bound and a recounted value."""
