"""Models under audit: pictures and queries in, vectors out. One small protocol, one file a family.

``base`` has the protocol and what goes in, ``conditions`` how the three conditions are built, ``spec`` an encoder as
data, ``registry`` the way from a spec to a loaded encoder. Weights, torch and the network are reached only from the
files of the families, which are imported when a spec asks for them.
"""

from evaluator.encoders.base import Card, Encoder, Picture, Query
from evaluator.encoders.problems import EncoderError
from evaluator.encoders.registry import FAMILIES, open_encoder
from evaluator.encoders.spec import Spec

__all__ = ["FAMILIES", "Card", "Encoder", "EncoderError", "Picture", "Query", "Spec", "open_encoder"]
