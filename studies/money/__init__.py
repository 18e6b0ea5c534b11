"""What money buys: the model from the holes, the cells that are worth it, the forecast and the moment to stop."""
