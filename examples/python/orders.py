"""Find the odd orders of a shop: from one table to a model that judges new rows.

Run it as a whole with `python examples/python/orders.py`, or cell by cell in an editor that knows `# %%`.
It needs pandas, pyarrow and matplotlib: pip install '.[pandas,plot]' in a clone.
"""

# %% A table with numbers, a category and a date. The total of an order depends on its product and number of items.
import numpy as np
import pandas as pd

import oddcell

random = np.random.default_rng(0)
prices = {"tea": 4.0, "cup": 9.0, "pot": 25.0}


def make_orders(count: int) -> pd.DataFrame:
    orders = pd.DataFrame(
        {
            "product": random.choice(list(prices), count, p=[0.6, 0.3, 0.1]),
            "items": random.integers(1, 9, count),
            "day": pd.Timestamp("2026-01-01") + pd.to_timedelta(random.integers(0, 300, count), unit="D"),
        }
    )
    orders["total"] = (orders["product"].map(prices) * orders["items"] * random.normal(1, 0.03, count)).round(2)
    return orders


orders = make_orders(2_000)

# %% Corrupt five orders: each gets a total that would be normal for another order. By itself, the number is not odd.
wrong = [100, 500, 900, 1300, 1700]
orders.loc[wrong, "total"] = [180.0, 150.0, 4.1, 190.0, 3.9]

# %% Judge one table: each row is judged by nets that did not learn from it.
found = oddcell.detect(orders)
odd = found[found["odd_verdict"]].sort_values("odd_score", ascending=False)
print(odd.drop(columns=["odd_p", "odd_verdict"]).head(10).to_string(max_colwidth=60))
print(f"found {len(set(wrong) & set(odd.index))} of {len(wrong)} corrupted rows")

# %% Learn from the normal orders, to judge those of tomorrow. The model is one file, which the command line also reads.
model = oddcell.OddCell().fit(orders.drop(index=wrong))
model.save("orders.oddcell")

tomorrow = make_orders(5)
tomorrow.loc[2, "items"] = 40
judged = oddcell.load("orders.oddcell").judge(tomorrow, alpha=0.01)
print(judged[["product", "items", "total", "odd_p", "odd_verdict"]])

# %% How far off is each cell? In standard deviations, or in the unit of its column.
print(model.explain(tomorrow).round(1))
print(model.explain(tomorrow, units="column").round(1))

# %% A heat map of the oddest rows: the darker a cell, the odder.
ax = oddcell.plot.cells(orders, model, rows=12)
ax.figure.savefig("orders-cells.png", dpi=120)

# %% A histogram of all scores.
ax = oddcell.plot.scores(orders, model)
ax.figure.savefig("orders-scores.png", dpi=120)
