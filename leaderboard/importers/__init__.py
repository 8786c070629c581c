"""Readers of the official annotation folders: files in, frozen :class:`evaluator.types.Split` out.

One module a data set, pure functions without Django. Each reader has the published counts beside it as data and
refuses files that do not reproduce them (:class:`leaderboard.importers.refusal.ImportRefused`). Building blocks:
``official`` finds and parses files, ``assemble`` turns names into arrays, ``pool`` is a gallery whose list may be
missing, ``refusal`` collects what differs.
"""
