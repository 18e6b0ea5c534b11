"""Campaigns: ask for cells, tell their values, and never lose an answer."""
