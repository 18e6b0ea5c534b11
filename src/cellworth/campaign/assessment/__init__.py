"""How a campaign is doing: its score over time, what more money would bring, and when to stop."""
