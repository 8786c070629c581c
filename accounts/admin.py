"""What maintainers see of people and teams. Tokens can be revoked here, never read."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.http import HttpRequest

from accounts.models import ApiToken, Membership, Team, User


@admin.register(User)
class UserAdmin(DjangoUserAdmin):  # type: ignore[type-arg]  # generic in the stubs only
    """Django's own, by e-mail address instead of a name."""

    ordering = ("email",)
    list_display = ("email", "is_staff", "is_active", "date_joined")
    search_fields = ("email",)
    fieldsets = (
        (None, {"fields": ("email", "password")}),
        ("Rights", {"fields": ("is_active", "is_staff", "is_superuser", "groups", "user_permissions")}),
        ("Dates", {"fields": ("last_login", "date_joined")}),
    )
    add_fieldsets = ((None, {"classes": ("wide",), "fields": ("email", "password1", "password2")}),)


class MembershipInline(admin.TabularInline):  # type: ignore[type-arg]  # generic in the stubs only
    """A team's people."""

    model = Membership
    extra = 0


@admin.register(Team)
class TeamAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # generic in the stubs only
    """Teams and who is in them."""

    list_display = ("name", "slug", "created_at")
    search_fields = ("name", "slug")
    inlines = (MembershipInline,)


@admin.register(ApiToken)
class ApiTokenAdmin(admin.ModelAdmin):  # type: ignore[type-arg]  # generic in the stubs only
    """Tokens, to revoke."""

    list_display = ("name", "user", "hint", "created_at", "last_used_at")
    readonly_fields = ("user", "name", "digest", "hint", "created_at", "last_used_at")
    search_fields = ("user__email", "name")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False
