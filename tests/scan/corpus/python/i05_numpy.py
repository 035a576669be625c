import numpy as np

a = np.arange(10)
b = np.load("table.npy")
print(np.exp(a).sum(), b.shape)
