"""The JSON schema of the config file says what the program says."""

from __future__ import annotations

import json
import re
import subprocess

import jsonschema
import pytest

from conftest import ROOT

# Since Python 3.11.
tomllib = pytest.importorskip("tomllib")
PROGRAM = ROOT / "target/debug/oddcell"

TABLE = "amount,weight,city\n" + "".join(
    f"{n * 37 % 101},{n * 7 % 31}.5,{'Oslo' if n % 3 else 'Voss'}\n" for n in range(60)
)
CONFIGS = [
    ('detector = "knn"\n[params]\nn_neighbors = 3\nmethod = "mean"\n', True),
    ('detector = "knn"\n[params]\nmethod = "middle"\n', False),
    ('detector = "knn"\n[params]\nsigma_max = 1.0\n', False),
    ('[params]\nsigma_max = 1\ntrain_for = "30 steps"\n', True),
    ('[params]\nsigma_max = "large"\n', False),
    ('preset = "fast"\n[params]\ntrain_for = "30 steps"\n', True),
    ('preset = "slow"\n', False),
    ('detector = "ecod"\nseed = 3\ncategorical = ["city"]\n[encode]\nignore = ["weight"]\n', True),
    ('detector = "ecod"\nseed = -1\n', False),
    ('detector = "ecod"\n[encode]\none_hot = 1\n', False),
    ('detector = "ecod"\n[fit]\nfolds = 3\nholdout = 0.3\n[rule]\ntop = 3\n', True),
    ('detector = "ecod"\n[rule]\ntop = 3\nalpha = 0.1\n', False),
    ('detector = "ecod"\n[rule]\nodd = 3\n', False),
    ('detector = "ecod"\n[kinds]\ncity = "category"\nweight = "ignore"\n', True),
    ('detector = "ecod"\n[kinds]\ncity = "town"\n', False),
    ('detektor = "ecod"\n', False),
    ('detector = "oracle"\n', False),
]


@pytest.mark.parametrize(("config", "valid"), CONFIGS)
def test_the_schema_accepts_what_the_program_accepts(tmp_path, config, valid):
    schema = json.loads(subprocess.run([str(PROGRAM), "config-schema"], check=True, capture_output=True).stdout)
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "c.toml").write_text(config)
    command = [str(PROGRAM), "detect", "t.csv", "--config", "c.toml", "-o", "out.csv", "--quiet"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert (run.returncode == 0) == valid, run.stderr
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid(tomllib.loads(config)) == valid


def test_the_config_of_the_documents_is_valid():
    schema = json.loads(subprocess.run([str(PROGRAM), "config-schema"], check=True, capture_output=True).stdout)
    page = (ROOT / "docs/parameters.md").read_text()
    (config,) = re.findall(r"^```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    jsonschema.validate(tomllib.loads(config), schema)
