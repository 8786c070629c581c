"""What a person may write about themselves, and the name of a token."""

from __future__ import annotations

from typing import ClassVar

from django import forms

from accounts.models import Team


class TeamForm(forms.ModelForm):  # type: ignore[type-arg]  # generic in the stubs only
    """The name of a team, which boards show."""

    class Meta:
        model = Team
        fields = ("name",)
        labels: ClassVar = {"name": "Name on the boards"}
        help_texts: ClassVar = {"name": "Shown beside your published entries. Your e-mail address never is."}

    def clean_name(self) -> str:
        """Refuse a name that is another team's, or that turns or hides characters so as to read like one."""
        name = " ".join(str(self.cleaned_data["name"]).split())
        if not name.isprintable():
            raise forms.ValidationError("Leave out the unprintable characters.")
        if Team.objects.filter(name__iexact=name).exclude(pk=self.instance.pk).exists():
            raise forms.ValidationError("Another team has this name.")
        return name


class TokenForm(forms.Form):
    """A new token: only what it is for."""

    name = forms.CharField(
        max_length=60, label="What is it for?", help_text="For example the machine that will use it. Only you see this."
    )
