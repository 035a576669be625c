def calculate(text):
    return eval(text)  # FIND: python.dynamic-code
