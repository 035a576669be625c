import subprocess
import paramiko


class Runner:
    start = subprocess.Popen
    client = paramiko.SSHClient()  # FIND: python.network

    def go(self):
        self.start(["id"])  # FIND: python.process
        self.client.connect("build.example.org")  # FIND: python.network
