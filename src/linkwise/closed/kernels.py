"""Questions of closed chains as kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkwise.algorithms.algorithm import Algorithm, World, sizes
from linkwise.closed.questions import QUESTIONS
from linkwise.kernel.kernel import Kernel
from linkwise.kernel.options import Options
from linkwise.kernel.tracing import Port, caller, trace
from linkwise.mechanism.partition import Partition
from linkwise.robot.align import aligned
from linkwise.robot.regroup import regrouped
from linkwise.robot.robot import Robot
from linkwise.robot.tree import Tree


class ClosedKernel(Kernel):
    """A kernel of a closed chain; it takes positions of the whole tree that close the loops."""

    part: Partition

    @classmethod
    def ask(cls, robot: Robot, options: Options, part: Partition, name: str) -> ClosedKernel:
        """The kernel of a question, traced but not yet compiled."""
        asked = QUESTIONS[name]
        doc = asked.function.__doc__ or ""
        widths = sizes(robot.opened()) | {
            "ni": len(part.independent),
            "nd": len(part.driven),
            "na": len(part.active),
            "nc": len(part.weights),
            "nl": len(part.loops),
        }

        def ports(shapes: dict[str, Any]) -> list[Port]:
            return [
                Port(n, tuple(widths[s] if isinstance(s, str) else s for s in shape)) for n, shape in shapes.items()
            ]

        standard = ports(asked.inputs)
        described = Algorithm(
            name, asked.function, tuple(asked.inputs), asked.outputs, asked.uses, asked.torques_only, {}, doc
        )
        extra = options.ports(robot, described, asked.rates)

        def run(*inputs: list[Any]) -> Sequence[Any]:
            given = dict(zip((p.name for p in extra), inputs[len(standard) :], strict=True))
            tree = options.tree(Tree.of(options.model(robot, given)))
            if asked.torques_only:
                tree = regrouped(aligned(tree))

            def around(q: Any, qd: Any) -> World:
                return options.world(tree, given, (q, qd), asked.rates)

            found: Sequence[Any] = asked.function(tree, part, around, *inputs[: len(standard)])
            return found

        program = trace(name, run, [*standard, *extra], ports(asked.outputs))
        kernel = cls(caller(program, doc, options.threads))
        kernel.robot, kernel.algorithm, kernel.program = robot, described, program
        kernel.options, kernel.static, kernel.part = options, {}, part
        kernel.__doc__ = doc
        return kernel

    def _title(self) -> str:
        return f"{self.algorithm.name} of the closed chain {self.robot.name!r}"

    def __reduce__(self) -> Any:
        return ClosedKernel.ask, (self.robot, self.options, self.part, self.algorithm.name)
