"""Times of competitors measured side by side."""

from linkwise.report.bench import interleaved as interleaved
