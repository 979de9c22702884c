"""The judge of pull requests, through the GitHub Action and the pre-commit hook."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from conftest import ROOT

PROGRAM = ROOT / "target/debug/oddcell"


def orders(*, spoiled: bool = False, name: str = "city") -> str:
    rows = [f"{10 + row * 37 % 101 / 10},{20 + row * 37 % 101 / 5},{['Oslo', 'Voss'][row % 2]}" for row in range(200)]
    if spoiled:
        rows[40] = "99999.0,20.0,Oslo"
    return "\n".join([f"amount,weight,{name}", *rows]) + "\n"


def judge(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "ODDCELL": str(PROGRAM), "GITHUB_ACTIONS": "", **variables}
    command = [sys.executable, str(ROOT / "scripts/judge-tables"), *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def test_a_clean_table_passes_and_a_spoiled_one_fails_at_its_line(tmp_path):
    (tmp_path / "clean.csv").write_text(orders())
    (tmp_path / "spoiled.csv").write_text(orders(spoiled=True))
    assert judge(tmp_path, "clean.csv").returncode == 0
    found = judge(tmp_path, "clean.csv", "spoiled.csv")
    assert found.returncode == 1
    assert found.stdout.startswith(
        "clean.csv: 0 of 200 rows are odd\nspoiled.csv: 1 of 200 rows are odd\n  row 41: amount"
    )
    assert judge(tmp_path, "--most", "1", "spoiled.csv").returncode == 0
    assert judge(tmp_path, "--warn", "spoiled.csv").returncode == 0
    # Flags go to `oddcell detect`: by this rule, three rows are odd.
    assert "spoiled.csv: 3 of 200" in judge(tmp_path, "spoiled.csv", "--", "--top", "3").stdout


def test_what_cannot_be_judged_fails_with_another_code(tmp_path):
    (tmp_path / "broken.csv").write_text("a,b\n1\n")
    (tmp_path / "clean.csv").write_text(orders())
    found = judge(tmp_path, "broken.csv", "clean.csv")
    assert found.returncode == 2 and "error:" in found.stderr and "clean.csv: 0 of 200" in found.stdout
    assert judge(tmp_path, "clean.csv", ODDCELL="no-such-program").returncode == 2


def test_cells_cannot_write_commands_of_the_runner(tmp_path):
    name = "city\r\n::error::\x1b[2J"
    (tmp_path / "a,b:.csv").write_text(
        orders(spoiled=True).replace("99999.0,20.0,Oslo", '99999.0,20.0,"x\n::error::y"')
    )
    (tmp_path / "named.csv").write_text(orders(spoiled=True, name=f'"{name}"'), newline="")
    found = judge(tmp_path, "a,b:.csv", "named.csv", "--", "--top", "1", GITHUB_ACTIONS="true")
    lines = found.stdout.splitlines()
    assert len(lines) == 4 and "\x1b" not in found.stdout
    assert lines[1].startswith("::warning file=a%2Cb%3A.csv,line=42::row 41: ")
    assert not any(line.startswith("::error") for line in lines)


def test_the_action_runs_the_same_judge(tmp_path):
    """Runs the steps of action.yml as a runner does: inputs are variables, patterns are expanded."""
    (tmp_path / "tables/more").mkdir(parents=True)
    (tmp_path / "tables/clean.csv").write_text(orders())
    (tmp_path / "tables/more/spoiled.csv").write_text(orders(spoiled=True))
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "oddcell").symlink_to(PROGRAM)
    text = (ROOT / "action.yml").read_text()
    steps = [step.split("run: ", 1)[1] for step in text.split("- name: ")[1:]]
    scripts = [re.sub(r"(?m)^ {8}", "", step.removeprefix("|\n")).strip() for step in steps]
    assert len(scripts) == 2 and all("${{" not in script for script in scripts)
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    for files, code in (("tables/*.csv", 0), ("tables/**/*.csv", 1)):
        inputs = {"FILES": files, "MOST": "0", "FLAGS": "--fdr 0.01", "GITHUB_ACTION_PATH": str(ROOT), "PATH": path}
        runs = [
            subprocess.run(
                ["bash", "-e", "-c", script], cwd=tmp_path, env={**os.environ, **inputs}, capture_output=True
            )
            for script in scripts
        ]
        assert [run.returncode for run in runs] == [0, code], runs[-1]


def test_pre_commit_runs_the_same_judge(tmp_path):
    program = shutil.which("pre-commit", path=str(Path(sys.executable).parent))
    assert program, "python/requirements-test.txt has it"
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "init.defaultBranch=main"]
    hooks, tables = tmp_path / "hooks", tmp_path / "tables"
    for folder in (hooks, tables):
        folder.mkdir()
        subprocess.run([*git, "init", "--quiet"], cwd=folder, check=True)
    # The hook's repository, as far as the hook needs it.
    (hooks / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/judge-tables", hooks / "scripts")
    shutil.copy(ROOT / ".pre-commit-hooks.yaml", hooks)
    subprocess.run([*git, "add", "."], cwd=hooks, check=True)
    subprocess.run([*git, "commit", "--quiet", "--message", "hooks"], cwd=hooks, check=True)
    environment = {
        **os.environ,
        "ODDCELL": str(PROGRAM),
        "PRE_COMMIT_HOME": str(tmp_path / "home"),
        "GIT_CONFIG_NOSYSTEM": "1",
    }

    def try_hook(**files: str) -> subprocess.CompletedProcess[str]:
        for name, text in files.items():
            (tables / f"{name}.csv").write_text(text)
        subprocess.run([*git, "add", "."], cwd=tables, check=True)
        command = [program, "try-repo", str(hooks), "oddcell", "--all-files", "--verbose"]
        return subprocess.run(command, cwd=tables, env=environment, capture_output=True, text=True)

    clean = try_hook(clean=orders())
    assert clean.returncode == 0 and "clean.csv: 0 of 200 rows are odd" in clean.stdout, clean.stdout + clean.stderr
    spoiled = try_hook(spoiled=orders(spoiled=True))
    assert spoiled.returncode == 1 and "spoiled.csv: 1 of 200 rows are odd" in spoiled.stdout, spoiled.stdout
