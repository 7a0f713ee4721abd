"""Robots in files: a reader and a writer for each format, tables of DH and Khalil, and robots that come along."""
