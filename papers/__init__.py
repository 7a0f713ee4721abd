"""The experiments of the sources, repeated, and their errata: `make papers` writes them into one page of HTML."""
