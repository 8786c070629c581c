"""The command line: the server's own verdict at home, as a table or as JSON. It needs NumPy and nothing else."""
