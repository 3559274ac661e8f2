"""The command `reprlab`: each of its names leads to a command with a purpose, and a slip is told in one line."""

import subprocess
import sys

import pytest
from reprlab.__main__ import COMMANDS, main


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_there_and_has_help(name):
    done = subprocess.run([sys.executable, "-m", "reprlab", name, "-h"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "usage:" in done.stdout and not done.stderr


def test_without_a_command_all_are_listed(capsys):
    assert main([]) == main(["-h"]) == 0
    shown = capsys.readouterr().out
    assert all(f"  {name} " in shown for name in COMMANDS)


def test_a_slip_is_one_line(capsys):
    assert main(["lst"]) == 1
    assert (
        capsys.readouterr().err == "error: lst: there is no such command; did you mean 'list'?; reprlab -h lists them\n"
    )
