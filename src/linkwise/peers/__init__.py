"""Other libraries: a robot's models in them, and times beside theirs."""
