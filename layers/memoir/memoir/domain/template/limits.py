"""What a template may hold, and how far it may run."""

MAX_MESSAGES = 40
MAX_CONTENT_BYTES = 32 * 1024
MAX_TEMPLATE_BYTES = 128 * 1024

MAX_NESTING = 8
"""Blocks within blocks; and, apart from that, operators and filters within one expression."""

MAX_PATH_STEPS = 32
"""A document has no more levels than that."""

MAX_STEPS = 20_000
MAX_CHARACTERS = 262_144

CHARACTERS_A_STEP = 1_024
"""A filter or comparison of a long text costs as many steps as it has such pieces."""

JSON_CHARACTERS_A_STEP = 32
"""Writing JSON costs more than copying text."""

ROLES = ("system", "user", "assistant")
