"""The tables of the audit."""

from audit.models.probing import Encoder, Job, Probe
from audit.models.version import AuditVersion, Label, Pool, PoolMember

__all__ = ["AuditVersion", "Encoder", "Job", "Label", "Pool", "PoolMember", "Probe"]
