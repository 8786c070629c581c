"""The tables of how a file becomes an evaluation."""

from submissions.models.evaluation import Evaluation
from submissions.models.submission import Quota, Run, SentFile, Submission

__all__ = ["Evaluation", "Quota", "Run", "SentFile", "Submission"]
