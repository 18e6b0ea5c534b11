"""Single values and columns of text, as the numbers that stand for them."""
