class Table:
    def __init__(self):
        self.rows = {}

    def __getattr__(self, name):
        return self.rows[name]


def load(table, loads):
    return [getattr(table, "rows")] + loads


globals_ = {"eval": 1}
print(load(Table(), [globals_["eval"]]), hasattr(Table, "system"))
