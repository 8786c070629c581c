"""Rules and writes: freezing splits, publishing entries, comparing them."""
