"""Who asks: users, teams, tokens."""
