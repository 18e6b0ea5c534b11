"""What the paper claims, and whether it holds here."""
