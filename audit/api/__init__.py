"""The read API of the audit."""
