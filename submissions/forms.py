"""The upload form of a board: one to three runs, a method, and what an author must say (decisions 22 and 30)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.utils.datastructures import MultiValueDict

from evaluator.types import Condition, Protocol
from leaderboard.declarations import DECLARATIONS, Declaration
from submissions.services.declared import LONGEST
from submissions.services.methods import LONGEST_NAME
from submissions.services.uploads import field_of

ADDRESS = "An address that begins with https:// or http://."

RUN_WORDS: dict[Condition, tuple[str, str]] = {
    Condition.MULTIMODAL: (
        "Ranking, multimodal",
        "The method as it is meant: the reference and the text. This run ranks the board.",
    ),
    Condition.TEXT_ONLY: (
        "Ranking, text only",
        "The reference replaced by a black image of the same size, the text kept. Shows what the text alone solves.",
    ),
    Condition.IMAGE_ONLY: (
        "Ranking, image only",
        "The text empty, without any instruction. Shows what the image alone solves.",
    ),
}
WHY: dict[str, str] = {
    "supervision": "Zero-shot: no training triplets of this task, from anywhere. Readers filter by this first.",
    "training_overlap": "Anything seen in training that these benchmarks were made from. Say “unknown” rather than "
    "“none” where a backbone's training data is not public.",
    "query_text": "Rewriting a query, or adding CIRCO's shared concept, changes the task: numbers compare within one "
    "text only.",
    "system": "A reranked or combined system costs more and is read beside others of its kind.",
    "weights": "Whether others can run it.",
}


class UploadForm(forms.Form):
    """What is sent for one board. Only shape is looked at here; the file is read by a worker."""

    method = forms.CharField(
        max_length=LONGEST_NAME,
        label="Name",
        help_text="A name that your team has used adds to that method; another one makes a new method.",
        widget=forms.TextInput(attrs={"list": "methods", "autocomplete": "off"}),
    )
    paper_url = forms.CharField(required=False, max_length=200, label="Paper", widget=forms.URLInput, help_text=ADDRESS)
    code_url = forms.CharField(required=False, max_length=200, label="Code", widget=forms.URLInput, help_text=ADDRESS)

    check_only = forms.BooleanField(required=False, widget=forms.HiddenInput)
    """The second button: a dry run."""

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        files: MultiValueDict[str, Any] | None = None,
        *,
        protocol: Protocol,
    ) -> None:
        super().__init__(data, files)
        self.label_suffix = ""
        for condition in Condition:
            self._add_run(condition, protocol)
        for declaration in DECLARATIONS:
            self.fields[declaration.key] = _declaration_field(declaration)
        self.fields["query_text_note"] = forms.CharField(
            required=False, max_length=LONGEST, label="How was the query text changed?"
        )
        self.fields["backbone"] = forms.CharField(
            max_length=LONGEST, label="Backbone", help_text="For example CLIP ViT-L/14."
        )
        self.fields["parameters"] = forms.FloatField(
            required=False, label="Parameters, in millions", help_text="Of everything that runs at query time."
        )

    def _add_run(self, condition: Condition, protocol: Protocol) -> None:
        label, help_text = RUN_WORDS[condition]
        required = condition is Condition.MULTIMODAL
        self.fields[field_of(condition, 0)] = forms.FileField(required=required, label=label, help_text=help_text)
        if protocol.member_list_length:
            self.fields[field_of(condition, 1)] = forms.FileField(
                required=False,
                label=f"{label}: subset file",
                help_text=f"CIRR's second file, {protocol.member_list_length} images for each query. Without it "
                "Recall_subset comes from the main list, where that holds the whole image set.",
            )

    def clean(self) -> dict[str, Any]:
        """Refuse a subset file without its main file."""
        cleaned = super().clean() or self.cleaned_data
        for condition in Condition:
            main, subset = field_of(condition, 0), field_of(condition, 1)
            if cleaned.get(subset) and not cleaned.get(main):
                self.add_error(main, "A subset file needs its main file.")
        return cleaned

    @property
    def runs(self) -> dict[Condition, list[Any]]:
        """The uploaded files by condition, the main file first."""
        runs = {}
        for condition in Condition:
            names = (field_of(condition, 0), field_of(condition, 1))
            if files := [self.cleaned_data[name] for name in names if self.cleaned_data.get(name)]:
                runs[condition] = files
        return runs

    @property
    def declared(self) -> dict[str, Any]:
        """What the author said."""
        keys = [*(declaration.key for declaration in DECLARATIONS), "query_text_note", "backbone", "parameters"]
        return {key: self.cleaned_data[key] for key in keys if self.cleaned_data[key] not in (None, "", [])}

    def note_refusal(self, messages: Mapping[str, Sequence[str]]) -> None:
        """Put the service's objections next to their fields; what belongs to none goes on top."""
        for name, lines in messages.items():
            for line in lines:
                self.add_error(name if name in self.fields else None, line)

    @property
    def run_fields(self) -> list[forms.BoundField]:
        """The file fields, for the template."""
        return [self[name] for name, field in self.fields.items() if isinstance(field, forms.FileField)]

    @property
    def method_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in ("method", "paper_url", "code_url")]

    @property
    def declaration_fields(self) -> list[forms.BoundField]:
        keys = [declaration.key for declaration in DECLARATIONS]
        keys.insert(keys.index("query_text") + 1, "query_text_note")
        return [self[name] for name in (*keys, "backbone", "parameters")]


def _declaration_field(declaration: Declaration) -> forms.Field:
    words: dict[str, Any] = {
        "label": declaration.question,
        "choices": list(declaration.choices.items()),
        "help_text": " ".join(part for part in (WHY.get(declaration.key, ""), declaration.note) if part),
    }
    if declaration.several:
        return forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple, **words)
    return forms.ChoiceField(widget=forms.RadioSelect, **words)
