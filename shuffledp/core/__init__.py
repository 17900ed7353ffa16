"""What the words mean: domains, log-space numerics, divergences, curves."""
