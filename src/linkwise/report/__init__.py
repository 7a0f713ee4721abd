"""Reports: pictures, comparisons with other libraries, and the experiments of the sources."""
