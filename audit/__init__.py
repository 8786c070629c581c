"""Which queries a single modality solves: encoders, probes, pools, audit versions, and their pages."""
