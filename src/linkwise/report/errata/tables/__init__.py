"""The errata of each source: entries, and the robots on which their errors are found."""
