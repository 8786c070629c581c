"""What is compared and what came out: benchmarks, splits, methods, entries, scores; importers; public pages."""
