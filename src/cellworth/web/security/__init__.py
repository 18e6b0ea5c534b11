"""Who may do what, and what keeps others out."""
