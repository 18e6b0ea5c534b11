"""The parts of a run; each file has a function ``run(settings)`` that returns a section."""
