"""The shortcut audit as plain arithmetic: ranks of a pool of models in, labels and what they mean out (CIRCUS)."""
