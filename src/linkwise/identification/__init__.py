"""From logs to models: parameters of a robot from what its sensors measured."""
