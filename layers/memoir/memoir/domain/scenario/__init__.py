"""Scenarios: which memory a conversation is given, and which background work its turns ask for."""

from memoir.domain.scenario.default import DEFAULT
from memoir.domain.scenario.scenario import MemorySource, Scenario
from memoir.domain.scenario.variables import WORKER_OF_VARIABLE, Worker

__all__ = ["DEFAULT", "WORKER_OF_VARIABLE", "MemorySource", "Scenario", "Worker"]
