"""Rules and writes: receiving, checking, scoring, publishing, sweeping. Every change of state is in here."""
