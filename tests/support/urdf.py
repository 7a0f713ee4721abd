"""Small URDF texts, by parts."""

BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'


def urdf(*lines: str) -> str:
    """A file of these lines, the first of which is line 2."""
    return "\n".join(('<robot name="arm">', *lines, "</robot>"))


def link(name: str, inside: str = BODY) -> str:
    return f'<link name="{name}">{inside}</link>'


def joint(name: str, parent: str, child: str, kind: str = "revolute", inside: str = "") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


MIMIC = '<mimic joint="i" multiplier="-2" offset="0.5"/>'


def three(first: str, second: str, inside: str = MIMIC, third: str = "") -> str:
    """Links a, b, c: joint i of kind `first`, joint j of kind `second` that mimics it."""
    return urdf(
        link("a"), link("b"), link("c"), link("d"),
        joint("i", "a", "b", first), joint("j", "b", "c", second, inside),
        joint("k", "c", "d", "revolute", third),
    )  # fmt: skip
