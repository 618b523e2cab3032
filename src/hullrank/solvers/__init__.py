"""How problems are solved; every solver returns a point that its certificate grades."""
