"""What the audit's pages and API read. Splits whose truth is hidden are never audited, and nothing of them is found."""
