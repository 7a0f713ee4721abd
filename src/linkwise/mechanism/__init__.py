"""A machine: which coordinates lead, how the others follow, and where drives push."""
