"""Settings, all from the environment (``docs/settings.md`` lists them). Without any, the embedded defaults run:
SQLite in WAL mode, Celery over a folder, mail written to files, state in ``var/``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from config.environment import BASE_DIR, choice, flag, image_addresses, secret_key, text, whole, words
from evaluator import __version__ as EVALUATOR_VERSION  # noqa: N812 (a setting is upper case)

PRODUCTION = choice("MODE", "embedded", ("embedded", "production")) == "production"
DEBUG = flag("DEBUG", default=False)
if PRODUCTION and DEBUG:
    raise ImproperlyConfigured("CIRBOARD_DEBUG shows secrets on error pages: it cannot be on in production.")

VAR = Path(text("VAR", str(BASE_DIR / "var")))
"""Everything that is state on this machine."""
SECRET_KEY = secret_key(VAR, production=PRODUCTION)
SITE_URL = text("SITE_URL", "http://localhost:8000").rstrip("/")
SITE_NAME = "cirboard"

# ── Web ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
ALLOWED_HOSTS = words("ALLOWED_HOSTS", () if PRODUCTION else ("localhost", "127.0.0.1", "[::1]"))
if PRODUCTION and not ALLOWED_HOSTS:
    raise ImproperlyConfigured("Set CIRBOARD_ALLOWED_HOSTS to the names this site is served under.")
CSRF_TRUSTED_ORIGINS = words("CSRF_TRUSTED_ORIGINS")
INSTALLED_APPS = [
    "accounts",
    "leaderboard",
    "uploads",
    "submissions",
    "audit",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "csp",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "leaderboard" / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]
STATIC_URL = "static/"
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "leaderboard.finders.PlotlyFinder",
]
STATIC_ROOT = VAR / "static"
STORAGES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": VAR / "files"}},
    "staticfiles": {
        # Compressing takes most of a minute, and only pays on a network.
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if PRODUCTION
        else "django.contrib.staticfiles.storage.ManifestStaticFilesStorage"
    },
}
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": ["'self'"],
        "img-src": ["'self'", "data:"],
        "object-src": ["'none'"],
        "base-uri": ["'self'"],
        "form-action": ["'self'"],
        "frame-ancestors": ["'none'"],
    }
}
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = PRODUCTION
SECURE_HSTS_SECONDS = whole("HSTS_SECONDS", 31_536_000) if PRODUCTION else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = PRODUCTION
if PRODUCTION:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 2**20
FILE_UPLOAD_MAX_MEMORY_SIZE = 2**20
FILE_UPLOAD_TEMP_DIR = None

# ── Database ─────────────────────────────────────────────────────────────────────────────────────────────────────────
DATABASES = {"default": dj_database_url.parse(text("DATABASE_URL", f"sqlite:///{VAR / 'cirboard.sqlite3'}"))}
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["OPTIONS"] = {
        "timeout": 20,
        "transaction_mode": "IMMEDIATE",  # a transaction that will write takes its lock at once, so none is upgraded
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;",
    }
else:
    DATABASES["default"]["CONN_MAX_AGE"] = 60
    DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
USE_I18N = False

# ── Accounts ─────────────────────────────────────────────────────────────────────────────────────────────────────────
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*", "password2*"]
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_EMAIL_VERIFICATION = choice("EMAIL_VERIFICATION", "optional", ("none", "optional", "mandatory"))
ACCOUNT_ADAPTER = "accounts.adapter.AccountAdapter"
ACCOUNT_EMAIL_SUBJECT_PREFIX = f"[{SITE_NAME}] "
LOGIN_REDIRECT_URL = "submissions:list"
LOGIN_URL = "account_login"
DEFAULT_FROM_EMAIL = text("MAIL_FROM", "cirboard@localhost")
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if text('MAIL_HOST') else 'filebased'}.EmailBackend"
EMAIL_FILE_PATH = VAR / "mail"
EMAIL_HOST = text("MAIL_HOST", "localhost")
EMAIL_PORT = whole("MAIL_PORT", 25, least=1, most=65_535)
EMAIL_HOST_USER = text("MAIL_USER")
EMAIL_HOST_PASSWORD = text("MAIL_PASSWORD")
EMAIL_USE_TLS = flag("MAIL_TLS", default=False)

# ── API ──────────────────────────────────────────────────────────────────────────────────────────────────────────────
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "accounts.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticatedOrReadOnly"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_PAGINATION_CLASS": "rest_framework.pagination.LimitOffsetPagination",
    "PAGE_SIZE": 100,
    "STRICT_JSON": True,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "cirboard",
    "DESCRIPTION": "Submit rankings for composed image retrieval and read the boards.",
    "VERSION": EVALUATOR_VERSION,
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "ENUM_NAME_OVERRIDES": {
        "SubmissionStateEnum": "submissions.models.Submission.State",
        "EvaluationStateEnum": "submissions.models.Evaluation.State",
    },
}

# ── Submissions: every limit in one place ────────────────────────────────────────────────────────────────────────────
UPLOAD_MAX_BYTES = whole("UPLOAD_MAX_BYTES", 64 * 2**20, least=1024)
"""One ranking file as uploaded. PinPoint's is 14 MB of JSON."""
UNPACKED_MAX_BYTES = whole("UNPACKED_MAX_BYTES", 200_000_000, least=1024)
"""What it may unpack to, as on the command line (``evaluator.formats.Limits``)."""
VECTORS_MAX_BYTES = whole("VECTORS_MAX_BYTES", 4 * 2**30, least=1024)
"""One file of vectors. 4,096 float16 dimensions of CIRCO's or PinPoint's gallery are 1 GB."""
VECTORS_KEEP_DAYS = whole("VECTORS_KEEP_DAYS", 30, least=0)
"""How long vectors stay after they were scored (decision 26)."""
UPLOADS_MAX_BYTES = whole("UPLOADS_MAX_BYTES", 16 * 2**30, least=1024)
"""What a team's resumable uploads may announce together, until they are submitted."""
UPLOAD_EXPIRES_SECONDS = whole("UPLOAD_EXPIRES_SECONDS", 24 * 3600, least=60)
"""A resumable upload that got no part for so long is swept."""
UPLOAD_STORE = text("UPLOAD_STORE", "disk")
"""Where resumable uploads lie: ``disk`` is the state folder; ``s3://bucket/prefix`` needs the extra s3."""
if UPLOAD_STORE != "disk" and not UPLOAD_STORE.startswith("s3://"):
    raise ImproperlyConfigured("CIRBOARD_UPLOAD_STORE is neither `disk` nor an address such as s3://bucket/prefix.")
UPLOAD_ENDPOINT = text("UPLOAD_ENDPOINT")
"""Address of an S3-compatible service other than Amazon's."""
QUOTA_PER_DAY = whole("QUOTA_PER_DAY", 10, least=1)
"""Submissions a team may have scored on one board in a UTC day, unless the board says otherwise (decision 28)."""
FREE_PER_HOUR = whole("FREE_PER_HOUR", 30, least=1)
"""Submissions that cost no quota (invalid, only checked, cancelled) a team may send in an hour: a limit of their own
(decision 25)."""
EVALUATION_SECONDS = whole("EVALUATION_SECONDS", 600, least=5)
"""The one number that all time limits of a task derive from: how long one attempt may take."""
RANKING_SECONDS = whole("RANKING_SECONDS", 3600, least=5)
"""The same for embeddings, on the queue gpu: ranking them over a whole gallery takes longer."""
READ_SECONDS = whole("READ_SECONDS", 120, least=1)
READ_MEMORY_BYTES = whole("READ_MEMORY_BYTES", 2 * 2**30, least=2**28)
"""What the child that parses a file may use."""
ATTEMPTS = 3
LEASE_SECONDS = whole("LEASE_SECONDS", 90, least=1)
"""A claim that was not renewed for so long was made by a worker that is gone. A running one renews it at every step."""
QUEUE_SECONDS = whole("QUEUE_SECONDS", 24 * 3600, least=60)
"""How long a submission or evaluation may wait for a worker before it becomes a failure of ours (decision 27)."""
SWEEP_SECONDS = whole("SWEEP_SECONDS", 30, least=1)
SWEEPS = ("submissions.services.sweep.sweep", "audit.services.sweep.sweep")
"""What ``manage.py sweep`` and every worker's start run, in this order."""
RESEND_SECONDS = whole("RESEND_SECONDS", 60, least=0)
"""A message sent that long ago, whose row still waits beside a living worker, may be lost: the sweep sends it again."""
WORKER_SILENCE_SECONDS = 30
"""A worker that has not been heard of for so long counts as gone on the status page."""

# ── Audit ────────────────────────────────────────────────────────────────────────────────────────────────────────────
IMAGES = Path(text("IMAGES", str(VAR / "images")))
"""The pictures of splits, where the maintainer has them: one folder a split, named like its board."""
SHOW_IMAGES = words("SHOW_IMAGES")
"""Boards whose pictures everybody may see, beside the demo's: where their licence allows it."""
IMAGE_URLS = image_addresses(text("IMAGE_URLS", "{}"))
"""Board -> where another host shows its images, for boards without pictures here."""
QUERY_FACTS = ("audit.selectors.query_facts.facts",)
"""What the page of a query asks other apps for: see ``leaderboard.query_hooks``. They lie above it in the layers."""
QUERY_CLASSES = ("audit.selectors.query_facts.classes",)
QUERY_PANELS = ("submissions.query_panels.panels",)
AUDIT_SECONDS = whole("AUDIT_SECONDS", 7 * 24 * 3600, least=60)
"""How long one attempt at running an encoder over a split may take. What it finished is kept."""

# ── Celery ───────────────────────────────────────────────────────────────────────────────────────────────────────────
CELERY_BROKER_URL = text("BROKER_URL", "filesystem://localhost")
BROKER_FOLDER = VAR / "broker"
if CELERY_BROKER_URL.startswith("filesystem"):
    for _folder in ("messages", "control", "processed"):
        (BROKER_FOLDER / _folder).mkdir(parents=True, exist_ok=True)
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {
        "data_folder_in": str(BROKER_FOLDER / "messages"),
        "data_folder_out": str(BROKER_FOLDER / "messages"),  # one folder for both sides, or nobody meets
        "control_folder": str(BROKER_FOLDER / "control"),
        "processed_folder": str(BROKER_FOLDER / "processed"),
        "store_processed": False,
        "polling_interval": 0.2,
    }
else:
    CELERY_BROKER_TRANSPORT_OPTIONS = {
        "visibility_timeout": max(EVALUATION_SECONDS, RANKING_SECONDS) + 90,
        "socket_connect_timeout": 3,  # a broker that is away must not hold up an upload: the sweep sends it later
        "max_retries": 1,
        "interval_start": 0,
        "interval_step": 0.1,
        "interval_max": 0.1,
        "unacked_restore_interval": 2,  # without these two, redelivery after a kill takes minutes
        "unacked_restore_throttle": 1,
    }
CELERY_TASK_IGNORE_RESULT = True  # the row is the truth
CELERY_TASK_PUBLISH_RETRY = False  # the sweep is the retry
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_DEFAULT_QUEUE = "cpu"
CELERY_TASK_SOFT_TIME_LIMIT = EVALUATION_SECONDS
CELERY_TASK_TIME_LIMIT = EVALUATION_SECONDS + 30
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

# ── Logging ──────────────────────────────────────────────────────────────────────────────────────────────────────────
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"subject": {"()": "config.logs.SubjectFilter"}},
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s [%(subject)s] %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["subject"]}},
    "loggers": {
        # Celery's own line for each task knows nothing of what it was about; ours say the same and more.
        "celery.worker.strategy": {"level": "WARNING"},
        "celery.app.trace": {"level": "WARNING"},
    },
    "root": {"handlers": ["stderr"], "level": choice("LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR"))},
}
