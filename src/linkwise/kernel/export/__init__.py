"""Kernels as folders of source code that compile by themselves."""
