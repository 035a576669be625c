import numpy as np
import pandas as pd

data = np.load("data.npy")
frame = pd.DataFrame({"a": data})
frame.eval("b = a + 1", inplace=True)
frame.query("b > 2").to_csv("out/result.csv")
if (n := len(frame)) > 3:
    print(f"{n:>5} rows, {frame['a'].mean():.3f}")
