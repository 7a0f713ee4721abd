"""Kernels as functions of PyTorch; its wheel is large, so that these run where it is installed: make test-torch."""

import copy
import pickle
import re
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import InputError
from support.arms import arm, states, two_link
from support.every_machine import sort

torch = pytest.importorskip("torch", reason="PyTorch is not installed: make test-torch")
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")


def tensors(robot, *batch):
    return [torch.tensor(x, requires_grad=True) for x in states(robot, *batch)]


@pytest.mark.parametrize(
    "name", ["arm", "floating", "moving base", "five-bar, elastic", "ankle, moving base", "hexapod"]
)
def test_machines(name):
    machine = sort(name)
    kernel = machine.dynamics().inverse_dynamics
    inputs = [*machine.states(2), *machine.surroundings(2)]
    given = [torch.tensor(x, requires_grad=True) for x in inputs]
    np.testing.assert_array_equal(kernel.torch()(*given).detach().numpy(), kernel(*inputs))
    assert torch.autograd.gradcheck(kernel.torch(), given, atol=1e-4, rtol=1e-4)


def test_derivatives_of_every_kind():
    f = lw.compile(two_link(), lw.inverse_dynamics).torch()
    x = tensors(two_link(), 3)
    assert torch.autograd.gradcheck(f, x, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(f, x)
    x[1] = tensors(two_link())[1]  # repeated along the leading axis
    assert torch.autograd.gradcheck(f, x)
    assert torch.autograd.gradgradcheck(f, x)


def test_functions_of_torch_func():
    kernel = lw.compile(two_link(), lw.inverse_dynamics)
    f = kernel.torch()
    x = [t.detach() for t in tensors(two_link(), 4)]
    wanted = lw.compile(two_link(), lw.inverse_dynamics_derivatives)(*(t.numpy() for t in x))
    found = torch.func.vmap(torch.func.jacrev(f))(*x)
    np.testing.assert_allclose(found.numpy(), wanted.dtau_dq, rtol=1e-10, atol=1e-12)
    ahead = torch.func.vmap(torch.func.jacfwd(f, 1), (0, 0, None))(x[0], x[1], x[2][0])
    assert ahead.shape == (4, 2, 2)
    assert torch.func.hessian(lambda q: f(q, x[1][0], x[2][0]).sum())(x[0][0]).shape == (2, 2)


def test_memory_is_shared_and_kinds_are_converted():
    kernel = lw.compile(arm(2), lw.inverse_dynamics)
    x = [torch.tensor(v, dtype=torch.float32, requires_grad=True) for v in states(arm(2), 3)]
    y = kernel.torch()(*x)
    assert y.dtype == torch.float64
    y.sum().backward()
    assert x[0].grad.dtype == torch.float32
    strided = torch.tensor(np.ones((4, 6)))[:, ::3]
    assert kernel.torch()(strided, strided, strided).shape == (4, 2)


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")  # by its compiler, which goes on
def test_compiled_by_torch():
    f = lw.compile(two_link(), lw.inverse_dynamics).torch()
    x = tensors(two_link(), 3)
    y = torch.compile(lambda q: (2.0 * f(q, x[1], x[2])).sum(), backend="eager")(x[0])
    y.backward()
    assert torch.isfinite(x[0].grad).all()


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning")
def test_refusals():
    f = lw.compile(arm(2), lw.inverse_dynamics).torch()
    q, qd, qdd = (t.detach() for t in tensors(arm(2), 3))
    with pytest.raises(InputError, match="expected qd of shape"):
        f(q, qd[:, :1], qdd)
    with pytest.raises(InputError, match="expected the arguments q, qd, qdd"):
        f(q, qd)
    with pytest.raises(InputError, match="on the processor"):
        f(q.to("meta"), qd, qdd)
    with pytest.raises(InputError, match=r"real numbers, got torch.complex128. Give q.real"):
        f(q + 0j, qd, qdd)
    with pytest.raises(InputError, match=r"dense tensor, got torch.sparse_coo. Give qd.to_dense"):
        f(q, qd.to_sparse(), qdd)
    with pytest.raises(InputError, match="qdd as a tensor or an array of real numbers, got str"):
        f(q, qd, "qdd")
    with pytest.raises(InputError, match="arrays of numbers"):
        f(torch.nested.nested_tensor([q[0], q[1]]), qd, qdd)


def test_tensors_of_every_sort():
    """Numbers seen through other tensors, without gradients, whole numbers, lists."""
    kernel = lw.compile(arm(2), lw.inverse_dynamics)
    f, x = kernel.torch(), states(arm(2), 3)
    q, qd, qdd = (torch.tensor(v) for v in x)
    mirrored = torch.complex(-q, -q).conj().imag  # whose numbers are stored with the other sign
    assert mirrored.is_neg()
    np.testing.assert_array_equal(f(mirrored, x[1].tolist(), torch.nn.Parameter(qdd)).detach().numpy(), kernel(*x))
    with torch.no_grad():
        assert not f(q, qd, torch.nn.Parameter(qdd)).requires_grad
    ones = torch.ones((3, 2), dtype=torch.int64)
    np.testing.assert_array_equal(f(ones, ones, ones).numpy(), kernel(*[np.ones((3, 2))] * 3))


def test_a_network_with_a_kernel_is_saved_and_loaded(tmp_path):
    class Layer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.torques = lw.compile(arm(2), lw.inverse_dynamics).torch()

    layer, x = Layer(), [torch.tensor(v) for v in states(arm(2), 3)]
    again = pickle.loads(pickle.dumps(layer.torques))
    for other in (again, copy.deepcopy(layer).torques):
        np.testing.assert_array_equal(other(*x), layer.torques(*x))


def test_the_layer_of_the_documentation():
    page = (Path(__file__).parents[2] / "docs" / "other_tools.md").read_text(encoding="utf-8")
    (text,) = re.findall(r"^```py\n(.*?)^```", page, flags=re.DOTALL | re.MULTILINE)
    exec(compile(text, "other_tools.md", "exec"), {})
