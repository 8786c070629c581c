"""From a loaded encoder to the ranks of its three probes, in shards that outlive a killed process (decision 36).

``pictures`` finds the files of a split's images, ``shards`` keeps vectors on disk, ``job`` says where and under which
key, ``run`` encodes what is missing and ranks, ``precision`` decides whether less than float32 is good enough, and
``questions`` makes a split of a folder of pictures and a file of queries. NumPy and the standard library are enough.
"""

from evaluator.probing.job import SHARD, Job
from evaluator.probing.lock import held
from evaluator.probing.pace import Reached
from evaluator.probing.pictures import Pictures, find_pictures
from evaluator.probing.run import probe

__all__ = ["SHARD", "Job", "Pictures", "Reached", "find_pictures", "held", "probe"]
