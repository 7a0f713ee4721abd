"""The control loop and the controller of the page about exports, compiled and run, and repeated by the kernels."""

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from support.command import linkwise
from support.exported import done, tool

PAGE = Path(__file__).parents[2] / "docs" / "export.md"


def test_the_control_loop(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tool("cc", "gcc")
    tool("make", "make")
    text = PAGE.read_text()
    command, build = re.findall(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[:2]
    assert linkwise(*command.split()[1:]).exit_code == 0
    Path("loop.c").write_text(re.search(r"^```c\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[1])
    ran = subprocess.run(["sh", "-e", "-c", build], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert not ran.stderr
    found = float(re.search(r"off by (\S+) after", ran.stdout)[1])
    assert abs(found - in_python()) < 1e-6


# of ROS 2, as much as the controller of the page uses
STAND_INS = {
    "pluginlib/class_list_macros.hpp": """#pragma once
#define PLUGINLIB_EXPORT_CLASS(type, base) extern "C" base *make_plugin() { return new type; }
""",
    "controller_interface/controller_interface.hpp": """#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>
namespace rclcpp { class Time {}; class Duration {}; }
namespace rclcpp_lifecycle { class State {}; }
namespace controller_interface {
enum class CallbackReturn : std::uint8_t { SUCCESS, FAILURE, ERROR };
enum class return_type : std::uint8_t { OK, ERROR };
enum class interface_configuration_type : std::uint8_t { ALL, INDIVIDUAL, NONE };
struct InterfaceConfiguration { interface_configuration_type type; std::vector<std::string> names = {}; };
struct Loaned {
    double *at;
    template <typename T = double> [[nodiscard]] std::optional<T> get_optional(unsigned = 10) const { return *at; }
    template <typename T> [[nodiscard]] bool set_value(const T &value, unsigned = 10) { *at = value; return true; }
};
class ControllerInterface {
public:
    virtual ~ControllerInterface() = default;
    virtual CallbackReturn on_init() = 0;
    virtual InterfaceConfiguration command_interface_configuration() const = 0;
    virtual InterfaceConfiguration state_interface_configuration() const = 0;
    virtual CallbackReturn on_activate(const rclcpp_lifecycle::State &) { return CallbackReturn::SUCCESS; }
    virtual return_type update(const rclcpp::Time &, const rclcpp::Duration &) = 0;
    void lend(std::map<std::string, double> &memory) {
        for (const auto &name : command_interface_configuration().names) command_interfaces_.push_back({&memory[name]});
        for (const auto &name : state_interface_configuration().names) state_interfaces_.push_back({&memory[name]});
    }
protected:
    std::vector<Loaned> command_interfaces_, state_interfaces_;
};
}
""",
}
MANAGER = """#include <controller_interface/controller_interface.hpp>
#include <cstdio>
extern "C" controller_interface::ControllerInterface *make_plugin();
int main() {
    std::map<std::string, double> memory;
    const char *joints[] = {"shoulder", "elbow", "stroke", "turn"};
    controller_interface::ControllerInterface *controller = make_plugin();
    controller->lend(memory);
    for (int k = 0; k < 4; ++k) { memory[std::string(joints[k]) + "/position"] = 0.1 * (k + 1); }
    controller->on_activate({});
    for (int k = 0; k < 4; ++k) {
        memory[std::string(joints[k]) + "/position"] += 0.01;
        memory[std::string(joints[k]) + "/velocity"] = -0.2 * (k + 1);
    }
    const bool good = controller->update({}, {}) == controller_interface::return_type::OK;
    for (const char *joint : joints) { std::printf("%.17g ", memory[std::string(joint) + "/effort"]); }
    delete controller;
    return good ? 0 : 1;
}
"""
LISTS = """cmake_minimum_required(VERSION 3.15)
project(scara_control CXX)
set(CMAKE_CXX_STANDARD 17)
add_compile_options(-Wall -Wextra -Wpedantic -Wconversion -Werror)
add_subdirectory(scara)
add_library(holding SHARED holding.cpp)
target_include_directories(holding PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
target_link_libraries(holding PRIVATE scara)
add_executable(manager manager.cpp)
target_link_libraries(manager holding)
"""


@pytest.mark.slow
def test_the_controller_of_ros_2(tmp_path, monkeypatch):
    """With stand-ins for the classes of ROS 2: a plugin, loaned interfaces, a period."""
    monkeypatch.chdir(tmp_path)
    tool("g++", "g++")
    cmake, text = tool("cmake", "cmake"), PAGE.read_text()
    command = re.search(r"^```sh\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[1]
    assert linkwise(*command.split()[1:], "--to", "cmake").exit_code == 0
    controller = re.search(r"^```cpp\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[1]
    files = {**STAND_INS, "holding.cpp": controller, "manager.cpp": MANAGER, "CMakeLists.txt": LISTS}
    for name, content in files.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(content)
    done(cmake, "-B", "build", cwd=tmp_path)
    done(cmake, "--build", "build", cwd=tmp_path)
    found = [float(x) for x in done("build/manager", cwd=tmp_path).split()]
    q_ref, k = 0.1 * np.arange(1, 5), np.arange(1, 5)
    control = lw.compile(lw.load("scara"), lw.control.computed_torque, kp=400.0, kd=40.0)
    expected = control(q_ref + 0.01, -0.2 * k, q_ref, np.zeros(4), np.zeros(4))
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=1e-12 * np.abs(expected).max())


def in_python():
    """The same loop by the kernels."""
    robot = lw.load("scara")
    control = lw.compile(robot, lw.control.computed_torque, kp=400.0, kd=40.0)
    plant = lw.compile(robot, lw.forward_dynamics)
    q, qd, dt, one = np.full(4, 0.1), np.zeros(4), 0.001, np.ones(4)
    for k in range(1000):
        t = k * dt
        wanted = [w * one for w in (0.2 * np.sin(3.0 * t), 0.6 * np.cos(3.0 * t), -1.8 * np.sin(3.0 * t))]
        qdd = plant(q, qd, control(q, qd, *wanted))
        qd = qd + dt * qdd
        q = q + dt * qd
    return float(np.abs(wanted[0] - q).max())
