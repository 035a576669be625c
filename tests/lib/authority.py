"""Certificates for tests: an authority of the test's own, made with openssl."""
import os
import shutil
import subprocess

from pf import skip_all, tmpdir

__all__ = ["Authority"]


class Authority:
    """Its certificate is .file."""

    def __init__(self):
        if not shutil.which("openssl"):
            skip_all("no openssl to make certificates with")
        self.folder = tmpdir()
        self.file = os.path.join(self.folder, "ca.pem")
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "ca.key", "-out", "ca.pem", "-days", "2",
                     "-subj", "/CN=test authority", "-addext", "basicConstraints=critical,CA:TRUE")
        os.chmod(self.file, 0o644)

    def openssl(self, *args):
        return subprocess.run(["openssl", *args], cwd=self.folder, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout

    def hash(self):
        """What OpenSSL calls the authority in a folder of certificates."""
        return self.openssl("x509", "-in", "ca.pem", "-noout", "-hash").decode().strip()

    def certificate(self, name, names, *extra):
        """(certificate, key) for these names."""
        with open(os.path.join(self.folder, name + ".ext"), "w", encoding="utf-8") as file:
            file.write(f"subjectAltName={names}\n")
        self.openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", name + ".key", "-out", name + ".csr", "-subj", f"/CN={name}")
        self.openssl("x509", "-req", "-in", name + ".csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", name + ".pem",
                     "-extfile", name + ".ext", *(extra or ("-days", "2")))
        return os.path.join(self.folder, name + ".pem"), os.path.join(self.folder, name + ".key")
