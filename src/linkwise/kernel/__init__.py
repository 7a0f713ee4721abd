"""From an algorithm and a robot to a function of arrays; the only package that knows the graph and its back ends."""
