"""What can go wrong with an encoder, each with what to do about it."""

from __future__ import annotations

from evaluator.errors import EvaluatorError

PROBLEMS = {
    "spec": ("The description of the encoder is wrong", "Correct the file; docs/audit.md lists the fields."),
    "package-missing": (
        "A package that the encoder needs is not installed",
        "Install requirements/encoders.txt into this environment.",
    ),
    "weights-missing": (
        "The weights were not found",
        "Check the model's name, download it beforehand, or give the folder that holds it.",
    ),
    "wrong-revision": (
        "The weights have no such revision",
        "Give a commit, tag or digest that exists; without one results could not be told apart.",
    ),
    "weights-damaged": ("The weights could not be loaded", "Download them again and check the free space on the disk."),
    "weights-other": (
        "The weights belong to another architecture",
        "Choose the family, and the options, that the model's publisher names.",
    ),
    "out-of-memory": (
        "The device has too little memory",
        "Give a smaller batch, a smaller picture size, or a device with more memory; finished shards are kept.",
    ),
    "no-device": ("The device is not at hand", "Choose cpu, or run where the accelerator is."),
    "api-key": ("The API takes no request without a key", "Set the environment variable that the spec names."),
    "api-refused": (
        "The API refused a request",
        "Read its answer below; a key, a model's name or an input is wrong, so trying again does not help.",
    ),
    "api-failing": (
        "The API kept failing",
        "Run the command again later: finished shards are kept, and it goes on where it stopped.",
    ),
    "api-answer": ("The API's answer has another shape", "Compare the answer with the paths in the spec."),
    "picture-missing": (
        "A picture was not found",
        "Put it into the folder of pictures under the image's id, with any common ending.",
    ),
    "picture-damaged": ("A picture could not be read", "Copy it again from the data set."),
    "picture-ambiguous": (
        "Several pictures could be one image",
        "Keep one file for each image in the folder, or name it exactly like the image's id.",
    ),
    "vectors-file": (
        "A file of vectors could not be read",
        "Give the path of a .npz, .npy, .safetensors or Parquet file with vectors and ids; docs/formats.md has each.",
    ),
    "vectors-missing": ("A vector is not in the files", "Write a vector for every image, and for every query."),
    "vectors-shape": ("Vectors of another shape", "The encoder must give each input one vector of one dimension."),
    "vectors-not-finite": (
        "A vector is not finite",
        "Look for overflow: half precision may be too narrow for this model, float32 is not.",
    ),
    "vectors-zero": (
        "A vector is zero",
        "A cosine compares directions: the encoder must give every input one, a black picture and no text included.",
    ),
    "state-in-use": (
        "Another process works in the state folder",
        "Wait until it has ended, or give another folder; two never share one.",
    ),
    "state-unwritable": (
        "The state folder cannot be written",
        "Make room on the disk, or correct the permissions, and run it again: finished shards are kept.",
    ),
    "condition": ("The encoder cannot build this condition", "Declare in its spec how the condition is built."),
}
"""Code -> (what is wrong, what to do). ``docs/audit.md`` has a line for each, under test."""


class EncoderError(EvaluatorError):
    """An encoder that cannot go on: says what is wrong, with what, and what to do."""

    def __init__(self, code: str, detail: str = "") -> None:
        self.code, self.detail = code, detail
        title, self.remedy = PROBLEMS[code]
        super().__init__(f"{title}{f' ({detail})' if detail else ''}. {self.remedy}")
