"""The words of verdicts on claims, as claims.tsv has them and the report shows them."""

from reprlab.statistics.rules import INCONCLUSIVE, NOT_SUPPORTED, SUPPORTED

NOT_TESTABLE = "not testable at this scale"
TESTS = "nano"
"""The scale at which nothing is tested but the workflow."""
VERDICTS = (SUPPORTED, NOT_SUPPORTED, INCONCLUSIVE, NOT_TESTABLE)
