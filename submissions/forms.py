"""The upload forms of a board: files, a method, and what an author must say (decisions 22, 26 and 30)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from django import forms
from django.template.defaultfilters import filesizeformat
from django.utils.datastructures import MultiValueDict

from evaluator.types import Condition, Protocol, Similarity
from leaderboard.declarations import DECLARATIONS, Declaration
from submissions.models import SentFile, Submission
from submissions.services.declared import LONGEST
from submissions.services.fields import Field, condition_field, fields_of, upload_field
from submissions.services.methods import LONGEST_NAME
from submissions.services.package import Package

ADDRESS = "An address that begins with https:// or http://."

_RUNS: dict[Condition, tuple[str, str]] = {
    Condition.MULTIMODAL: (
        "multimodal",
        "The method as it is meant: the reference and the text. This run ranks the board.",
    ),
    Condition.TEXT_ONLY: (
        "text only",
        "The reference replaced by a black image of the same size, the text kept. Shows what the text alone solves.",
    ),
    Condition.IMAGE_ONLY: (
        "image only",
        "The text empty, without any instruction. Shows what the image alone solves.",
    ),
}
"""Condition -> what it is called at its file, and what it shows."""
SUBSET = (
    "CIRR's second file, the images of the query's image set. Without it Recall_subset comes from the main list, where "
    "that holds the whole image set."
)
IDS = "One id a row, in the order of the vectors: a line each, or a JSON list. Only where the file has none, as .npy."
SIMILARITIES = {
    Similarity.COSINE: "Cosine: vectors are scaled to length 1 here",
    Similarity.INNER_PRODUCT: "Inner product: vectors are compared as they are",
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
    """What is sent for one board. Only shape is looked at here; the files are read by a worker."""

    kind: ClassVar[Submission.Kind]

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
        self.places = fields_of(self.kind, protocol)
        for place in self.places:
            self.add_file(place)
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

    def add_file(self, place: Field) -> None:
        """Add the field or fields of one file."""
        raise NotImplementedError

    @property
    def given_files(self) -> dict[str, Any]:
        """The files that came with the form, by field."""
        found = {place.name: self.cleaned_data.get(place.name) for place in self.places}
        return {name: file for name, file in found.items() if file is not None}

    @property
    def package(self) -> Package:
        """The files as the service takes them."""
        raise NotImplementedError

    @property
    def declared(self) -> dict[str, Any]:
        """What the author said."""
        keys = [*(declaration.key for declaration in DECLARATIONS), "query_text_note", "backbone", "parameters"]
        return {key: self.cleaned_data[key] for key in keys if self.cleaned_data[key] not in (None, "", [])}

    def note_refusal(self, messages: Mapping[str, Sequence[str]]) -> None:
        """Put the service's objections next to their fields; what belongs to none goes on top.

        A field that has an error of its own keeps it alone.
        """
        for name, lines in [(name, lines) for name, lines in messages.items() if name not in self.errors]:
            for line in lines:
                self.add_error(name if name in self.fields else None, line)

    @property
    def method_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in ("method", "paper_url", "code_url")]

    @property
    def declaration_fields(self) -> list[forms.BoundField]:
        keys = [declaration.key for declaration in DECLARATIONS]
        keys.insert(keys.index("query_text") + 1, "query_text_note")
        return [self[name] for name in (*keys, "backbone", "parameters")]


class RankingsForm(UploadForm):
    """One to three runs, each a ranking or a judged-ranks file (decision 22)."""

    kind = Submission.Kind.RANKINGS

    def add_file(self, place: Field) -> None:
        if place.condition is None:
            return
        title, shows = _RUNS[place.condition]
        if place.role == SentFile.Role.SUBSET:
            title, shows = f"{title}: subset file", SUBSET
        self.fields[place.name] = forms.FileField(
            required=place.name == "multimodal", allow_empty_file=True, label=f"Ranking, {title}", help_text=shows
        )

    @property
    def package(self) -> Package:
        return Package(files=self.given_files)

    @property
    def run_fields(self) -> list[forms.BoundField]:
        """The file fields, for the template."""
        return [self[place.name] for place in self.places]


class VectorsForm(UploadForm):
    """Vectors of the gallery, and of the queries under one to three conditions.

    Each file may come with the form or, while the rest is filled in, as a resumable upload whose id the form holds.
    """

    kind = Submission.Kind.EMBEDDINGS
    similarity = forms.ChoiceField(
        label="How are vectors compared?",
        choices=list(SIMILARITIES.items()),
        initial=Similarity.COSINE,
        widget=forms.RadioSelect,
        help_text="It stands on the entry.",
    )
    gallery_digest = forms.CharField(required=False, label="Gallery sent before")

    def __init__(self, *arguments: Any, galleries: Sequence[SentFile] = (), **words: Any) -> None:
        super().__init__(*arguments, **words)
        self.fields["gallery_digest"].widget = _EarlierGalleries(galleries)
        self.fields[
            "gallery_digest"
        ].help_text = "Vectors of the gallery are sent once for each method and split; they are kept for some weeks."

    def add_file(self, place: Field) -> None:
        run, shows = _RUNS[place.condition] if place.condition else ("", "Vectors of all images of the gallery.")
        label = f"Queries, {run}" if run else "Gallery"
        self.fields[place.name] = forms.FileField(
            required=False,
            allow_empty_file=True,
            widget=forms.FileInput(attrs={"data-resumable-field": True}),
            label=f"{label}: ids" if place.holds_ids else label,
            help_text=IDS if place.holds_ids else shows,
        )
        self.fields[place.upload] = forms.CharField(required=False, widget=forms.HiddenInput, max_length=500)

    @property
    def package(self) -> Package:
        return Package(
            kind=self.kind,
            similarity=self.cleaned_data.get("similarity", Similarity.COSINE),
            files=self.given_files,
            uploads={place.name: self.cleaned_data[place.upload] for place in self.places if self._named(place)},
            gallery_digest=self.cleaned_data.get("gallery_digest", ""),
        )

    def _named(self, place: Field) -> bool:
        return bool(self.cleaned_data.get(place.upload)) and place.name not in self.given_files

    @property
    def gallery_fields(self) -> VectorFields:
        """The fields of the gallery, for the template."""
        return VectorFields.of(self, "gallery")

    @property
    def query_fields(self) -> list[VectorFields]:
        """The fields of each condition, for the template."""
        return [VectorFields.of(self, condition_field(condition)) for condition in Condition]


@dataclass(frozen=True)
class VectorField:
    """A file field and the hidden one that takes the id of its resumable upload."""

    file: forms.BoundField
    upload: forms.BoundField
    needed: bool = False

    @property
    def in_use(self) -> bool:
        """Whether there is something to see in it."""
        return bool(self.file.errors or self.upload.value())


@dataclass(frozen=True)
class VectorFields:
    """Vectors, and the list of their ids, which most files do without."""

    vectors: VectorField
    ids: VectorField

    @classmethod
    def of(cls, form: forms.Form, name: str) -> VectorFields:
        ids = f"{name}_ids"
        vectors = VectorField(form[name], form[upload_field(name)], name in ("gallery", "multimodal"))
        return cls(vectors, VectorField(form[ids], form[upload_field(ids)]))


class _EarlierGalleries(forms.Select):
    """A choice among galleries that a team has sent; the script of the page knows them by their digest."""

    def __init__(self, galleries: Sequence[SentFile]) -> None:
        words = {gallery.digest: _gallery_words(gallery) for gallery in galleries}
        super().__init__(choices=[("", "None: send a file"), *words.items()])

    def create_option(self, name: str, value: Any, *arguments: Any, **words: Any) -> dict[str, Any]:
        option = super().create_option(name, value, *arguments, **words)
        if value:
            option["attrs"]["data-digest"] = value
        return option


def _gallery_words(gallery: SentFile) -> str:
    sent = gallery.submission
    return f"{gallery.name}, {filesizeformat(gallery.size)}, sent for {sent.split.name} on {sent.received_at:%Y-%m-%d}"


def _declaration_field(declaration: Declaration) -> forms.Field:
    words: dict[str, Any] = {
        "label": declaration.question,
        "choices": list(declaration.choices.items()),
        "help_text": " ".join(part for part in (WHY.get(declaration.key, ""), declaration.note) if part),
    }
    if declaration.several:
        return forms.MultipleChoiceField(widget=forms.CheckboxSelectMultiple, **words)
    return forms.ChoiceField(widget=forms.RadioSelect, **words)
