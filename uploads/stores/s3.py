"""Resumable uploads in S3-compatible storage: a multipart upload whose parts are whole blocks.

What does not fill a block yet is a small object of its own, replaced as it grows. A block waits in a file without a
name on this machine until it is sent, so memory stays small. Credentials come from the usual environment of AWS.
"""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from evaluator.digests import BLOCK

PREFIX = "resumable"
PIECE = 2**20


@contextmanager
def _as_os_error() -> Iterator[None]:
    """Turn what the service says into the one kind of error that stores have."""
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise OSError(f"the storage service: {error}") from error


def _is_missing(error: ClientError) -> bool:
    return str(error.response["Error"]["Code"]) in ("404", "NoSuchKey", "NoSuchUpload")


class S3Store:
    """Objects below ``s3://bucket/prefix``. ``endpoint``: the service's address, "" for Amazon's own."""

    def __init__(self, where: str, endpoint: str, folder: Path) -> None:
        place = urlsplit(where)
        self.bucket = place.netloc
        self._prefix = f"{place.path.strip('/')}/".lstrip("/")
        self.folder = folder
        config = Config(retries={"mode": "standard", "total_max_attempts": 4}, connect_timeout=5, read_timeout=60)
        self.client: Any = boto3.client("s3", endpoint_url=endpoint or None, config=config)

    def key(self, name: str) -> str:
        """Return the key of a stored name."""
        return self._prefix + name

    def of(self, name: str) -> dict[str, str]:
        """Return the arguments that name an object."""
        return {"Bucket": self.bucket, "Key": self.key(name)}

    def begin(self, name: str) -> dict[str, Any]:
        with _as_os_error():
            made = self.client.create_multipart_upload(**self.of(name))
        return {"id": made["UploadId"], "done": [], "next": 1, "rest": ""}

    @contextmanager
    def write(self, name: str, parts: Mapping[str, Any], offset: int, fence: Callable[[], None]) -> Iterator[S3Writing]:
        with _as_os_error(), tempfile.TemporaryFile(dir=self.folder) as spool:
            self._clear(name, but=parts["rest"])
            yield S3Writing(self, name, parts, spool, fence)

    def _clear(self, name: str, but: str = "") -> None:
        """Delete rests that have grown into others: only now, when the row no longer names them."""
        for found in self._objects(f"{self.key(name)}."):
            if found["Key"] != self.key(but):
                self.client.delete_object(Bucket=self.bucket, Key=found["Key"])

    def overtake(self, parts: Mapping[str, Any]) -> dict[str, Any]:
        """Leave out a number: a request that was overtaken may still be sending its part under it."""
        return {**parts, "next": parts["next"] + 1}

    def finish(self, name: str, parts: Mapping[str, Any]) -> None:
        if self.exists(name):
            return
        done = [{"PartNumber": number, "ETag": tag} for number, tag in parts["done"]]
        with _as_os_error():
            self.client.complete_multipart_upload(
                **self.of(name), UploadId=parts["id"], MultipartUpload={"Parts": done}
            )
            self._clear(name)

    def remove(self, name: str, parts: Mapping[str, Any]) -> None:
        with _as_os_error():
            for upload in self._open_uploads(self.key(name)):
                with suppress(self.client.exceptions.NoSuchUpload):
                    self.client.abort_multipart_upload(**self.of(name), UploadId=upload["UploadId"])
            for found in self._objects(self.key(name)):
                self.client.delete_object(Bucket=self.bucket, Key=found["Key"])

    def exists(self, name: str) -> bool:
        with _as_os_error():
            try:
                self.client.head_object(**self.of(name))
            except ClientError as error:
                if _is_missing(error):
                    return False
                raise
        return True

    def head(self, name: str, size: int) -> bytes:
        with _as_os_error():
            return bytes(self.client.get_object(**self.of(name), Range=f"bytes=0-{size - 1}")["Body"].read())

    def fetch(self, name: str, folder: Path) -> Path:
        path = folder / name.rpartition("/")[2]
        with _as_os_error():
            self.client.download_file(self.bucket, self.key(name), str(path))
        return path

    def older(self, limit: datetime) -> Iterator[str]:
        start = self.key(f"{PREFIX}/")
        with _as_os_error():
            old = {each["Key"] for each in self._objects(start) if each["LastModified"] < limit}
            old |= {each["Key"] for each in self._open_uploads(start) if each["Initiated"] < limit}
        yield from sorted({key.removeprefix(self._prefix).partition(".")[0] for key in old})

    def _objects(self, start: str) -> Iterator[Any]:
        for page in self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=start):
            yield from page.get("Contents", ())

    def _open_uploads(self, start: str) -> Iterator[Any]:
        for page in self.client.get_paginator("list_multipart_uploads").paginate(Bucket=self.bucket, Prefix=start):
            yield from page.get("Uploads", ())


class S3Writing:
    """The open end of a multipart upload. A part is asked the fence first; its number is never used by two writers."""

    def __init__(
        self, store: S3Store, name: str, parts: Mapping[str, Any], spool: IO[bytes], fence: Callable[[], None]
    ) -> None:
        self._store = store
        self._name = name
        self._id = parts["id"]
        self._done = list(parts["done"])
        self._next = int(parts["next"])
        self._rest = str(parts["rest"])
        self._spool = spool
        self._fence = fence

    def rest(self) -> Iterator[bytes]:
        if not self._rest:
            return
        body = self._store.client.get_object(**self._store.of(self._rest))["Body"]
        for piece in body.iter_chunks(PIECE):
            self._spool.write(piece)
            yield piece

    def append(self, piece: bytes) -> None:
        self._spool.write(piece)
        if self._spool.tell() == BLOCK:
            self._send_part()

    def settle(self, *, last: bool) -> dict[str, Any]:
        if last and self._spool.tell():
            self._send_part()
        self._rest = self._send_rest()
        return {"id": self._id, "done": self._done, "next": self._next, "rest": self._rest}

    def _send_part(self) -> None:
        self._fence()
        self._spool.seek(0)
        number, self._next = self._next, self._next + 1
        sent = self._store.client.upload_part(
            **self._store.of(self._name), UploadId=self._id, PartNumber=number, Body=self._spool
        )
        self._done = [*self._done, [number, sent["ETag"]]]
        self._spool.seek(0)
        self._spool.truncate()

    def _send_rest(self) -> str:
        """Keep what does not fill a block, under a name of its own: the row may never learn of it."""
        if not self._spool.tell():
            return ""
        self._fence()
        name = f"{self._name}.{uuid.uuid4().hex}"
        at = self._spool.tell()
        self._spool.seek(0)
        self._store.client.put_object(**self._store.of(name), Body=self._spool)
        self._spool.seek(at)
        return name
