"""Why something a person asked of an upload is not done, in their words. Only :class:`NotStored` is our failure."""

from __future__ import annotations


class Refusal(Exception):  # noqa: N818 (a verdict)
    """What is not done, and why."""


class BadRequest(Refusal):
    """A header says something that cannot be."""


class NoSuchUpload(Refusal):
    """It never was, it is another team's, it expired, it was ended, or it was used."""

    def __init__(self, words: str = "There is no such upload. It may have expired, or was used already.") -> None:
        super().__init__(words)


class NotWhole(Refusal):
    """Some of the file has not come yet."""

    def __init__(self, offset: int, size: int) -> None:
        super().__init__(f"Only {offset} of {size} bytes are here. Go on with the upload, then use it.")


class TooLarge(Refusal):
    """More bytes than one file may have, or than were announced."""


class TooMuch(Refusal):
    """The team's uploads together are more than it may have here at once."""


class WrongOffset(Refusal):
    """The part does not begin where the upload ends."""

    def __init__(self, given: int, offset: int) -> None:
        self.offset = offset
        super().__init__(f"The upload goes on at byte {offset}, not {given}. Ask with HEAD, then send from there.")


class Busy(Refusal):
    """Another request writes this upload. ``seconds``: when to try again."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        super().__init__(f"Another request writes this upload. Try again in {seconds} seconds.")


class ChecksumDiffers(Refusal):
    """The part is not what its sender said; nothing of it was kept."""

    def __init__(self) -> None:
        super().__init__(
            "The part arrived with another checksum than announced. Nothing of it was kept: send it again."
        )


class DigestDiffers(NoSuchUpload):
    """The whole file is not what was announced; the upload is ended."""

    def __init__(self, announced: str, found: str) -> None:
        super().__init__(
            f"The whole file has the digest {found}, but {announced} was announced. Either it changed while it was "
            "sent, or the digest is of another file. The upload is ended and nothing was kept: begin a new one."
        )


class ConnectionBroke(Refusal):
    """The request ended before its announced length. What came before is kept, unless it had a checksum."""

    def __init__(self) -> None:
        super().__init__("The connection broke before the whole part was here. Ask with HEAD where to go on.")


class NotStored(Refusal):
    """There was no place for the bytes. ``full``: the store has no space left. The log has ``reference``."""

    def __init__(self, reference: str, *, full: bool) -> None:
        self.reference = reference
        self.full = full
        super().__init__(
            f"The part could not be stored{', since no space is left' if full else ''}. This is our fault. What was "
            f"sent before is kept: try again later, or tell the maintainers this reference: {reference}."
        )
