"""Class and argument names in Python. Detectors that PyOD also has are named as in PyOD."""

CLASS_NAMES = {
    "noise": "OddCell",
    "knn": "KNN",
    "dte-np": "DTENP",
    "lof": "LOF",
    "iforest": "IForest",
    "columns": "Columns",
    "copod": "COPOD",
    "ecod": "ECOD",
    "hbos": "HBOS",
    "mcd": "MCD",
    "ae": "AutoEncoder",
    "deepsvdd": "DeepSVDD",
    "anogan": "AnoGAN",
    "scad": "SCAD",
    "neutralad": "NeuTraLAD",
    "plad": "PLAD",
    "dpad": "DPAD",
}


def argument_name(parameter: str) -> str:
    """The Python name of a detector's parameter.

    Only `transform` is renamed: scikit-learn treats everything with that attribute as a transformer.
    """
    return "transform_kind" if parameter == "transform" else parameter
