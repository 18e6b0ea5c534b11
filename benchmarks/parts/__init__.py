"""The parts of a run; each file has one function ``run(settings)`` that returns a section."""
