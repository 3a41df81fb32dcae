#!/usr/bin/env python3
"""A sample of the mutants of verify.py and first_stage.py; ``mutate_verify.py`` takes all of them.

Run with ``python3 -m unittest discover -s spec -p 'test_*.py'``.
"""

from __future__ import annotations

import unittest

import mutate_verify

STEP = 29


class Mutants(unittest.TestCase):
    def test_the_vectors_notice_every_mutant_that_is_not_explained(self) -> None:
        for subject in mutate_verify.SUBJECTS:
            campaign = mutate_verify.Campaign(subject)
            counts, explained = mutate_verify.load_stored(subject)
            mutants = list(mutate_verify.mutants(subject))
            self.assertEqual(len(mutants), counts["mutants"])
            self.assertEqual(len(mutants) - len(explained), counts["killed"])
            names = {(mutant.function, mutant.what) for mutant in mutants}
            self.assertLessEqual(explained.keys(), names)
            # That those which are explained pass is for the whole run: it takes every vector.
            for mutant in mutants[::STEP]:
                place = (mutant.function, mutant.what)
                if place not in explained:
                    with self.subTest(subject.file, place=place):
                        self.assertFalse(campaign.passes(mutant.tree()))


if __name__ == "__main__":
    unittest.main()
