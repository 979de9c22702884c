"""What the detectors are called in Python; where PyOD has them, as there."""

CLASS_NAMES = {
    "noise": "OddCell",
    "knn": "KNN",
    "lof": "LOF",
    "iforest": "IForest",
    "copod": "COPOD",
    "ecod": "ECOD",
    "ae": "AutoEncoder",
    "deepsvdd": "DeepSVDD",
    "anogan": "AnoGAN",
    "scad": "SCAD",
    "neutralad": "NeuTraLAD",
    "plad": "PLAD",
    "dpad": "DPAD",
}


def argument_name(parameter: str) -> str:
    """What a detector's parameter is called in Python.

    scikit-learn takes whatever has an attribute `transform` for a transformer.
    """
    return "transform_kind" if parameter == "transform" else parameter
