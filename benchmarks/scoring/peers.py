"""The other side of benchmarks/scoring/run.

usage: peers.py IsolationForest|ECOD TRAIN.csv TABLE OUT THREADS     fit on TRAIN, score TABLE, write the scores to OUT
       peers.py convert TABLE.csv TABLE.parquet
       peers.py versions
"""

import sys

import numpy as np
import pyarrow as pa
import pyarrow.csv, pyarrow.parquet


def read(path):
    table = pa.csv.read_csv(path) if path.endswith(".csv") else pa.parquet.read_table(path)
    return np.column_stack([column.to_numpy() for column in table.columns])


def write(scores, path):
    table = pa.table({"score": scores})
    pa.csv.write_csv(table, path) if path.endswith(".csv") else pa.parquet.write_table(table, path)


def score(name, train, table, out, threads):
    pa.set_cpu_count(threads)
    pa.set_io_thread_count(threads)
    if name == "IsolationForest":
        from sklearn.ensemble import IsolationForest

        forest = IsolationForest(random_state=0, n_jobs=threads).fit(read(train))
        write(-forest.score_samples(read(table)), out)
    else:
        from pyod.models.ecod import ECOD

        write(ECOD(n_jobs=threads).fit(read(train)).decision_function(read(table)), out)


def convert(text, table):
    """In row groups of some hundred thousand rows, without ever holding the table."""
    batches = pa.csv.open_csv(text, read_options=pa.csv.ReadOptions(block_size=64 << 20))
    with pa.parquet.ParquetWriter(table, batches.schema) as writer:
        for batch in batches:
            writer.write_batch(batch)


def versions():
    import pyod, sklearn

    print(f"scikit-learn {sklearn.__version__}, PyOD {pyod.__version__}, pyarrow {pa.__version__}")


match sys.argv[1:]:
    case ["convert", text, table]:
        convert(text, table)
    case ["versions"]:
        versions()
    case [name, train, table, out, threads]:
        score(name, train, table, out, int(threads))
