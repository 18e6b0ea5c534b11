"""What money buys: the model, the cells, the forecast and the moment to stop."""
