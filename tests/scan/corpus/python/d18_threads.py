import multiprocessing as mp
import subprocess
import threading


def work():
    return 1


mp.Process(target=work).start()  # FIND: python.process
threading.Thread(target=subprocess.run, args=(["id"],)).start()  # FIND: python.process
