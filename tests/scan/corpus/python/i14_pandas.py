import pandas as pd

frame = pd.read_csv("data/x.csv")
frame = frame.eval("a + b")
print(frame.query("a > 1").shape)
