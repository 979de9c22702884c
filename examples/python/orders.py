"""Odd orders of a shop, from one table to a model that judges new rows.

A script with cells: editors that know `# %%` run it piece by piece, `python examples/python/orders.py` as a whole.
It needs pandas, pyarrow and matplotlib: pip install 'oddcell[pandas,plot]'
"""

# %% A table: numbers, a category, a date. The price of an order follows from its size and its product.
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

# %% Five orders go wrong: the total is that of another order. Nothing about such a number is odd by itself.
wrong = [100, 500, 900, 1300, 1700]
orders.loc[wrong, "total"] = [180.0, 150.0, 4.1, 190.0, 3.9]

# %% One table, nothing known: every row is judged by nets that did not learn from it.
# A shorter training than the default, for an example.
found = oddcell.detect(orders, train_for="2000 steps")
odd = found[found["odd_verdict"]].sort_values("odd_score", ascending=False)
print(odd.drop(columns=["odd_p", "odd_verdict"]).head(10).to_string(max_colwidth=60))
print(f"of the rows that went wrong, {len(set(wrong) & set(odd.index))} of {len(wrong)} are called odd")

# %% A model of normal orders, for those that come tomorrow. It is one file, and the command line reads it, too.
model = oddcell.OddCell(train_for="2000 steps").fit(orders.drop(index=wrong))
model.save("orders.oddcell")

tomorrow = make_orders(5)
tomorrow.loc[2, "items"] = 40
judged = oddcell.load("orders.oddcell").judge(tomorrow, alpha=0.01)
print(judged[["product", "items", "total", "odd_p", "odd_verdict"]])

# %% How far off every cell is, in standard deviations, or in the units of the column.
print(model.explain(tomorrow).round(1))
print(model.explain(tomorrow, units="column").round(1))

# %% Which cells? The heat map shows the oddest rows; the darker, the odder.
ax = oddcell.plot.cells(orders, model, rows=12)
ax.figure.savefig("orders-cells.png", dpi=120)

# %% The scores of all rows.
ax = oddcell.plot.scores(orders, model)
ax.figure.savefig("orders-scores.png", dpi=120)
