import json
import yaml

a = yaml.safe_load(open("a.yml"))
b = yaml.load(open("b.yml"), Loader=yaml.SafeLoader)
c = json.load(open("c.json"))
