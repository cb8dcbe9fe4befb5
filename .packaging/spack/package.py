# Copyright numapredict's contributors.
# SPDX-License-Identifier: BSD-3-Clause
"""numapredict for Spack; for the site's own package repository, as packages/py_numapredict/package.py.

Not built yet, nor seen by `spack style` and `spack audit`: PyPI has no Spack, and its own site was out of reach where
this was written. The directives are those of Spack's documentation.
"""

import os

from spack_repo.builtin.build_systems.python import PythonPackage

from spack.package import *


class PyNumapredict(PythonPackage):
    """Says after two to four short runs where an OpenMP program's threads and memory should be on a NUMA machine."""

    # Nothing is published: lay the source distribution (python -m build --sdist) into the current folder, and install
    # with --no-checksum until a release has one.
    url = f"file://{os.getcwd()}/numapredict-0.2.0.tar.gz"
    manual_download = True

    license("BSD-3-Clause")

    version("0.2.0")

    # The preload library and the tracer know x86-64 only.
    requires("target=x86_64:", msg="numapredict places and traces programs on x86-64 only")
    requires("platform=linux", msg="numapredict needs Linux")

    depends_on("c", type="build")
    depends_on("cmake@3.18:", type="build")
    depends_on("ninja", type="build")

    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-scikit-build-core@0.11:", type="build")

    depends_on("py-click@8.1:", type=("build", "run"))
    depends_on("py-defusedxml@0.7:", type=("build", "run"))
    depends_on("py-jinja2@3.1:", type=("build", "run"))
    depends_on("py-joblib@1.3:", type=("build", "run"))
    depends_on("py-matplotlib@3.7:", type=("build", "run"))
    depends_on("py-msgspec@0.18:", type=("build", "run"))
    depends_on("py-numpy@1.26:", type=("build", "run"))
    depends_on("py-pandas@2.1:", type=("build", "run"))
    depends_on("py-platformdirs@4:", type=("build", "run"))
    depends_on("py-pyelftools@0.29:", type=("build", "run"))
    depends_on("py-pyarrow@14:", type=("build", "run"))
    depends_on("py-rich@13:", type=("build", "run"))
    depends_on("py-scikit-learn@1.6:", type=("build", "run"))
    depends_on("py-scipy@1.11:", type=("build", "run"))
    depends_on("py-seaborn@0.13:", type=("build", "run"))

    # lstopo-no-graphics and numactl, for this computer; libnuma comes with numactl. qemu-x86_64 (described machines),
    # setarch, c++filt, likwid-perfctr, perf and cere are called where they are there, and are the system's.
    depends_on("hwloc", type="run")
    depends_on("numactl", type=("build", "link", "run"))
