import pickle as p
import yaml
import numpy as np

with open("model.pkl", "rb") as file:
    model = p.load(file)  # FIND: python.deserialize
settings = yaml.load(open("settings.yml"))  # FIND: python.deserialize
table = np.load("table.npy", allow_pickle=True)  # FIND: python.deserialize
