import torch
import joblib
import numpy as np
import pandas as pd
import yaml

torch.load("model.pt")  # FIND: python.deserialize
joblib.load("model.joblib")  # FIND: python.deserialize
np.load("a.npy", allow_pickle=True)  # FIND: python.deserialize
pd.read_pickle("a.pkl")  # FIND: python.deserialize
yaml.load(open("a.yml"), Loader=yaml.Loader)  # FIND: python.deserialize
