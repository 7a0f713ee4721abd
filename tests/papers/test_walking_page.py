"""The walking page compares like with like."""

from linkwise.walking.person import Person
from linkwise.walking.walk import walk
from papers import walking


def test_the_problem_of_the_sources_size_is_beside_its_numbers():
    """Variables as published, constraints within six in a hundred; one iteration is enough to know the size."""
    found = walk(Person(), 1.2, 0.6, whole=True, iterations=1, progress=False)
    published, ours = walking.sizes({walking.WHOLE: found}).rows
    assert published[1:3] == (330, 1726)
    assert ours[:3] == (walking.WHOLE, 330, 1636)
