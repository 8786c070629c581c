"""Labels of an audit → SF′ and V′ of its split, beside the published lists, which stay (decisions 4, 39)."""

from __future__ import annotations

from dataclasses import replace

from django.db import transaction

from audit.models import AuditVersion
from audit.services import probes
from audit.services.versions import AuditRefused, labelling_of
from evaluator.audit.influence import rolled
from evaluator.audit.labels import Labelling
from evaluator.types import Split, Subset
from leaderboard import bundles
from leaderboard.models import SplitVersion
from leaderboard.services.splits import freeze_split

ROLLED = (Subset.SF_ROLLED, Subset.V_ROLLED)


def freeze(audit: AuditVersion) -> tuple[SplitVersion, bool]:
    """Make SF′ and V′ of an audit subsets of its split, as a new version. Returns it, and whether it is new.

    The same labels again are the same version. Entries scored before keep their results on the older version; the
    board shows them again once they are scored on the new one (decision 32). Raises AuditRefused where the split's
    queries, gallery or judgments are others by now.
    """
    current = SplitVersion.objects.filter(split=audit.split, current=True).first()
    if current is None or probes.key_of(current) != audit.ranks_key:
        raise AuditRefused(
            f"{audit.split} has other queries, images or judgments by now: run the pool over its current version and "
            "label it anew."
        )
    with transaction.atomic():
        version, created = freeze_split(with_rolled(bundles.load(current), labelling_of(audit)))
        AuditVersion.objects.filter(pk=audit.pk).update(frozen=version)
    audit.frozen = version
    return version, created


def with_rolled(split: Split, labelling: Labelling) -> Split:
    """Return ``split`` with SF′ and V′ of a labelling; those of an earlier one give way."""
    made = rolled(split, labelling)
    subsets = {name: mask for name, mask in split.subsets.items() if name not in ROLLED}
    listed = tuple(name for name in split.protocol.subsets if name not in ROLLED)
    strata = {name: array for name, array in split.strata.items() if name not in ROLLED}
    if Subset.V in strata and Subset.V_ROLLED in made:
        strata[Subset.V_ROLLED] = strata[Subset.V]
    absent = {name: reason for name, reason in split.absent.items() if name not in ROLLED}
    if Subset.V_ROLLED not in made:
        absent[Subset.V_ROLLED] = "People have not validated queries of this split, so there is no V to take from."
    return replace(
        split,
        protocol=replace(split.protocol, subsets=(*listed, *ROLLED)),
        subsets={**subsets, **made},
        strata=strata,
        absent=absent,
    )
