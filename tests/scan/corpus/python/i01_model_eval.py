class Model:
    def eval(self):
        self.training = False
        return self

    def exec(self, x):
        return x


model = Model()
model.eval()
model.exec(3)
