"""Every error that Memoir raises on purpose, with the facts a caller needs to act on it.

MemoirError
├── RequestRefused                 the caller has to change something; nothing was written
│   ├── JsonMalformed              the text is not strict JSON                        (place in the text)
│   ├── RequestInvalid             JSON, but not what the contract asks for           (path, reason)
│   ├── TooLarge                   more bytes than allowed                            (size, limit, path)
│   ├── LimitExceeded              more levels, rows, commands … than allowed         (value, limit, path)
│   ├── MediaTypeUnsupported       the body is not declared as UTF-8 JSON
│   ├── NotAuthenticated           no usable identity in the verified token
│   ├── Forbidden                  an identity that may not do this
│   ├── NotFound                   no such route or resource
│   │   └── ScenarioUnknown        no such scenario                                   (current_revision)
│   ├── TurnConflict               the turn id stands for a turn with another text    (turn_id, round)
│   ├── RoundClosed                the round is followed by another, or its turn was replaced
│   ├── MessagesRefused            the last message is not the current user's
│   ├── ClaimConflict              the claim was used for other texts
│   ├── ClaimExpired               the claim holds no longer
│   ├── PreconditionFailed         a header names another revision than the body
│   ├── UpdateRefused              the product's own check said no                    (reason, problems)
│   ├── ScenarioInvalid            the scenario breaks rules                          (problems)
│   ├── ScenarioForbids            not what the conversation's scenario allows        (path)
│   ├── CandidateStale             the state has moved on since the candidate's round (rounds)
│   ├── StoryConflict              the ground under a story claim moved               (moved)
│   ├── ConversationRewound        a rewind took back what the reply was made from    (generation)
│   ├── GenerationConflict         another rewind came first                          (generation)
│   ├── TurnDiscarded              a rewind took the turn back                        (turn_id, round)
│   ├── BoundaryUnknown            nobody said what a round began from                (kind)
│   ├── HistoryExpired             a revision is no longer kept                       (kind, revision)
│   └── IdempotencyKeyReused       the key already stands for another request
├── RevisionConflict               the stored revision moved; nothing was written     (expected, current)
├── DoorbellFailed                 the turn is stored, its background work was not rung; send it again
├── HinosFailed                    the external memory failed                         (sent)
│   ├── HinosNotConfigured         there is none
│   ├── HinosUnavailable           it was not reached, broke off, or answered 5xx
│   ├── HinosTimeout               it did not answer within its budget
│   ├── HinosUncertain             nobody knows what became of an earlier commit
│   └── HinosBadReply              its answer is not what the protocol says           (member)
├── WorkLeft                       time ran out before all was done; what was done stands
├── LeaseHeld                      another worker is at this job; nothing was done
├── ModelFailed                    a language model gave no answer                    (code)
├── StoreUnavailable               the store refused or was not reached; nothing was written
├── StoreMisused                   the store never takes such a request: a fault of ours or of the deployment
├── WriteOutcomeUnknown            the store did not say whether it wrote; read back before trying again
└── RecordCorrupt                  a stored record breaks its own rules; it is kept as it is

Fields are the facts. `code` is stable: callers and dashboards compare it. No HTTP here; the status of each
class stands in `edge/http.py`, and a test fails if one is missing.
"""

from memoir.errors.base import Fact, MemoirError, Problem
from memoir.errors.failed import (
    DoorbellFailed,
    HinosBadReply,
    HinosFailed,
    HinosNotConfigured,
    HinosTimeout,
    HinosUnavailable,
    HinosUncertain,
    LeaseHeld,
    ModelFailed,
    RecordCorrupt,
    RevisionConflict,
    StoreMisused,
    StoreUnavailable,
    WorkLeft,
    WriteOutcomeUnknown,
)
from memoir.errors.refused import (
    BoundaryUnknown,
    CandidateStale,
    ClaimConflict,
    ClaimExpired,
    ConversationRewound,
    Forbidden,
    GenerationConflict,
    HistoryExpired,
    IdempotencyKeyReused,
    JsonMalformed,
    LimitExceeded,
    MediaTypeUnsupported,
    MessagesRefused,
    NotAuthenticated,
    NotFound,
    PreconditionFailed,
    RequestInvalid,
    RequestRefused,
    RoundClosed,
    ScenarioForbids,
    ScenarioInvalid,
    ScenarioUnknown,
    StoryConflict,
    TooLarge,
    TurnConflict,
    TurnDiscarded,
    UpdateRefused,
)

__all__ = [
    "BoundaryUnknown",
    "CandidateStale",
    "ClaimConflict",
    "ClaimExpired",
    "ConversationRewound",
    "DoorbellFailed",
    "Fact",
    "Forbidden",
    "GenerationConflict",
    "HinosBadReply",
    "HinosFailed",
    "HinosNotConfigured",
    "HinosTimeout",
    "HinosUnavailable",
    "HinosUncertain",
    "HistoryExpired",
    "IdempotencyKeyReused",
    "JsonMalformed",
    "LeaseHeld",
    "LimitExceeded",
    "MediaTypeUnsupported",
    "MemoirError",
    "MessagesRefused",
    "ModelFailed",
    "NotAuthenticated",
    "NotFound",
    "PreconditionFailed",
    "Problem",
    "RecordCorrupt",
    "RequestInvalid",
    "RequestRefused",
    "RevisionConflict",
    "RoundClosed",
    "ScenarioForbids",
    "ScenarioInvalid",
    "ScenarioUnknown",
    "StoreMisused",
    "StoreUnavailable",
    "StoryConflict",
    "TooLarge",
    "TurnConflict",
    "TurnDiscarded",
    "UpdateRefused",
    "WorkLeft",
    "WriteOutcomeUnknown",
]
