"""The estimators, one for every detector on the library's list. Written by scripts/python-estimators; do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from oddcell._base import Detector
from oddcell._progress import Progress

__all__ = [
    "AnoGAN",
    "AutoEncoder",
    "COPOD",
    "DPAD",
    "DeepSVDD",
    "ECOD",
    "IForest",
    "KNN",
    "LOF",
    "NeuTraLAD",
    "OddCell",
    "PLAD",
    "SCAD",
]


class OddCell(Detector):
    """Noise evaluation: a small net says how much noise sits in each cell.

    The detector `noise`; see docs/detectors/noise.md.
    Other presets, by `from_preset`: `fast`, `best`, `paper`.

    Parameters
    ----------
    aggregate : str, default "l2"
        How the net's cells of a row become its score (`max`, `mean`, `min`, `median`, `l2`, `top3` (any number), or a
        mix like `0.7*max + 0.3*mean`).
    batch_size : int, default 128
        Rows per step, before their noised copies (1 to 16384).
    beta : float, default 1.0
        Scale of gamma noise (0.001 to 1000).
    difference : float, default 0.5
        Share of the noised rows that gets difference noise instead (0 to 1).
    form : {"corrected", "printed"}, default "corrected"
        Gamma and Poisson noise with the standard deviation promised, or as the paper prints them (`corrected`,
        `printed`).
    hidden : int, default 128
        Width of the hidden layers; None: 64 for up to 64 features, 256 above (1 to 4096, or None).
    keep_rows : int, default 10000
        Training rows kept to compare with, drawn at random if there are more; 0: the net decides alone (0 to 1000000).
    learning_rate : float, default 0.001
        Learning rate at the start (finite, above 0).
    levels : int, default 3
        Noise levels within a row (1 to 10000).
    loss : {"sum", "mean"}, default "sum"
        Squared errors of a batch: added up, or divided by the number of cells (`sum`, `mean`).
    n_neighbors : Any, default None
        Which of the kept rows, by distance, a row is measured by; None: the nearest one, and the tenth in `detect`,
        where odd rows may come in groups (1 to 1000, or None).
    net : {"mlp", "resmlp"}, default "mlp"
        Which net: four dense layers, or five residual blocks (`mlp`, `resmlp`).
    noise : {"gaussian", "laplace", "uniform", "rayleigh", "gamma", "poisson", "salt-pepper", "bernoulli"}, default "gaussian"
        Distribution of the noise (`gaussian`, `laplace`, `uniform`, `rayleigh`, `gamma`, `poisson`, `salt-pepper`,
        `bernoulli`).
    output : {"linear", "relu"}, default "linear"
        The last layer's activation (`linear`, `relu`).
    ratios : Sequence[Any], default (0.5, 0.8, 1.0)
        One noised copy of every row for each; the share of its cells that gets noise (1 to 64 numbers above 0, at most
        1).
    schedule : {"step", "cosine", "constant"}, default "cosine"
        How the rate changes: × 0.1 after a fifth of the training, half a cosine down to 0, not at all (`step`,
        `cosine`, `constant`).
    sigma_max : float, default 1.0
        Highest noise level, in standard deviations of a column (above 0, at most 100).
    train_for : str, default "2000 steps"
        How long to train (N `steps` or N `epochs`).
    trust : float, default 1.0
        Share of the training rows, the least odd ones, that the net learns from anew after it has learned from all; 1:
        it learns once (above 0 and at most 1).
    weight_decay : float, default 0.0
        L2 decay, added to the gradient (finite, at least 0).
    contamination : float or {"auto"}, default 0.1
        What `predict` calls anomalous. A share, above 0 and at most 0.5: that share of the training rows. "auto": rows
        that score higher than all but one in a hundred of the calibration rows, which the detector did not learn from.
    random_state : Any, default 0
        The seed: same rows, parameters and seed, same bits. None or a RandomState instance draws one, as scikit-learn
        has it.
    categorical : Sequence[str], default ()
        Columns to read as names, whatever they hold (postcodes).
    progress : Progress, default None
        None, "tqdm", or a function of done, total and loss that is called now and then while it learns.
    fit_cross_fit_below : int, default 1000
        With fewer rows, `fit` cross-fits instead of holding rows out (0 or more).
    fit_folds : int, default 5
        Folds where rows are cross-fitted: in `detect`, and in `fit` with few rows (2 to 100).
    fit_holdout : float, default 0.2
        Share of the rows held out for p-values (above 0, below 1).
    fit_max_holdout_rows : int, default 50000
        The most rows held out (at least 1).
    ignore : Sequence[str], default ()
        Columns that are no features (names of columns).
    keep_identifiers : bool, default False
        Learn from columns that look like row identifiers (False, True).
    max_levels : int, default 32
        The most levels of a category column that get a feature of their own; the others are pooled (1 to 4096).
    min_level_rows : int, default 5
        A level gets a feature of its own if so many rows have it, and one row in a thousand (at least 1).

    Attributes
    ----------
    offset_ : float
        Rows whose `score_samples` is below it are called anomalous.
    n_features_in_ : int
        Columns of the training table.
    feature_names_in_ : ndarray of str
        Their names, if they had any.
    model_ : Model
        The library's model.
    """

    _detector = "noise"
    _detector_params = (
        "aggregate",
        "batch_size",
        "beta",
        "difference",
        "form",
        "hidden",
        "keep_rows",
        "learning_rate",
        "levels",
        "loss",
        "n_neighbors",
        "net",
        "noise",
        "output",
        "ratios",
        "schedule",
        "sigma_max",
        "train_for",
        "trust",
        "weight_decay",
    )
    _options = (
        "fit_cross_fit_below",
        "fit_folds",
        "fit_holdout",
        "fit_max_holdout_rows",
        "ignore",
        "keep_identifiers",
        "max_levels",
        "min_level_rows",
    )

    def __init__(
        self,
        *,
        aggregate: str = "l2",
        batch_size: int = 128,
        beta: float = 1.0,
        difference: float = 0.5,
        form: Literal["corrected", "printed"] = "corrected",
        hidden: int = 128,
        keep_rows: int = 10000,
        learning_rate: float = 0.001,
        levels: int = 3,
        loss: Literal["sum", "mean"] = "sum",
        n_neighbors: Any = None,
        net: Literal["mlp", "resmlp"] = "mlp",
        noise: Literal[
            "gaussian", "laplace", "uniform", "rayleigh", "gamma", "poisson", "salt-pepper", "bernoulli"
        ] = "gaussian",
        output: Literal["linear", "relu"] = "linear",
        ratios: Sequence[Any] = (0.5, 0.8, 1.0),
        schedule: Literal["step", "cosine", "constant"] = "cosine",
        sigma_max: float = 1.0,
        train_for: str = "2000 steps",
        trust: float = 1.0,
        weight_decay: float = 0.0,
        contamination: float | Literal["auto"] = 0.1,
        random_state: Any = 0,
        categorical: Sequence[str] = (),
        progress: Progress = None,
        fit_cross_fit_below: int = 1000,
        fit_folds: int = 5,
        fit_holdout: float = 0.2,
        fit_max_holdout_rows: int = 50000,
        ignore: Sequence[str] = (),
        keep_identifiers: bool = False,
        max_levels: int = 32,
        min_level_rows: int = 5,
    ) -> None:
        self.aggregate = aggregate
        self.batch_size = batch_size
        self.beta = beta
        self.difference = difference
        self.form = form
        self.hidden = hidden
        self.keep_rows = keep_rows
        self.learning_rate = learning_rate
        self.levels = levels
        self.loss = loss
        self.n_neighbors = n_neighbors
        self.net = net
        self.noise = noise
        self.output = output
        self.ratios = ratios
        self.schedule = schedule
        self.sigma_max = sigma_max
        self.train_for = train_for
        self.trust = trust
        self.weight_decay = weight_decay
        self.contamination = contamination
        self.random_state = random_state
        self.categorical = categorical
        self.progress = progress
        self.fit_cross_fit_below = fit_cross_fit_below
        self.fit_folds = fit_folds
        self.fit_holdout = fit_holdout
        self.fit_max_holdout_rows = fit_max_holdout_rows
        self.ignore = ignore
        self.keep_identifiers = keep_identifiers
        self.max_levels = max_levels
        self.min_level_rows = min_level_rows


class KNN(Detector):
    """Distance to the k-th nearest training row.

    The detector `knn`; see docs/detectors/knn.md.

    Parameters
    ----------
    method : {"largest", "mean", "median"}, default "largest"
        What is made of their distances (`largest`, `mean`, `median`).
    n_neighbors : int, default 5
        Neighbors looked at (at least 1, fewer than there are training rows).
    contamination : float or {"auto"}, default 0.1
        What `predict` calls anomalous. A share, above 0 and at most 0.5: that share of the training rows. "auto": rows
        that score higher than all but one in a hundred of the calibration rows, which the detector did not learn from.
    random_state : Any, default 0
        The seed: same rows, parameters and seed, same bits. None or a RandomState instance draws one, as scikit-learn
        has it.
    categorical : Sequence[str], default ()
        Columns to read as names, whatever they hold (postcodes).
    progress : Progress, default None
        None, "tqdm", or a function of done, total and loss that is called now and then while it learns.
    fit_cross_fit_below : int, default 1000
        With fewer rows, `fit` cross-fits instead of holding rows out (0 or more).
    fit_folds : int, default 5
        Folds where rows are cross-fitted: in `detect`, and in `fit` with few rows (2 to 100).
    fit_holdout : float, default 0.2
        Share of the rows held out for p-values (above 0, below 1).
    fit_max_holdout_rows : int, default 50000
        The most rows held out (at least 1).
    ignore : Sequence[str], default ()
        Columns that are no features (names of columns).
    keep_identifiers : bool, default False
        Learn from columns that look like row identifiers (False, True).
    max_levels : int, default 32
        The most levels of a category column that get a feature of their own; the others are pooled (1 to 4096).
    min_level_rows : int, default 5
        A level gets a feature of its own if so many rows have it, and one row in a thousand (at least 1).

    Attributes
    ----------
    offset_ : float
        Rows whose `score_samples` is below it are called anomalous.
    n_features_in_ : int
        Columns of the training table.
    feature_names_in_ : ndarray of str
        Their names, if they had any.
    model_ : Model
        The library's model.
    """

    _detector = "knn"
    _detector_params = (
        "method",
        "n_neighbors",
    )
    _options = (
        "fit_cross_fit_below",
        "fit_folds",
        "fit_holdout",
        "fit_max_holdout_rows",
        "ignore",
        "keep_identifiers",
        "max_levels",
        "min_level_rows",
    )

    def __init__(
        self,
        *,
        method: Literal["largest", "mean", "median"] = "largest",
        n_neighbors: int = 5,
        contamination: float | Literal["auto"] = 0.1,
        random_state: Any = 0,
        categorical: Sequence[str] = (),
        progress: Progress = None,
        fit_cross_fit_below: int = 1000,
        fit_folds: int = 5,
        fit_holdout: float = 0.2,
        fit_max_holdout_rows: int = 50000,
        ignore: Sequence[str] = (),
        keep_identifiers: bool = False,
        max_levels: int = 32,
        min_level_rows: int = 5,
    ) -> None:
        self.method = method
        self.n_neighbors = n_neighbors
        self.contamination = contamination
        self.random_state = random_state
        self.categorical = categorical
        self.progress = progress
        self.fit_cross_fit_below = fit_cross_fit_below
        self.fit_folds = fit_folds
        self.fit_holdout = fit_holdout
        self.fit_max_holdout_rows = fit_max_holdout_rows
        self.ignore = ignore
        self.keep_identifiers = keep_identifiers
        self.max_levels = max_levels
        self.min_level_rows = min_level_rows


class LOF(Detector):
    """Local outlier factor: lower density around a row than around its neighbors.

    The detector `lof`; see docs/detectors/lof.md.

    Parameters
    ----------
    n_neighbors : int, default 20
        Neighbors looked at (at least 1; with fewer other rows, all of them).
    contamination : float or {"auto"}, default 0.1
        What `predict` calls anomalous. A share, above 0 and at most 0.5: that share of the training rows. "auto": rows
        that score higher than all but one in a hundred of the calibration rows, which the detector did not learn from.
    random_state : Any, default 0
        The seed: same rows, parameters and seed, same bits. None or a RandomState instance draws one, as scikit-learn
        has it.
    categorical : Sequence[str], default ()
        Columns to read as names, whatever they hold (postcodes).
    progress : Progress, default None
        None, "tqdm", or a function of done, total and loss that is called now and then while it learns.
    fit_cross_fit_below : int, default 1000
        With fewer rows, `fit` cross-fits instead of holding rows out (0 or more).
    fit_folds : int, default 5
        Folds where rows are cross-fitted: in `detect`, and in `fit` with few rows (2 to 100).
    fit_holdout : float, default 0.2
        Share of the rows held out for p-values (above 0, below 1).
    fit_max_holdout_rows : int, default 50000
        The most rows held out (at least 1).
    ignore : Sequence[str], default ()
        Columns that are no features (names of columns).
    keep_identifiers : bool, default False
        Learn from columns that look like row identifiers (False, True).
    max_levels : int, default 32
        The most levels of a category column that get a feature of their own; the others are pooled (1 to 4096).
    min_level_rows : int, default 5
        A level gets a feature of its own if so many rows have it, and one row in a thousand (at least 1).

    Attributes
    ----------
    offset_ : float
        Rows whose `score_samples` is below it are called anomalous.
    n_features_in_ : int
        Columns of the training table.
    feature_names_in_ : ndarray of str
        Their names, if they had any.
    model_ : Model
        The library's model.
    """

    _detector = "lof"
    _detector_params = (
        "n_neighbors",
    )
    _options = (
        "fit_cross_fit_below",
        "fit_folds",
        "fit_holdout",
        "fit_max_holdout_rows",
        "ignore",
        "keep_identifiers",
        "max_levels",
        "min_level_rows",
    )

    def __init__(
        self,
        *,
        n_neighbors: int = 20,
        contamination: float | Literal["auto"] = 0.1,
        random_state: Any = 0,
        categorical: Sequence[str] = (),
        progress: Progress = None,
        fit_cross_fit_below: int = 1000,
        fit_folds: int = 5,
        fit_holdout: float = 0.2,
        fit_max_holdout_rows: int = 50000,
        ignore: Sequence[str] = (),
        keep_identifiers: bool = False,
        max_levels: int = 32,
        min_level_rows: int = 5,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.contamination = contamination
        self.random_state = random_state
        self.categorical = categorical
        self.progress = progress
        self.fit_cross_fit_below = fit_cross_fit_below
        self.fit_folds = fit_folds
        self.fit_holdout = fit_holdout
        self.fit_max_holdout_rows = fit_max_holdout_rows
        self.ignore = ignore
        self.keep_identifiers = keep_identifiers
        self.max_levels = max_levels
        self.min_level_rows = min_level_rows


class IForest(Detector):
    """Isolation forest: fewer random cuts isolate an odd row.

    The detector `iforest`; see docs/detectors/iforest.md.

    Parameters
    ----------
    max_samples : int, default 256
        Rows each tree is grown on (1 to 16,777,216; with fewer training rows, all of them).
    n_trees : int, default 100
        Trees (1 to 100,000).
    contamination : float or {"auto"}, default 0.1
        What `predict` calls anomalous. A share, above 0 and at most 0.5: that share of the training rows. "auto": rows
        that score higher than all but one in a hundred of the calibration rows, which the detector did not learn from.
    random_state : Any, default 0
        The seed: same rows, parameters and seed, same bits. None or a RandomState instance draws one, as scikit-learn
        has it.
    categorical : Sequence[str], default ()
        Columns to read as names, whatever they hold (postcodes).
    progress : Progress, default None
        None, "tqdm", or a function of done, total and loss that is called now and then while it learns.
    fit_cross_fit_below : int, default 1000
        With fewer rows, `fit` cross-fits instead of holding rows out (0 or more).
    fit_folds : int, default 5
        Folds where rows are cross-fitted: in `detect`, and in `fit` with few rows (2 to 100).
    fit_holdout : float, default 0.2
        Share of the rows held out for p-values (above 0, below 1).
    fit_max_holdout_rows : int, default 50000
        The most rows held out (at least 1).
    ignore : Sequence[str], default ()
        Columns that are no features (names of columns).
    keep_identifiers : bool, default False
        Learn from columns that look like row identifiers (False, True).
    max_levels : int, default 32
        The most levels of a category column that get a feature of their own; the others are pooled (1 to 4096).
    min_level_rows : int, default 5
        A level gets a feature of its own if so many rows have it, and one row in a thousand (at least 1).

    Attributes
    ----------
    offset_ : float
        Rows whose `score_samples` is below it are called anomalous.
    n_features_in_ : int
        Columns of the training table.
    feature_names_in_ : ndarray of str
        Their names, if they had any.
    model_ : Model
        The library's model.
    """

    _detector = "iforest"
    _detector_params = (
        "max_samples",
        "n_trees",
    )
    _options = (
        "fit_cross_fit_below",
        "fit_folds",
        "fit_holdout",
        "fit_max_holdout_rows",
        "ignore",
        "keep_identifiers",
        "max_levels",
        "min_level_rows",
    )

    def __init__(
        self,
        *,
        max_samples: int = 256,
        n_trees: int = 100,
        contamination: float | Literal["auto"] = 0.1,
        random_state: Any = 0,
        categorical: Sequence[str] = (),
        progress: Progress = None,
        fit_cross_fit_below: int = 1000,
        fit_folds: int = 5,
        fit_holdout: float = 0.2,
        fit_max_holdout_rows: int = 50000,
        ignore: Sequence[str] = (),
        keep_identifiers: bool = False,
        max_levels: int = 32,
        min_level_rows: int = 5,
    ) -> None:
        self.max_samples = max_samples
        self.n_trees = n_trees
        self.contamination = contamination
        self.random_state = random_state
        self.categorical = categorical
        self.progress = progress
        self.fit_cross_fit_below = fit_cross_fit_below
        self.fit_folds = fit_folds
        self.fit_holdout = fit_holdout
        self.fit_max_holdout_rows = fit_max_holdout_rows
        self.ignore = ignore
        self.keep_identifiers = keep_identifiers
        self.max_levels = max_levels
        self.min_level_rows = min_level_rows


class COPOD(Detector):
    """Copula-based: how far a row sits in the tails of its columns.

    The detector `copod`; see docs/detectors/copod.md.
    Other presets, by `from_preset`: `paper`.

    Parameters
    ----------
    joint : bool, default False
        Rank the rows of one call among each other, too, as PyOD does; a score then depends on the rows scored with it
        (False, True).
    contamination : float or {"auto"}, default 0.1
        What `predict` calls anomalous. A share, above 0 and at most 0.5: that share of the training rows. "auto": rows
        that score higher than all but one in a hundred of the calibration rows, which the detector did not learn from.
    random_state : Any, default 0
        The seed: same rows, parameters and seed, same bits. None or a RandomState instance draws one, as scikit-learn
        has it.
    categorical : Sequence[str], default ()
        Columns to read as names, whatever they hold (postcodes).
    progress : Progress, default None
        None, "tqdm", or a function of done, total and loss that is called now and then while it learns.
    fit_cross_fit_below : int, default 1000
        With fewer rows, `fit` cross-fits instead of holding rows out (0 or more).
    fit_folds : int, default 5
        Folds where rows are cross-fitted: in `detect`, and in `fit` with few rows (2 to 100).
    fit_holdout : float, default 0.2
        Share of the rows held out for p-values (above 0, below 1).
    fit_max_holdout_rows : int, default 50000
        The most rows held out (at least 1).
    ignore : Sequence[str], default ()
        Columns that are no features (names of columns).
    keep_identifiers : bool, default False
        Learn from columns that look like row identifiers (False, True).
    max_levels : int, default 32
        The most levels of a category column that get a feature of their own; the others are pooled (1 to 4096).
    min_level_rows : int, default 5
        A level gets a feature of its own if so many rows have it, and one row in a thousand (at least 1).

    Attributes
    ----------
    offset_ : float
        Rows whose `score_samples` is below it are called anomalous.
    n_features_in_ : int
        Columns of the training table.
    feature_names_in_ : ndarray of str
        Their names, if they had any.
    model_ : Model
        The library's model.
    """

    _detector = "copod"
    _detector_params = (
        "joint",
    )
    _options = (
        "fit_cross_fit_below",
        "fit_folds",
        "fit_holdout",
        "fit_max_holdout_rows",
        "ignore",
        "keep_identifiers",
        "max_levels",
        "min_level_rows",
    )

    def __init__(
        self,
        *,
        joint: bool = False,
        contamination: float | Literal["auto"] = 0.1,
        random_state: Any = 0,
        categorical: Sequence[str] = (),
        progress: Progress = None,
        fit_cross_fit_below: int = 1000,
        fit_folds: int = 5,
        fit_holdout: float = 0.2,
        fit_max_holdout_rows: int = 50000,
        ignore: Sequence[str] = (),
        keep_identifiers: bool = False,
        max_levels: int = 32,
        min_level_rows: int = 5,
    ) -> None:
        self.joint = joint
        self.contamination = contamination
        self.random_state = random_state
        self.categorical = categorical
        self.progress = progress
        self.fit_cross_fit_below = fit_cross_fit_below
        self.fit_folds = fit_folds
        self.fit_holdout = fit_holdout
        self.fit_max_holdout_rows = fit_max_holdout_rows
        self.ignore = ignore
        self.keep_identifiers = keep_identifiers
        self.max_levels = max_levels
        self.min_level_rows = min_level_rows


class ECOD(Detector):
    """Empirical tails: how rare the value of each column is.

    The detector `ecod`; see docs/detectors/ecod.md.
    Other presets, by `from_preset`: `paper`.

    Parameters
    ----------
    joint : bool, default False
        As for `copod` (False, True).
    contamination : float or {"auto"}, default 0.1
        What `predict` calls anomalous. A share, above 0 and at most 0.5: that share of the training rows. "auto": rows
        that score higher than all but one in a hundred of the calibration rows, which the detector did not learn from.
    random_state : Any, default 0
        The seed: same rows, parameters and seed, same bits. None or a RandomState instance draws one, as scikit-learn
        has it.
    categorical : Sequence[str], default ()
        Columns to read as names, whatever they hold (postcodes).
    progress : Progress, default None
        None, "tqdm", or a function of done, total and loss that is called now and then while it learns.
    fit_cross_fit_below : int, default 1000
        With fewer rows, `fit` cross-fits instead of holding rows out (0 or more).
    fit_folds : int, default 5
        Folds where rows are cross-fitted: in `detect`, and in `fit` with few rows (2 to 100).
    fit_holdout : float, default 0.2
        Share of the rows held out for p-values (above 0, below 1).
    fit_max_holdout_rows : int, default 50000
        The most rows held out (at least 1).
    ignore : Sequence[str], default ()
        Columns that are no features (names of columns).
    keep_identifiers : bool, default False
        Learn from columns that look like row identifiers (False, True).
    max_levels : int, default 32
        The most levels of a category column that get a feature of their own; the others are pooled (1 to 4096).
    min_level_rows : int, default 5
        A level gets a feature of its own if so many rows have it, and one row in a thousand (at least 1).

    Attributes
    ----------
    offset_ : float
        Rows whose `score_samples` is below it are called anomalous.
    n_features_in_ : int
        Columns of the training table.
    feature_names_in_ : ndarray of str
        Their names, if they had any.
    model_ : Model
        The library's model.
    """

    _detector = "ecod"
    _detector_params = (
        "joint",
    )
    _options = (
        "fit_cross_fit_below",
        "fit_folds",
        "fit_holdout",
        "fit_max_holdout_rows",
        "ignore",
        "keep_identifiers",
        "max_levels",
        "min_level_rows",
    )

    def __init__(
        self,
        *,
        joint: bool = False,
        contamination: float | Literal["auto"] = 0.1,
        random_state: Any = 0,
        categorical: Sequence[str] = (),
        progress: Progress = None,
        fit_cross_fit_below: int = 1000,
        fit_folds: int = 5,
        fit_holdout: float = 0.2,
        fit_max_holdout_rows: int = 50000,
        ignore: Sequence[str] = (),
        keep_identifiers: bool = False,
        max_levels: int = 32,
        min_level_rows: int = 5,
    ) -> None:
        self.joint = joint
        self.contamination = contamination
        self.random_state = random_state
        self.categorical = categorical
        self.progress = progress
        self.fit_cross_fit_below = fit_cross_fit_below
        self.fit_folds = fit_folds
        self.fit_holdout = fit_holdout
        self.fit_max_holdout_rows = fit_max_holdout_rows
        self.ignore = ignore
        self.keep_identifiers = keep_identifiers
        self.max_levels = max_levels
        self.min_level_rows = min_level_rows


class AutoEncoder(Detector):
    """Auto-encoder: how badly a net restores the row.

    The detector `ae`; see docs/detectors/ae.md.
    Other presets, by `from_preset`: `torch`.

    Parameters
    ----------
    activity_penalty : float, default 0.1
        Weight of the squared activations in the loss (finite, at least 0).
    batch_size : int, default 32
        Rows per step (1 to 16384).
    dropout : float, default 0.2
        Share of the hidden units dropped in a step (at least 0, below 1).
    generation : {"keras", "torch"}, default "keras"
        Whose architecture, batches and optimiser (`keras`, `torch`).
    hidden : Sequence[Any], default (64, 32, 32, 64)
        Hidden layers: all of them with `keras`; with `torch` down to the narrowest, and the way up is the mirror image
        (1 to 16 widths, each 1 to 4096).
    holdout : float, default 0.1
        Share of the rows that is never trained on (at least 0, below 1).
    learning_rate : float, default 0.001
        Learning rate (finite, above 0).
    train_for : str, default "100 epochs"
        How long to train (N `epochs` or N `steps`).
    weight_decay : float, default 0.0
        L2 decay, added to the gradient (finite, at least 0).
    contamination : float or {"auto"}, default 0.1
        What `predict` calls anomalous. A share, above 0 and at most 0.5: that share of the training rows. "auto": rows
        that score higher than all but one in a hundred of the calibration rows, which the detector did not learn from.
    random_state : Any, default 0
        The seed: same rows, parameters and seed, same bits. None or a RandomState instance draws one, as scikit-learn
        has it.
    categorical : Sequence[str], default ()
        Columns to read as names, whatever they hold (postcodes).
    progress : Progress, default None
        None, "tqdm", or a function of done, total and loss that is called now and then while it learns.
    fit_cross_fit_below : int, default 1000
        With fewer rows, `fit` cross-fits instead of holding rows out (0 or more).
    fit_folds : int, default 5
        Folds where rows are cross-fitted: in `detect`, and in `fit` with few rows (2 to 100).
    fit_holdout : float, default 0.2
        Share of the rows held out for p-values (above 0, below 1).
    fit_max_holdout_rows : int, default 50000
        The most rows held out (at least 1).
    ignore : Sequence[str], default ()
        Columns that are no features (names of columns).
    keep_identifiers : bool, default False
        Learn from columns that look like row identifiers (False, True).
    max_levels : int, default 32
        The most levels of a category column that get a feature of their own; the others are pooled (1 to 4096).
    min_level_rows : int, default 5
        A level gets a feature of its own if so many rows have it, and one row in a thousand (at least 1).

    Attributes
    ----------
    offset_ : float
        Rows whose `score_samples` is below it are called anomalous.
    n_features_in_ : int
        Columns of the training table.
    feature_names_in_ : ndarray of str
        Their names, if they had any.
    model_ : Model
        The library's model.
    """

    _detector = "ae"
    _detector_params = (
        "activity_penalty",
        "batch_size",
        "dropout",
        "generation",
        "hidden",
        "holdout",
        "learning_rate",
        "train_for",
        "weight_decay",
    )
    _options = (
        "fit_cross_fit_below",
        "fit_folds",
        "fit_holdout",
        "fit_max_holdout_rows",
        "ignore",
        "keep_identifiers",
        "max_levels",
        "min_level_rows",
    )

    def __init__(
        self,
        *,
        activity_penalty: float = 0.1,
        batch_size: int = 32,
        dropout: float = 0.2,
        generation: Literal["keras", "torch"] = "keras",
        hidden: Sequence[Any] = (64, 32, 32, 64),
        holdout: float = 0.1,
        learning_rate: float = 0.001,
        train_for: str = "100 epochs",
        weight_decay: float = 0.0,
        contamination: float | Literal["auto"] = 0.1,
        random_state: Any = 0,
        categorical: Sequence[str] = (),
        progress: Progress = None,
        fit_cross_fit_below: int = 1000,
        fit_folds: int = 5,
        fit_holdout: float = 0.2,
        fit_max_holdout_rows: int = 50000,
        ignore: Sequence[str] = (),
        keep_identifiers: bool = False,
        max_levels: int = 32,
        min_level_rows: int = 5,
    ) -> None:
        self.activity_penalty = activity_penalty
        self.batch_size = batch_size
        self.dropout = dropout
        self.generation = generation
        self.hidden = hidden
        self.holdout = holdout
        self.learning_rate = learning_rate
        self.train_for = train_for
        self.weight_decay = weight_decay
        self.contamination = contamination
        self.random_state = random_state
        self.categorical = categorical
        self.progress = progress
        self.fit_cross_fit_below = fit_cross_fit_below
        self.fit_folds = fit_folds
        self.fit_holdout = fit_holdout
        self.fit_max_holdout_rows = fit_max_holdout_rows
        self.ignore = ignore
        self.keep_identifiers = keep_identifiers
        self.max_levels = max_levels
        self.min_level_rows = min_level_rows


class DeepSVDD(Detector):
    """Deep SVDD: how far from one point a net maps the row.

    The detector `deepsvdd`; see docs/detectors/deepsvdd.md.
    Other presets, by `from_preset`: `torch`.

    Parameters
    ----------
    activity_penalty : float, default 0.1
        Weight of the squared activations in the loss (finite, at least 0).
    batch_size : int, default 32
        Rows per step (1 to 16384).
    generation : {"keras", "torch"}, default "keras"
        Whose centre, loss and optimiser (`keras`, `torch`).
    hidden : Sequence[Any], default (64, 32)
        The layers; the last is the output (1 to 16 widths, each 1 to 4096).
    holdout : float, default 0.1
        Share of the rows that is never trained on (at least 0, below 1).
    learning_rate : float, default 0.001
        Learning rate (finite, above 0).
    train_for : str, default "100 epochs"
        How long to train (N `epochs` or N `steps`).
    weight_decay : float, default 0.0
        L2 decay, added to the gradient (finite, at least 0).
    contamination : float or {"auto"}, default 0.1
        What `predict` calls anomalous. A share, above 0 and at most 0.5: that share of the training rows. "auto": rows
        that score higher than all but one in a hundred of the calibration rows, which the detector did not learn from.
    random_state : Any, default 0
        The seed: same rows, parameters and seed, same bits. None or a RandomState instance draws one, as scikit-learn
        has it.
    categorical : Sequence[str], default ()
        Columns to read as names, whatever they hold (postcodes).
    progress : Progress, default None
        None, "tqdm", or a function of done, total and loss that is called now and then while it learns.
    fit_cross_fit_below : int, default 1000
        With fewer rows, `fit` cross-fits instead of holding rows out (0 or more).
    fit_folds : int, default 5
        Folds where rows are cross-fitted: in `detect`, and in `fit` with few rows (2 to 100).
    fit_holdout : float, default 0.2
        Share of the rows held out for p-values (above 0, below 1).
    fit_max_holdout_rows : int, default 50000
        The most rows held out (at least 1).
    ignore : Sequence[str], default ()
        Columns that are no features (names of columns).
    keep_identifiers : bool, default False
        Learn from columns that look like row identifiers (False, True).
    max_levels : int, default 32
        The most levels of a category column that get a feature of their own; the others are pooled (1 to 4096).
    min_level_rows : int, default 5
        A level gets a feature of its own if so many rows have it, and one row in a thousand (at least 1).

    Attributes
    ----------
    offset_ : float
        Rows whose `score_samples` is below it are called anomalous.
    n_features_in_ : int
        Columns of the training table.
    feature_names_in_ : ndarray of str
        Their names, if they had any.
    model_ : Model
        The library's model.
    """

    _detector = "deepsvdd"
    _detector_params = (
        "activity_penalty",
        "batch_size",
        "generation",
        "hidden",
        "holdout",
        "learning_rate",
        "train_for",
        "weight_decay",
    )
    _options = (
        "fit_cross_fit_below",
        "fit_folds",
        "fit_holdout",
        "fit_max_holdout_rows",
        "ignore",
        "keep_identifiers",
        "max_levels",
        "min_level_rows",
    )

    def __init__(
        self,
        *,
        activity_penalty: float = 0.1,
        batch_size: int = 32,
        generation: Literal["keras", "torch"] = "keras",
        hidden: Sequence[Any] = (64, 32),
        holdout: float = 0.1,
        learning_rate: float = 0.001,
        train_for: str = "100 epochs",
        weight_decay: float = 0.0,
        contamination: float | Literal["auto"] = 0.1,
        random_state: Any = 0,
        categorical: Sequence[str] = (),
        progress: Progress = None,
        fit_cross_fit_below: int = 1000,
        fit_folds: int = 5,
        fit_holdout: float = 0.2,
        fit_max_holdout_rows: int = 50000,
        ignore: Sequence[str] = (),
        keep_identifiers: bool = False,
        max_levels: int = 32,
        min_level_rows: int = 5,
    ) -> None:
        self.activity_penalty = activity_penalty
        self.batch_size = batch_size
        self.generation = generation
        self.hidden = hidden
        self.holdout = holdout
        self.learning_rate = learning_rate
        self.train_for = train_for
        self.weight_decay = weight_decay
        self.contamination = contamination
        self.random_state = random_state
        self.categorical = categorical
        self.progress = progress
        self.fit_cross_fit_below = fit_cross_fit_below
        self.fit_folds = fit_folds
        self.fit_holdout = fit_holdout
        self.fit_max_holdout_rows = fit_max_holdout_rows
        self.ignore = ignore
        self.keep_identifiers = keep_identifiers
        self.max_levels = max_levels
        self.min_level_rows = min_level_rows


class AnoGAN(Detector):
    """AnoGAN: how well a generator of normal rows can imitate the row.

    The detector `anogan`; see docs/detectors/anogan.md.

    Parameters
    ----------
    batch_size : int, default 32
        Rows per step (1 to 16384).
    dropout : float, default 0.2
        Share of the units dropped in a step (at least 0, below 1).
    learning_rate : float, default 0.001
        Learning rate (finite, above 0).
    search_rate : float, default 0.01
        Learning rate of the search (finite, above 0).
    search_steps : int, default 20
        Attempts to imitate a row that is scored (1 to 10000).
    train_for : str, default "500 steps"
        How long to train (N `steps`; an epoch counts as one step).
    contamination : float or {"auto"}, default 0.1
        What `predict` calls anomalous. A share, above 0 and at most 0.5: that share of the training rows. "auto": rows
        that score higher than all but one in a hundred of the calibration rows, which the detector did not learn from.
    random_state : Any, default 0
        The seed: same rows, parameters and seed, same bits. None or a RandomState instance draws one, as scikit-learn
        has it.
    categorical : Sequence[str], default ()
        Columns to read as names, whatever they hold (postcodes).
    progress : Progress, default None
        None, "tqdm", or a function of done, total and loss that is called now and then while it learns.
    fit_cross_fit_below : int, default 1000
        With fewer rows, `fit` cross-fits instead of holding rows out (0 or more).
    fit_folds : int, default 5
        Folds where rows are cross-fitted: in `detect`, and in `fit` with few rows (2 to 100).
    fit_holdout : float, default 0.2
        Share of the rows held out for p-values (above 0, below 1).
    fit_max_holdout_rows : int, default 50000
        The most rows held out (at least 1).
    ignore : Sequence[str], default ()
        Columns that are no features (names of columns).
    keep_identifiers : bool, default False
        Learn from columns that look like row identifiers (False, True).
    max_levels : int, default 32
        The most levels of a category column that get a feature of their own; the others are pooled (1 to 4096).
    min_level_rows : int, default 5
        A level gets a feature of its own if so many rows have it, and one row in a thousand (at least 1).

    Attributes
    ----------
    offset_ : float
        Rows whose `score_samples` is below it are called anomalous.
    n_features_in_ : int
        Columns of the training table.
    feature_names_in_ : ndarray of str
        Their names, if they had any.
    model_ : Model
        The library's model.
    """

    _detector = "anogan"
    _detector_params = (
        "batch_size",
        "dropout",
        "learning_rate",
        "search_rate",
        "search_steps",
        "train_for",
    )
    _options = (
        "fit_cross_fit_below",
        "fit_folds",
        "fit_holdout",
        "fit_max_holdout_rows",
        "ignore",
        "keep_identifiers",
        "max_levels",
        "min_level_rows",
    )

    def __init__(
        self,
        *,
        batch_size: int = 32,
        dropout: float = 0.2,
        learning_rate: float = 0.001,
        search_rate: float = 0.01,
        search_steps: int = 20,
        train_for: str = "500 steps",
        contamination: float | Literal["auto"] = 0.1,
        random_state: Any = 0,
        categorical: Sequence[str] = (),
        progress: Progress = None,
        fit_cross_fit_below: int = 1000,
        fit_folds: int = 5,
        fit_holdout: float = 0.2,
        fit_max_holdout_rows: int = 50000,
        ignore: Sequence[str] = (),
        keep_identifiers: bool = False,
        max_levels: int = 32,
        min_level_rows: int = 5,
    ) -> None:
        self.batch_size = batch_size
        self.dropout = dropout
        self.learning_rate = learning_rate
        self.search_rate = search_rate
        self.search_steps = search_steps
        self.train_for = train_for
        self.contamination = contamination
        self.random_state = random_state
        self.categorical = categorical
        self.progress = progress
        self.fit_cross_fit_below = fit_cross_fit_below
        self.fit_folds = fit_folds
        self.fit_holdout = fit_holdout
        self.fit_max_holdout_rows = fit_max_holdout_rows
        self.ignore = ignore
        self.keep_identifiers = keep_identifiers
        self.max_levels = max_levels
        self.min_level_rows = min_level_rows


class SCAD(Detector):
    """Internal contrastive learning: how well some columns match the rest of their row.

    The detector `scad`; see docs/detectors/scad.md.

    Parameters
    ----------
    batch_size : int, default 3000
        Rows per step (1 to 16384).
    learning_rate : float, default 0.001
        Learning rate (finite, above 0).
    repeats : Any, default None
        Pairs of nets, each with another order of the columns; None: 100/(ln rows + columns), rounded down, plus 1 (1 to
        1000, or None).
    temperature : float, default 0.01
        What similarities are divided by (finite, above 0).
    train_for : str, default "2000 epochs"
        How long to train each pair at most (N `epochs` or N `steps`).
    units : int, default 200
        Width of what the two nets are compared by; their hidden layers are in proportion (4 to 4096).
    contamination : float or {"auto"}, default 0.1
        What `predict` calls anomalous. A share, above 0 and at most 0.5: that share of the training rows. "auto": rows
        that score higher than all but one in a hundred of the calibration rows, which the detector did not learn from.
    random_state : Any, default 0
        The seed: same rows, parameters and seed, same bits. None or a RandomState instance draws one, as scikit-learn
        has it.
    categorical : Sequence[str], default ()
        Columns to read as names, whatever they hold (postcodes).
    progress : Progress, default None
        None, "tqdm", or a function of done, total and loss that is called now and then while it learns.
    fit_cross_fit_below : int, default 1000
        With fewer rows, `fit` cross-fits instead of holding rows out (0 or more).
    fit_folds : int, default 5
        Folds where rows are cross-fitted: in `detect`, and in `fit` with few rows (2 to 100).
    fit_holdout : float, default 0.2
        Share of the rows held out for p-values (above 0, below 1).
    fit_max_holdout_rows : int, default 50000
        The most rows held out (at least 1).
    ignore : Sequence[str], default ()
        Columns that are no features (names of columns).
    keep_identifiers : bool, default False
        Learn from columns that look like row identifiers (False, True).
    max_levels : int, default 32
        The most levels of a category column that get a feature of their own; the others are pooled (1 to 4096).
    min_level_rows : int, default 5
        A level gets a feature of its own if so many rows have it, and one row in a thousand (at least 1).

    Attributes
    ----------
    offset_ : float
        Rows whose `score_samples` is below it are called anomalous.
    n_features_in_ : int
        Columns of the training table.
    feature_names_in_ : ndarray of str
        Their names, if they had any.
    model_ : Model
        The library's model.
    """

    _detector = "scad"
    _detector_params = (
        "batch_size",
        "learning_rate",
        "repeats",
        "temperature",
        "train_for",
        "units",
    )
    _options = (
        "fit_cross_fit_below",
        "fit_folds",
        "fit_holdout",
        "fit_max_holdout_rows",
        "ignore",
        "keep_identifiers",
        "max_levels",
        "min_level_rows",
    )

    def __init__(
        self,
        *,
        batch_size: int = 3000,
        learning_rate: float = 0.001,
        repeats: Any = None,
        temperature: float = 0.01,
        train_for: str = "2000 epochs",
        units: int = 200,
        contamination: float | Literal["auto"] = 0.1,
        random_state: Any = 0,
        categorical: Sequence[str] = (),
        progress: Progress = None,
        fit_cross_fit_below: int = 1000,
        fit_folds: int = 5,
        fit_holdout: float = 0.2,
        fit_max_holdout_rows: int = 50000,
        ignore: Sequence[str] = (),
        keep_identifiers: bool = False,
        max_levels: int = 32,
        min_level_rows: int = 5,
    ) -> None:
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.repeats = repeats
        self.temperature = temperature
        self.train_for = train_for
        self.units = units
        self.contamination = contamination
        self.random_state = random_state
        self.categorical = categorical
        self.progress = progress
        self.fit_cross_fit_below = fit_cross_fit_below
        self.fit_folds = fit_folds
        self.fit_holdout = fit_holdout
        self.fit_max_holdout_rows = fit_max_holdout_rows
        self.ignore = ignore
        self.keep_identifiers = keep_identifiers
        self.max_levels = max_levels
        self.min_level_rows = min_level_rows


class NeuTraLAD(Detector):
    """NeuTraL AD: how well a net tells learned views of the row apart and matches them with it.

    The detector `neutralad`; see docs/detectors/neutralad.md.

    Parameters
    ----------
    batch_size : int, default 128
        Rows per step (1 to 16384).
    learning_rate : float, default 0.001
        Learning rate (finite, above 0).
    n_transforms : int, default 11
        Views of a row (2 to 1000).
    patience : int, default 100
        Epochs without a lower loss that end the training (at least 1).
    temperature : float, default 0.1
        What similarities are divided by (finite, above 0).
    train_for : str, default "200 epochs"
        How long to train at most (N `epochs` or N `steps`).
    transform_kind : {"residual", "mul"}, default "residual"
        A view is x + v(x), or x · sigmoid(v(x)) (`residual`, `mul`).
    weight_decay : float, default 1e-05
        L2 decay, added to the gradient (finite, at least 0).
    contamination : float or {"auto"}, default 0.1
        What `predict` calls anomalous. A share, above 0 and at most 0.5: that share of the training rows. "auto": rows
        that score higher than all but one in a hundred of the calibration rows, which the detector did not learn from.
    random_state : Any, default 0
        The seed: same rows, parameters and seed, same bits. None or a RandomState instance draws one, as scikit-learn
        has it.
    categorical : Sequence[str], default ()
        Columns to read as names, whatever they hold (postcodes).
    progress : Progress, default None
        None, "tqdm", or a function of done, total and loss that is called now and then while it learns.
    fit_cross_fit_below : int, default 1000
        With fewer rows, `fit` cross-fits instead of holding rows out (0 or more).
    fit_folds : int, default 5
        Folds where rows are cross-fitted: in `detect`, and in `fit` with few rows (2 to 100).
    fit_holdout : float, default 0.2
        Share of the rows held out for p-values (above 0, below 1).
    fit_max_holdout_rows : int, default 50000
        The most rows held out (at least 1).
    ignore : Sequence[str], default ()
        Columns that are no features (names of columns).
    keep_identifiers : bool, default False
        Learn from columns that look like row identifiers (False, True).
    max_levels : int, default 32
        The most levels of a category column that get a feature of their own; the others are pooled (1 to 4096).
    min_level_rows : int, default 5
        A level gets a feature of its own if so many rows have it, and one row in a thousand (at least 1).

    Attributes
    ----------
    offset_ : float
        Rows whose `score_samples` is below it are called anomalous.
    n_features_in_ : int
        Columns of the training table.
    feature_names_in_ : ndarray of str
        Their names, if they had any.
    model_ : Model
        The library's model.
    """

    _detector = "neutralad"
    _detector_params = (
        "batch_size",
        "learning_rate",
        "n_transforms",
        "patience",
        "temperature",
        "train_for",
        "transform",
        "weight_decay",
    )
    _options = (
        "fit_cross_fit_below",
        "fit_folds",
        "fit_holdout",
        "fit_max_holdout_rows",
        "ignore",
        "keep_identifiers",
        "max_levels",
        "min_level_rows",
    )

    def __init__(
        self,
        *,
        batch_size: int = 128,
        learning_rate: float = 0.001,
        n_transforms: int = 11,
        patience: int = 100,
        temperature: float = 0.1,
        train_for: str = "200 epochs",
        transform_kind: Literal["residual", "mul"] = "residual",
        weight_decay: float = 1e-05,
        contamination: float | Literal["auto"] = 0.1,
        random_state: Any = 0,
        categorical: Sequence[str] = (),
        progress: Progress = None,
        fit_cross_fit_below: int = 1000,
        fit_folds: int = 5,
        fit_holdout: float = 0.2,
        fit_max_holdout_rows: int = 50000,
        ignore: Sequence[str] = (),
        keep_identifiers: bool = False,
        max_levels: int = 32,
        min_level_rows: int = 5,
    ) -> None:
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.n_transforms = n_transforms
        self.patience = patience
        self.temperature = temperature
        self.train_for = train_for
        self.transform_kind = transform_kind
        self.weight_decay = weight_decay
        self.contamination = contamination
        self.random_state = random_state
        self.categorical = categorical
        self.progress = progress
        self.fit_cross_fit_below = fit_cross_fit_below
        self.fit_folds = fit_folds
        self.fit_holdout = fit_holdout
        self.fit_max_holdout_rows = fit_max_holdout_rows
        self.ignore = ignore
        self.keep_identifiers = keep_identifiers
        self.max_levels = max_levels
        self.min_level_rows = min_level_rows


class PLAD(Detector):
    """PLAD style: a classifier of rows against rows that another net has changed a little.

    The detector `plad`; see docs/detectors/plad.md.

    Parameters
    ----------
    batch_size : int, default 128
        Rows per step (1 to 16384).
    hidden : Any, default None
        Width of the classifier's four hidden layers; None: 64 for up to 64 features, 256 above (1 to 4096, or None).
    learning_rate : float, default 0.001
        Learning rate (finite, above 0).
    penalty : float, default 0.001
        Weight of the size of the changes in the loss (finite, at least 0).
    perturbation : {"random", "fixed"}, default "random"
        Rows are changed by random numbers whose size is learned, or by what is learned itself (`random`, `fixed`).
    train_for : str, default "100 epochs"
        How long to train (N `epochs` or N `steps`).
    contamination : float or {"auto"}, default 0.1
        What `predict` calls anomalous. A share, above 0 and at most 0.5: that share of the training rows. "auto": rows
        that score higher than all but one in a hundred of the calibration rows, which the detector did not learn from.
    random_state : Any, default 0
        The seed: same rows, parameters and seed, same bits. None or a RandomState instance draws one, as scikit-learn
        has it.
    categorical : Sequence[str], default ()
        Columns to read as names, whatever they hold (postcodes).
    progress : Progress, default None
        None, "tqdm", or a function of done, total and loss that is called now and then while it learns.
    fit_cross_fit_below : int, default 1000
        With fewer rows, `fit` cross-fits instead of holding rows out (0 or more).
    fit_folds : int, default 5
        Folds where rows are cross-fitted: in `detect`, and in `fit` with few rows (2 to 100).
    fit_holdout : float, default 0.2
        Share of the rows held out for p-values (above 0, below 1).
    fit_max_holdout_rows : int, default 50000
        The most rows held out (at least 1).
    ignore : Sequence[str], default ()
        Columns that are no features (names of columns).
    keep_identifiers : bool, default False
        Learn from columns that look like row identifiers (False, True).
    max_levels : int, default 32
        The most levels of a category column that get a feature of their own; the others are pooled (1 to 4096).
    min_level_rows : int, default 5
        A level gets a feature of its own if so many rows have it, and one row in a thousand (at least 1).

    Attributes
    ----------
    offset_ : float
        Rows whose `score_samples` is below it are called anomalous.
    n_features_in_ : int
        Columns of the training table.
    feature_names_in_ : ndarray of str
        Their names, if they had any.
    model_ : Model
        The library's model.
    """

    _detector = "plad"
    _detector_params = (
        "batch_size",
        "hidden",
        "learning_rate",
        "penalty",
        "perturbation",
        "train_for",
    )
    _options = (
        "fit_cross_fit_below",
        "fit_folds",
        "fit_holdout",
        "fit_max_holdout_rows",
        "ignore",
        "keep_identifiers",
        "max_levels",
        "min_level_rows",
    )

    def __init__(
        self,
        *,
        batch_size: int = 128,
        hidden: Any = None,
        learning_rate: float = 0.001,
        penalty: float = 0.001,
        perturbation: Literal["random", "fixed"] = "random",
        train_for: str = "100 epochs",
        contamination: float | Literal["auto"] = 0.1,
        random_state: Any = 0,
        categorical: Sequence[str] = (),
        progress: Progress = None,
        fit_cross_fit_below: int = 1000,
        fit_folds: int = 5,
        fit_holdout: float = 0.2,
        fit_max_holdout_rows: int = 50000,
        ignore: Sequence[str] = (),
        keep_identifiers: bool = False,
        max_levels: int = 32,
        min_level_rows: int = 5,
    ) -> None:
        self.batch_size = batch_size
        self.hidden = hidden
        self.learning_rate = learning_rate
        self.penalty = penalty
        self.perturbation = perturbation
        self.train_for = train_for
        self.contamination = contamination
        self.random_state = random_state
        self.categorical = categorical
        self.progress = progress
        self.fit_cross_fit_below = fit_cross_fit_below
        self.fit_folds = fit_folds
        self.fit_holdout = fit_holdout
        self.fit_max_holdout_rows = fit_max_holdout_rows
        self.ignore = ignore
        self.keep_identifiers = keep_identifiers
        self.max_levels = max_levels
        self.min_level_rows = min_level_rows


class DPAD(Detector):
    """DPAD style: nearest neighbors after a net has pulled normal rows together.

    The detector `dpad`; see docs/detectors/dpad.md.

    Parameters
    ----------
    batch_size : int, default 512
        Rows per step (1 to 16384).
    gamma : float, default 0.1
        How fast the weight of a pair falls with its squared distance (finite, at least 0).
    hidden : Sequence[Any], default (128, 64, 32, 16)
        The layers; the last is the embedding (1 to 16 widths, each 1 to 4096).
    learning_rate : float, default 0.001
        Learning rate (finite, above 0).
    n_neighbors : int, default 1
        Which neighbor's distance is the score (at least 1, at most as many as there are training rows).
    penalty : float, default 1.0
        Weight of what keeps the matrices at length 1 (finite, at least 0).
    train_for : str, default "100 epochs"
        How long to train (N `epochs` or N `steps`).
    contamination : float or {"auto"}, default 0.1
        What `predict` calls anomalous. A share, above 0 and at most 0.5: that share of the training rows. "auto": rows
        that score higher than all but one in a hundred of the calibration rows, which the detector did not learn from.
    random_state : Any, default 0
        The seed: same rows, parameters and seed, same bits. None or a RandomState instance draws one, as scikit-learn
        has it.
    categorical : Sequence[str], default ()
        Columns to read as names, whatever they hold (postcodes).
    progress : Progress, default None
        None, "tqdm", or a function of done, total and loss that is called now and then while it learns.
    fit_cross_fit_below : int, default 1000
        With fewer rows, `fit` cross-fits instead of holding rows out (0 or more).
    fit_folds : int, default 5
        Folds where rows are cross-fitted: in `detect`, and in `fit` with few rows (2 to 100).
    fit_holdout : float, default 0.2
        Share of the rows held out for p-values (above 0, below 1).
    fit_max_holdout_rows : int, default 50000
        The most rows held out (at least 1).
    ignore : Sequence[str], default ()
        Columns that are no features (names of columns).
    keep_identifiers : bool, default False
        Learn from columns that look like row identifiers (False, True).
    max_levels : int, default 32
        The most levels of a category column that get a feature of their own; the others are pooled (1 to 4096).
    min_level_rows : int, default 5
        A level gets a feature of its own if so many rows have it, and one row in a thousand (at least 1).

    Attributes
    ----------
    offset_ : float
        Rows whose `score_samples` is below it are called anomalous.
    n_features_in_ : int
        Columns of the training table.
    feature_names_in_ : ndarray of str
        Their names, if they had any.
    model_ : Model
        The library's model.
    """

    _detector = "dpad"
    _detector_params = (
        "batch_size",
        "gamma",
        "hidden",
        "learning_rate",
        "n_neighbors",
        "penalty",
        "train_for",
    )
    _options = (
        "fit_cross_fit_below",
        "fit_folds",
        "fit_holdout",
        "fit_max_holdout_rows",
        "ignore",
        "keep_identifiers",
        "max_levels",
        "min_level_rows",
    )

    def __init__(
        self,
        *,
        batch_size: int = 512,
        gamma: float = 0.1,
        hidden: Sequence[Any] = (128, 64, 32, 16),
        learning_rate: float = 0.001,
        n_neighbors: int = 1,
        penalty: float = 1.0,
        train_for: str = "100 epochs",
        contamination: float | Literal["auto"] = 0.1,
        random_state: Any = 0,
        categorical: Sequence[str] = (),
        progress: Progress = None,
        fit_cross_fit_below: int = 1000,
        fit_folds: int = 5,
        fit_holdout: float = 0.2,
        fit_max_holdout_rows: int = 50000,
        ignore: Sequence[str] = (),
        keep_identifiers: bool = False,
        max_levels: int = 32,
        min_level_rows: int = 5,
    ) -> None:
        self.batch_size = batch_size
        self.gamma = gamma
        self.hidden = hidden
        self.learning_rate = learning_rate
        self.n_neighbors = n_neighbors
        self.penalty = penalty
        self.train_for = train_for
        self.contamination = contamination
        self.random_state = random_state
        self.categorical = categorical
        self.progress = progress
        self.fit_cross_fit_below = fit_cross_fit_below
        self.fit_folds = fit_folds
        self.fit_holdout = fit_holdout
        self.fit_max_holdout_rows = fit_max_holdout_rows
        self.ignore = ignore
        self.keep_identifiers = keep_identifiers
        self.max_levels = max_levels
        self.min_level_rows = min_level_rows


# By the detector's name.
BY_NAME: dict[str, type[Detector]] = {
    "noise": OddCell,
    "knn": KNN,
    "lof": LOF,
    "iforest": IForest,
    "copod": COPOD,
    "ecod": ECOD,
    "ae": AutoEncoder,
    "deepsvdd": DeepSVDD,
    "anogan": AnoGAN,
    "scad": SCAD,
    "neutralad": NeuTraLAD,
    "plad": PLAD,
    "dpad": DPAD,
}
