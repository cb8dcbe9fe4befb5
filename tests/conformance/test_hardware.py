"""This computer, whatever it is: the suite uses all its cores, under the programmer's default."""

import shutil
import subprocess
from pathlib import Path

import pytest

from numapredict.collect.host.host import host_topology
from numapredict.collect.machine import Machine
from numapredict.collect.mapping import Mapping
from numapredict.collect.measuring.hardware import HardwareMachine
from numapredict.collect.program import Program
from numapredict.collect.space import default_mapping
from tests.conformance.machine_suite import MachineConformance

GCC = shutil.which("gcc") or ""
SOURCE = """
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 1000000; i++)
        sum += 1.0 / (1 + i);
    printf("%f\\n", sum);
    if (argc > 1) {
        fprintf(stderr, "asked to fail\\n");
        abort();
    }
    return sum > 0 ? 0 : 1;
}
"""


@pytest.mark.skipif(not GCC, reason="gcc is not installed")
class TestHardwareMachine(MachineConformance):
    @pytest.fixture(scope="class")
    @classmethod
    def built(cls, tmp_path_factory: pytest.TempPathFactory) -> Path:
        folder = tmp_path_factory.mktemp("program")
        (folder / "sum.c").write_text(SOURCE)
        subprocess.run([GCC, "-O2", "-fopenmp", "-o", folder / "sum", folder / "sum.c"], check=True)
        return folder / "sum"

    @pytest.fixture(scope="class")
    @classmethod
    def machine(cls) -> Machine:
        return HardwareMachine(host_topology(), repetitions=3, timeout_s=60.0)

    @pytest.fixture(scope="class")
    @classmethod
    def program(cls, built: Path) -> Program:
        return Program(name="sum", command=(str(built),))

    @pytest.fixture(scope="class")
    @classmethod
    def mapping(cls, machine: Machine) -> Mapping:
        return default_mapping(machine.topology)

    @pytest.fixture(scope="class")
    @classmethod
    def crashing_program(cls, built: Path) -> Program:
        return Program(name="sum-fails", command=(str(built), "fail"))
