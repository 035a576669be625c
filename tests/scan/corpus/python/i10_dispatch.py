class Machine:
    def start(self):
        return 1

    def call(self, name):
        return getattr(self, name)()


print(Machine().call("start"))
