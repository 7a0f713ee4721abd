"""Motion in time: compiled rollouts, accurate integration, environment forces."""
