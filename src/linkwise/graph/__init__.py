"""The tracing core: expressions, their simplification and derivatives. It knows scalars, not robots."""
