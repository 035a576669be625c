import re
import torch.nn as nn


class Net(nn.Module):
    def system(self, x):
        return x

    def exec(self, plan):
        return self.system(plan)


net = Net()
net.eval()
net.exec("run")
net.system("os.system('ls')")
pattern = re.compile(r"exec\((.*)\)")
print(pattern.match("eval(x)"), getattr(net, "training"))
