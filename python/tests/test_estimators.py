"""The classes are made from the library's one list of detectors."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import inspect

import oddcell
from conftest import ROOT
from oddcell import _estimators, _oddcell
from oddcell._names import CLASS_NAMES, argument_name


def test_the_generated_file_is_current():
    loader = importlib.machinery.SourceFileLoader("estimators", str(ROOT / "scripts/python-estimators"))
    script = importlib.util.module_from_spec(importlib.util.spec_from_loader("estimators", loader))
    loader.exec_module(script)
    assert script.TARGET.read_text() == script.source(), "scripts/python-estimators writes it"


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


def test_presets_are_parameters_and_may_be_changed():
    paper = oddcell.OddCell.from_preset("paper", levels=5)
    assert paper.sigma_max == 2.0 and paper.levels == 5 and paper.aggregate == "max"
    assert oddcell.NeuTraLAD.from_preset("default").transform_kind == "residual"


def test_all_that_is_promised_is_there():
    for name in oddcell.__all__:
        assert getattr(oddcell, name) is not None
    assert set(oddcell.__all__) <= set(dir(oddcell))
