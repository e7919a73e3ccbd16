"""Writers of diaries that answer what a test tells them to."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field

from memoir.domain.language_model import FinishReason, ModelAnswer
from memoir.errors import ModelFailed
from memoir.usecases.ask_model import WritingJob


def good(last_round: int) -> str:
    """Return a good answer for a range that ends there; no two ranges get the same."""
    told = {
        "summary": f"到第{last_round}天，守卫答应归还铜钥匙，阿莱娜说出了韩烈的名字。",
        "entry": f"第{last_round}天，我把钥匙藏进了靴筒里。",
    }
    return json.dumps(told, ensure_ascii=False)


Scripted = str | ModelAnswer | ModelFailed | Callable[[WritingJob], str]


@dataclass
class ScriptedWriter:
    """A writer: gives the answers of `script` one after the other, then good ones."""

    script: list[Scripted] = field(default_factory=list)
    jobs: list[WritingJob] = field(default_factory=list)

    def __call__(self, job: WritingJob) -> ModelAnswer:
        """Answer the next of the script."""
        self.jobs.append(job)
        said = self.script.pop(0) if self.script else good(job.rounds[-1].round)
        if isinstance(said, ModelFailed):
            raise said
        if isinstance(said, ModelAnswer):
            return said
        text = said if isinstance(said, str) else said(job)
        return ModelAnswer(text=text, finish=FinishReason.STOP, generator="scripted")
