"""A conversation over a store, with its workers, its model, and the time that it believes in."""

from dataclasses import replace
from typing import Any

from memoir.adapters.record_store import DynamoDbRecords
from memoir.domain.diary.record.agent_ref import AgentRef
from memoir.domain.diary.record.entry import DiaryEntry
from memoir.domain.receipt import Receipt
from memoir.domain.revision import Revision
from memoir.domain.scenario import DEFAULT
from memoir.domain.scope import Scope
from memoir.domain.turns import NewTurn, Recorded, RungTurn, TurnHead
from memoir.domain.write_token import WriteToken, random_token
from memoir.ports.records import Records
from memoir.records.diary import diary_head_key, read_diary_head
from memoir.records.documents import read_document
from memoir.records.turns import head_key, read_head, read_known, turn_id_key
from memoir.usecases import diary
from memoir.usecases.accept_turn import accept_turn
from memoir.usecases.diary_job import DiaryPorts
from memoir.usecases.edit_table import edit_table
from memoir.usecases.engine import Engine
from memoir.usecases.list_turns import list_turns
from memoir.usecases.receipts import list_receipts
from memoir.usecases.table import read_table, replace_table
from memoir.usecases.turns import record_turn
from memoir.usecases.worker import WorkerPorts
from memoir.usecases.write_diary import write_diary
from tests.fakes.doorbell import RecordingBus, RecordingDoorbell
from tests.fakes.models import ScriptedWriter
from tests.fakes.records import HookedRecords, InMemoryRecords
from tests.tables import TABLE_NAME

SCOPE = Scope(product="p", user="u", conversation="c")
AGENT = AgentRef("diary")
NOVEMBER = 1_793_500_000.0  # 2026-11-01
SHEETS = {"sheets": [{"name": "事", "columns": ["日", "地"], "rows": []}]}
LEASE_SECONDS = 330


def insert(day: str) -> str:
    """Return a reply that inserts the row of *day*."""
    return f'<tableEdit>insertRow(0, {{"0":"{day}","1":"p"}})</tableEdit>'


class Conversation:
    """One conversation. `records`: its store, with hooks. `requests`: what DynamoDB was asked, if it is one.

    Over *client*, a DynamoDB client, or else over a store in memory.
    """

    def __init__(self, client: Any = None, *, monthly_quota: int | None = None, scope: Scope = SCOPE) -> None:
        self.scope = scope
        self.now = NOVEMBER
        self.client = client
        self.records = HookedRecords(self._store())
        self.engine = Engine(records=self.records, clock=self.clock, receipt_days=90)
        self.doorbell, self.events, self.model = RecordingDoorbell(), RecordingBus(), ScriptedWriter()
        settings = replace(DEFAULT.diary, monthly_quota=monthly_quota)
        self.default = replace(DEFAULT, diary=settings)
        self.model_reasons = False
        self.pauses: list[float] = []
        self.time_left = True
        self.requests: list[str] = []
        if client is not None:
            client.meta.events.register(
                "before-call.dynamodb", lambda model, **_: self.requests.append(model.name)
            )

    def clock(self) -> float:
        """Return the time that the conversation believes in."""
        return self.now

    def record(
        self, turn_id: str, text: str = "text", *, token: WriteToken | None = None, **members: Any
    ) -> Recorded:
        """Report a turn."""
        new = NewTurn(**{"turn_id": turn_id, "user_text": "hello", "assistant_text": text, **members})
        return record_turn(
            self.engine,
            doorbell=self.doorbell,
            scope=self.scope,
            new=new,
            token=token or random_token(),
            default=self.default,
        )

    def accept(self, turn_id: str, *, token: WriteToken | None = None) -> Recorded:
        """Accept a turn."""
        return accept_turn(
            self.engine,
            doorbell=self.doorbell,
            scope=self.scope,
            turn_id=turn_id,
            token=token or random_token(),
        )

    def listed(self, *, before: int | None = None, limit: int = 20) -> list[tuple[str, int]]:
        """Return the turns of a page: their ids and rounds."""
        page = list_turns(self.engine, scope=self.scope, before=before, limit=limit)
        return [(turn.turn_id, turn.position.round) for turn in page.turns]

    def head(self) -> TurnHead:
        """Return where the turns stand."""
        key = head_key(self.scope)
        return read_head(self.records.records.read(key).get(key))

    def say(self, number: int, text: str | None = None, **members: Any) -> RungTurn:
        """Report the turn of that round and return what its workers are rung with."""
        turn_id = members.pop("turn_id", f"t{number}")
        members.setdefault("user_text", f"用户在第{number}天问起铜钥匙的下落。")
        said = f"守卫在第{number}夜里点头，答应日落前归还。" if text is None else text
        self.record(turn_id, said, **members)
        return self.rung(turn_id)

    def say_day(self, number: int, **members: Any) -> RungTurn:
        """Report a turn that inserts the row of its day."""
        return self.say(number, insert(f"d{number}"), **members)

    def rung(self, turn_id: str) -> RungTurn:
        """Return what the workers of a stored turn are rung with."""
        key = turn_id_key(self.scope, turn_id)
        known = read_known(self.records.records.read(key)[key])
        return RungTurn(
            position=known.position,
            turn_id=turn_id,
            scenario_id=known.scenario_id,
            subscription_category=known.subscription_category,
            life=self.head().life,
            scenario_revision=known.governed.revision,
            agent=known.governed.agent,
        )

    def worker(self) -> WorkerPorts:
        """Return what every worker needs."""
        return WorkerPorts(
            engine=self.engine,
            events=self.events,
            doorbell=self.doorbell,
            has_time=lambda: self.time_left,
            default=self.default,
        )

    def edit(self, rung: RungTurn) -> list[Receipt]:
        """Let the table's worker run."""
        return edit_table(self.worker(), scope=self.scope, rung=rung)

    def write(self, rung: RungTurn, *, model: Any = None) -> list[Receipt]:
        """Let the diary's worker run."""
        ports = DiaryPorts(
            worker=self.worker(),
            writer=model or self.model,
            sleep=self.pauses.append,
            lease_seconds=LEASE_SECONDS,
            model_reasons=self.model_reasons,
        )
        return write_diary(ports, scope=self.scope, rung=rung)

    def go_to(self, last: int, *, first: int = 1, **members: Any) -> Receipt:
        """Report the rounds up to *last* and let the diary's worker run for each; return the last receipt."""
        receipts: list[Receipt] = []
        for number in range(first, last + 1):
            receipts = self.write(self.say(number, **members))
        return receipts[-1]

    def told(self) -> list[Receipt]:
        """Return all receipts, newest first."""
        receipts, _ = list_receipts(self.engine, scope=self.scope, before=None, limit=100)
        return list(receipts)

    def set_sheets(self, expected: int = 0, sheets: Any = SHEETS) -> None:
        """Replace the table, as its host does."""
        replace_table(
            self.engine, scope=self.scope, expected=Revision(expected), table=sheets, token=random_token()
        )

    def set_rows(self, expected: int, rows: list[list[str]]) -> None:
        """Replace the rows of the table's sheet."""
        self.set_sheets(expected, {"sheets": [{**SHEETS["sheets"][0], "rows": rows}]})

    def days(self) -> list[str]:
        """Return the first column of the table."""
        document = read_table(self.engine, scope=self.scope).document
        return [row.cells[0] for row in document.sheets[0].rows] if document else []

    def table_at(self) -> tuple[int, int]:
        """Return the table's revision, and the round through which replies are in it."""
        record = read_table(self.engine, scope=self.scope)
        return record.revision, record.through_round

    def entries(self) -> list[DiaryEntry]:
        """Return the diary's entries, oldest first."""
        key = diary_head_key(self.scope, AGENT)
        head = read_diary_head(read_document(self.records.records.read(key).get(key)))
        found = diary.newest_entries(self.records.records, self.scope, AGENT, head=head)
        return [entry for entry in found if isinstance(entry, DiaryEntry)][::-1]

    def ranges(self) -> list[tuple[int, int]]:
        """Return the rounds of the diary's entries."""
        return [(entry.first_round, entry.last_round) for entry in self.entries()]

    def watermark(self) -> int:
        """Return the round through which the diary is written."""
        key = diary_head_key(self.scope, AGENT)
        return read_diary_head(read_document(self.records.records.read(key).get(key))).watermark

    def recall(self, category: str | None = None) -> list[int]:
        """Return the end rounds of the entries that the next turn gets back."""
        recalled = diary.recall(self.engine, scope=self.scope, subscription_category=category)
        return [entry.last_round for entry in recalled.entries]

    def delete_entry(self, end_round: int) -> None:
        """Delete an entry, as its user does."""
        diary.delete_entry(self.engine, scope=self.scope, end_round=end_round, token=random_token())

    def edit_entry(self, end_round: int, summary: str) -> DiaryEntry:
        """Put a text of the user's into an entry."""
        return diary.edit_entry(
            self.engine,
            scope=self.scope,
            end_round=end_round,
            summary=summary,
            diary="",
            expected_version=None,
            token=random_token(),
        )

    def _store(self) -> Records:
        if self.client is None:
            return InMemoryRecords(clock=self.clock)
        return DynamoDbRecords(client=self.client, table_name=TABLE_NAME, clock=self.clock)
