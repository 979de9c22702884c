"""The estimator classes match the library's list of detectors."""

from __future__ import annotations

import inspect
import runpy

import oddcell
from oddcell import _estimators, _oddcell
from oddcell._names import CLASS_NAMES, argument_name

from conftest import ROOT


def test_the_generated_file_is_current():
    script = runpy.run_path(str(ROOT / "scripts/python-estimators"))
    assert script["TARGET"].read_text() == script["source"](), "run scripts/python-estimators"


def test_every_detector_has_a_class_with_its_parameters_and_defaults():
    entries = oddcell.detectors()
    assert [entry["name"] for entry in entries] == list(CLASS_NAMES)
    for entry in entries:
        kind = _estimators.BY_NAME[entry["name"]]
        assert kind is getattr(oddcell, CLASS_NAMES[entry["name"]])
        defaults = {name: argument.default for name, argument in inspect.signature(kind).parameters.items()}
        for name, default in {**entry["params"], **_oddcell.default_options()}.items():
            assert defaults[argument_name(name)] == default, (kind, name)
        assert kind().get_params() == defaults


def test_presets_set_parameters_that_can_be_overridden():
    paper = oddcell.OddCell.from_preset("paper", levels=5)
    assert paper.sigma_max == 2.0 and paper.levels == 5 and paper.aggregate == "max"
    assert oddcell.NeuTraLAD.from_preset("default").transform_kind == "residual"


def test_every_exported_name_exists():
    for name in oddcell.__all__:
        assert getattr(oddcell, name) is not None
    assert set(oddcell.__all__) <= set(dir(oddcell))
