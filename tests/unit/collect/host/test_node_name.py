import platform

import pytest

from numapredict.collect.host.node_name import node_name


@pytest.mark.parametrize(
    ("variables", "host", "name"),
    [
        ({"SLURMD_NODENAME": "n7"}, "login", "n7"),
        ({}, "cn-0042.cluster.example", "cn-0042"),
        ({"SLURMD_NODENAME": ""}, "cn3", "cn3"),
        ({}, "../../etc", "node"),
        ({}, "we ird\n*", "we-ird--"),
        ({}, "n" * 99, "n" * 40),
        ({}, "", "node"),
    ],
)
def test_the_name_fits_in_the_name_of_a_file(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], host: str, name: str
) -> None:
    monkeypatch.setattr(platform, "node", lambda: host)
    assert node_name(variables) == name
