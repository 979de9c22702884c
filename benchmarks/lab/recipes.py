"""How each set is made of its originals: a function per set, from paths to named arrays. `prepare.py` calls them."""

import csv
import io
import tarfile
from pathlib import Path

import numpy as np
import pandas as pd

# Numbers are read to the last bit. Pandas 3.1 does so unasked, and asking is out of date there.
IS_EXACT = tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1)
EXACT = {} if IS_EXACT else {"float_precision": "round_trip"}


# Reading originals


def table(source, separator=",", **options):
    """A file without a header; `?` is missing."""
    options = {"header": None, "na_values": ["?"], "skipinitialspace": True} | options
    return pd.read_csv(source, sep=separator, keep_default_na=False, **EXACT, **options)


def is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def numbers(path):
    """Numbers between commas or blanks. Mirrors differ in these, some end lines with a comma, and some add a line of names."""
    lines = [line.replace(",", " ").strip() for line in path.read_text().splitlines()]
    lines = [line for line in lines if line]
    return table(io.StringIO("\n".join(lines if is_number(lines[0].split()[0]) else lines[1:])), r"\s+")


def two_files(train, test, read):
    """The rows of both files, and which are of the second."""
    parts = [read(train), read(test)]
    return pd.concat(parts, ignore_index=True), np.repeat(np.array([0, 1], "int8"), [len(part) for part in parts])


def arff(text, **options):
    """The table of an ARFF file with its attributes as column names, and the declared levels of the nominal ones."""
    names, levels = [], {}
    lines = iter(text.splitlines())
    for line in lines:
        if line.lower().startswith("@data"):
            break
        if line.lower().startswith("@attribute"):
            name, kind = attribute(line.split(None, 1)[1].strip())
            names.append(name)
            if kind.startswith("{"):
                declared = next(csv.reader([kind.strip("{} ")], quotechar="'", skipinitialspace=True))
                levels[name] = [level.strip() for level in declared]
    rows = "\n".join(line for line in lines if line.strip() and not line.startswith("%"))
    return table(io.StringIO(rows), names=names, quotechar="'", **options), levels


def attribute(text):
    """Name and kind of an attribute; a name with spaces is quoted."""
    if text[0] in "'\"":
        name, kind = text[1:].split(text[0], 1)
    else:
        name, kind = text.split(None, 1)
    return name, kind.strip()


def only_file(archive):
    """The one data file of a .tar.xz, opened."""
    members = [member for member in archive.getmembers() if member.isfile()]
    members = [member for member in members if not Path(member.name).name.startswith(".")]
    if len(members) != 1:
        raise ValueError(f"expected one file in the archive, found {[member.name for member in members]}")
    return archive.extractfile(members[0])


def r_data(path):
    import pyreadr

    return next(iter(pyreadr.read_r(path).values()))


# Shaping


def features(columns, nominal=()):
    """Numbers first, in their order; then, column by column, an indicator for every level, in sorted order."""
    numbers = columns.drop(columns=list(nominal)).to_numpy(float)
    indicators = [columns[name] == level for name in nominal for level in sorted(columns[name].unique())]
    return {"X": np.column_stack([numbers, *indicators]).astype(float), "n_numeric": numbers.shape[1]}


def labeled(arrays, labels, **more):
    """The arrays of a one-class set; `X` row by row, as in our files, so that even the bytes can agree."""
    rows = np.ascontiguousarray(arrays["X"])
    return {"X": rows, "y": np.asarray(labels).astype("int64"), "n_numeric": arrays["n_numeric"]} | more


def with_medians(columns):
    return columns.fillna(columns.median())


def first_then_label(path):
    """All columns but the last are numbers, and the last is the class."""
    rows = table(path)
    return features(rows.iloc[:, :-1]), rows.iloc[:, -1]


def min_max(numbers):
    low, high = numbers.min(axis=0), numbers.max(axis=0)
    return (numbers - low) / np.where(high > low, high - low, 1)


# One-class sets


def abalone(path):
    rows = table(path)
    return labeled(features(rows.iloc[:, :8], nominal=[0]), rows[8])


def arrhythmia(path):
    rows, _ = arff(path.read_text())
    classes = rows.iloc[:, -1].astype(int)
    return labeled(features(with_medians(rows.iloc[:, :-1])), classes != 1, y_multi=classes.to_numpy("int64"))


def breastw(path):
    rows = numbers(path)
    return labeled(features(with_medians(rows.iloc[:, 1:10])), rows[10] == 4)


def cardio(path):
    sheet = pd.read_excel(path, sheet_name="Data", header=None, engine="calamine")
    head = next(at for at, row in sheet.iterrows() if "LB" in row.values and "NSP" in row.values)
    names = list(sheet.loc[head])
    rows = sheet.loc[head + 1 :]
    rows = rows[pd.to_numeric(rows[names.index("NSP")], errors="coerce").notna()]
    rows = rows[pd.to_numeric(rows[names.index("LB")], errors="coerce").notna()]
    states = rows[names.index("NSP")].astype("int64")
    columns = rows.iloc[:, names.index("LB") : names.index("Tendency") + 1]
    return labeled(features(columns), states != 1, y_multi=states.to_numpy())


def ecoli(path):
    rows = table(io.StringIO(path.read_text().replace(",", " ")), r"\s+")
    names, codes = np.unique(rows[8].to_numpy(str), return_inverse=True)
    return labeled(features(rows.iloc[:, 1:8]), codes, class_names=names)


def glass(path):
    rows = numbers(path)
    return labeled(features(rows.iloc[:, 1:10]), rows[10])


def ionosphere(path):
    arrays, labels = first_then_label(path)
    return labeled(arrays, labels == "b")


def kdd(train, test):
    rows, is_test = two_files(train, test, table)
    names, codes = np.unique(rows[41].str.rstrip(".").to_numpy(str), return_inverse=True)
    arrays = features(rows.iloc[:, :41], nominal=[1, 2, 3])
    is_attack = names[codes] != "normal"
    return labeled(arrays, is_attack, is_test=is_test, attack_code=codes.astype("int64"), attack_names=names)


def letter(path):
    rows = r_data(path)
    return labeled(features(rows.drop(columns="lettr")), [ord(name) - ord("A") + 1 for name in rows["lettr"]])


def lympho(path):
    rows = table(path, header=0)
    rows = rows[rows["class"].isin([2, 3])]
    raw = rows.drop(columns="class").rename(columns=str.strip)
    nominal = [name for name in raw if name not in ("lym_nodes_dimin", "lym_enlar", "no_does")]
    more = {"X_raw": raw.to_numpy(float), "y_multi": rows["class"].to_numpy("int64")}
    return labeled(features(raw, nominal), rows["class"] == 3, **more)


def mammography(path):
    arrays, labels = first_then_label(path)
    return labeled(arrays, labels.astype(str).str.strip("'") == "1")


def mulcross():
    """Rocke and Woodruff's generator: 4 columns, a tenth of the rows in two tight clusters, the whole whitened."""
    n_rows, n_columns, n_odd = 262_144, 4, 26_214
    chi_square = 18.5  # the generator's own value for four columns at 0.001
    distance = 2 * np.sqrt(chi_square / n_columns)
    random = np.random.default_rng(0)
    rows = random.standard_normal((n_rows, n_columns))
    signs = random.choice([-1.0, 1.0], size=(2, n_columns))
    rows[-n_odd:] = distance * np.repeat(signs, n_odd // 2, axis=0) + 0.1 * random.standard_normal((n_odd, n_columns))
    rows -= rows.mean(axis=0)
    rows = np.linalg.solve(np.linalg.cholesky(np.cov(rows.T)), rows.T).T
    order = random.permutation(n_rows)
    return labeled({"X": rows[order], "n_numeric": n_columns}, order >= n_rows - n_odd)


def musk(first, second):
    one = table(first).iloc[:, 2:]
    two = table(second, "\t", header=0).iloc[:, -167:]
    both = np.vstack([one.to_numpy(float), two.to_numpy(float)])
    version = np.repeat([1, 2], [len(one), len(two)])
    return labeled({"X": both[:, :-1], "n_numeric": 166}, both[:, -1], version=version)


def digits(train, test):
    rows, is_test = two_files(train, test, numbers)
    return labeled(features(rows.iloc[:, :-1]), rows.iloc[:, -1], is_test=is_test)


def pendigits(train, test):
    rows, is_test = two_files(train, test, lambda path: table(path, dtype={16: str}))
    # This copy has the digit as ten characters, one of them a 1.
    return labeled(features(rows.iloc[:, :16]), [cell.strip().index("1") for cell in rows[16]], is_test=is_test)


def pima(path):
    rows = numbers(path)
    return labeled(features(rows.iloc[:, :8]), rows[8])


def satimage(train, test):
    rows, is_test = two_files(train, test, numbers)
    return labeled(features(rows.iloc[:, :36]), rows[36], is_test=is_test)


def seismic(path):
    rows, levels = arff(path.read_text())
    nominal = [name for name in levels if name != "class"]
    return labeled(features(rows.drop(columns="class"), nominal), rows["class"])


def shuttle(path):
    classes = ["Rad.Flow", "Fpv.Close", "Fpv.Open", "High", "Bypass", "Bpv.Close", "Bpv.Open"]
    rows = r_data(path)
    is_test = (np.arange(len(rows)) >= 43_500).astype("int8")
    labels = [classes.index(name) + 1 for name in rows["Class"]]
    return labeled(features(rows.drop(columns="Class")), labels, is_test=is_test)


def thyroid(train, test):
    rows, is_test = two_files(train, test, numbers)
    continuous = [0, *range(16, 21)]
    columns = rows[[*continuous, *range(1, 16)]]
    more = {"is_test": is_test, "y_multi": rows[21].to_numpy("int64")}
    return labeled({"X": columns.to_numpy(float), "n_numeric": len(continuous)}, rows[21] != 3, **more)


def vertebral(path):
    rows, _ = arff(path.read_text())
    return labeled(features(rows.drop(columns="class")), rows["class"] == "Abnormal")


def of_adbench(path):
    """A set that ADBench has, too, as a one-class set."""
    with np.load(path) as arrays:
        return labeled({"X": arrays["X"], "n_numeric": arrays["X"].shape[1]}, arrays["y"])


def wbc(path):
    rows = table(path, skiprows=1)
    return labeled(features(rows.iloc[:, :30]), rows[30] == 0)


def wine(path):
    rows = table(path, skiprows=1)
    return labeled(features(rows.iloc[:, :13]), rows[13] + 1)


# Sets of ADBench: `X` and `y` alone


def backdoor(path):
    with tarfile.open(path) as archive:
        rows = table(only_file(archive), header=0)
    return {"X": rows.drop(columns="class").to_numpy(float), "y": rows["class"].to_numpy("int64")}


def fraud(path):
    rows = table(path, header=0)
    numbers = rows.drop(columns=["Time", "Class"]).to_numpy(float)
    return {"X": min_max(numbers).astype("float32"), "y": rows["Class"].to_numpy("int64")}


CENSUS_NUMBERS = [0, 5, 16, 17, 18, 30, 39]  # age, wage per hour, gains, losses, dividends, employer's size, weeks worked
CENSUS_WEIGHT, CENSUS_LABEL = 24, 41


def census_indicators(columns, levels):
    """One column for two levels, the later by name; else one for each level as declared. What is missing is all zeros."""
    indicators = []
    for column, declared in zip(columns, levels):
        known = [level for level in declared if level != "?"]
        chosen = [max(known)] if len(known) == 2 else known
        indicators += [(column == level).to_numpy("uint8") for level in chosen]
    return np.column_stack(indicators)


def census_arff(path):
    with tarfile.open(path) as archive:
        text = only_file(archive).read().decode()
    rows, levels = arff(text, dtype=str)
    labels = rows.iloc[:, -1].str.strip()
    nominal = [name for name in rows.columns[:-1] if name in levels]
    return rows[nominal].apply(lambda column: column.str.strip()), [levels[name] for name in nominal], labels


def rare(labels):
    """1 for the rarer of two labels."""
    counts = labels.value_counts()
    return (labels == counts.index[-1]).to_numpy("int64")


def census_nominal(path):
    columns, levels, labels = census_arff(path)
    return {"X": census_indicators([columns[name] for name in columns], levels), "y": rare(labels)}


def census_testpart(path, path_of_levels):
    _, levels, _ = census_arff(path_of_levels)
    rows = table(path, dtype=str)
    others = {*CENSUS_NUMBERS, CENSUS_WEIGHT, CENSUS_LABEL}
    nominal = [rows[at].str.strip() for at in rows if at not in others]
    numbers = min_max(rows[CENSUS_NUMBERS].astype(float).to_numpy())
    arrays = np.column_stack([numbers, census_indicators(nominal, levels)]).astype("float32")
    return {"X": arrays, "y": rare(rows[CENSUS_LABEL].str.strip())}


RECIPES = {
    "backdoor": backdoor, "fraud": fraud, "census_testpart": census_testpart, "census_nominal": census_nominal,
    "abalone": abalone, "arrhythmia": arrhythmia, "breastw": breastw, "cardio": cardio, "ecoli": ecoli, "glass": glass,
    "ionosphere": ionosphere, "kdd": kdd, "letter": letter, "lympho": lympho, "mammography": mammography, "musk": musk,
    "optdigits": digits, "pendigits": pendigits, "pima": pima, "satimage": satimage, "seismic": seismic,
    "shuttle": shuttle, "speech": of_adbench, "thyroid": thyroid, "vertebral": vertebral, "vowels": of_adbench, "wbc": wbc,
    "wine": wine, "mulcross_regenerated": mulcross,
}
