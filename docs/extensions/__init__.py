"""What Sphinx learns for these pages: formulas, algorithms, pictures, notebooks."""
