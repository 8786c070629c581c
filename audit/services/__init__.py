"""Rules and writes of the audit."""
