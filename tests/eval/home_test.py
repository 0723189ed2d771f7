"""PASSNET_HOME that others could replace: refused, or warned of, with what to do."""

import os
import unittest

from passnet_case import QUICK, PassnetCase, take_one_processor

take_one_processor()


class Home(PassnetCase):
    timing = QUICK

    def setUp(self):
        super().setUp()
        self.home = self.root / "home"
        self.home.mkdir()
        self.environment = {**os.environ, "PASSNET_HOME": str(self.home)}

    def test_one_that_everybody_may_write_to_is_refused(self):
        self.home.chmod(0o777)
        for command in (("doctor",), ("score", self.out), ("author", "--help")):
            with self.subTest(command=command):
                done = self.passnet(*command, env=self.environment)
                self.assertEqual(done.returncode, 4, done.stderr)
                self.assertEqual(done.stderr, f"error: PASSNET_HOME '{self.home}' can be written to by every user, expected a directory "
                                              f"that this user alone can write to\nhint: remove what is not yours in it, then: chmod o-w '{self.home}'\n")

    def test_one_of_another_user_is_refused_or_told(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give a directory away")
        os.chown(self.home, 12345, 12345)
        done = self.evaluate(env=self.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"PASSNET_HOME '{self.home}' belongs to another user (uid 12345), who can replace what is run from it", done.stderr)

    def test_a_link_is_told_once(self):
        link = self.root / "link"
        link.symlink_to(self.home)
        done = self.evaluate(env={**self.environment, "PASSNET_HOME": str(link)})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count(f"PASSNET_HOME '{link}' is a link; "), 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
