import unittest
from unittest import mock


class T(unittest.TestCase):
    def test_run(self):
        with mock.patch("subprocess.run") as run, mock.patch("os.system"):
            run.return_value = 1
            self.assertEqual(run("x"), 1)

    def system(self):
        return {"eval": "eval", "exec": ["exec"]}
