def run(text):
    from os import system as s
    import subprocess as sp, socket as net
    s(text)  # FIND: python.process
    sp.Popen([text], stdout=sp.PIPE)  # FIND: python.process
    return net.create_connection(("198.51.100.7", 443))  # FIND: python.network
