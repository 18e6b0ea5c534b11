"""The parts of `cellworth.paper.fetch`: contents, places on this machine, and the archive on the web."""
