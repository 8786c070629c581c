"""How a file becomes an evaluation: uploads, validation, scoring, the two state machines, quota, the API."""
