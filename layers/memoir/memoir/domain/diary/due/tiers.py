"""Subscription tiers: who gets what."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Tier(StrEnum):
    """A subscription category."""

    DEFAULT = "default"
    PLUS = "plus"
    ULTRA = "ultra"
    MAX = "max"


def tier_of(subscription_category: object) -> Tier:
    """Return the tier that *subscription_category* names. Whatever names none is the default tier."""
    return next((tier for tier in Tier if tier.value == subscription_category), Tier.DEFAULT)


@dataclass(frozen=True, kw_only=True)
class PerTier(Generic[Value]):
    """One value for each tier."""

    default: Value
    plus: Value
    ultra: Value
    max: Value

    def of(self, tier: Tier) -> Value:
        """Return the value of *tier*."""
        value: Value = getattr(self, tier.value)
        return value


def free_and_paid(*, free: Value, paid: Value) -> PerTier[Value]:
    """Return *free* for the default tier and *paid* for the others."""
    return PerTier(default=free, plus=paid, ultra=paid, max=paid)
