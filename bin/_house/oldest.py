"""Goes on with a Python that is new enough, or says what to install. Very old Pythons must be able to read this."""

import os
import subprocess
import sys

OLDEST = (3, 11)
NEWEST_LOOKED_FOR = 20


def require():  # type: () -> None
    """Return if this Python is new enough; else start the same command again with one on the PATH that is."""
    if sys.version_info >= OLDEST:
        return
    newer = find_newer(os.environ.get("PATH", ""))
    if newer is None:
        sys.exit(sentence())
    os.execv(newer, [newer] + sys.argv)


def sentence():  # type: () -> str
    """Return what to say to a person whose machine has no Python that is new enough."""
    return (
        "cirboard needs Python %d.%d or newer. This is Python %d.%d (%s), and no newer one was found on the PATH.\n"
        "Install one, for example from python.org, with `brew install python` or `apt install python3.11 "
        "python3.11-venv`, and run the command again." % (OLDEST + sys.version_info[:2] + (sys.executable,))
    )


def find_newer(path):  # type: (str) -> str | None
    """Return the newest ``python3.x`` of a PATH that runs and is new enough."""
    for minor in range(NEWEST_LOOKED_FOR, OLDEST[1] - 1, -1):
        for folder in path.split(os.pathsep):
            candidate = os.path.join(folder, "python3.%d" % minor)
            if os.access(candidate, os.X_OK) and _is_new_enough(candidate):
                return candidate
    return None


def _is_new_enough(python):  # type: (str) -> bool
    """Ask it: a name on the PATH may be a shim that starts nothing."""
    question = "import sys; sys.exit(sys.version_info < (%d, %d))" % OLDEST
    with open(os.devnull, "w") as nowhere:
        return subprocess.call([python, "-c", question], stdout=nowhere, stderr=nowhere) == 0
