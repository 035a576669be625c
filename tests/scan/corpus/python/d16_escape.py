def find():
    for kind in ().__class__.__bases__[0].__subclasses__():  # FIND: python.reflection
        if kind.__name__ == "Popen":
            return kind
