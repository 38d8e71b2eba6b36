"""Model files: found on the disk or fetched over http(s), and verified before anybody reads them.

Fetched files live in a cache under their checksum and are verified again whenever they are used. A download is written
aside and renamed, so that an interrupted one leaves nothing behind and two at once do not disturb each other.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import os
import shlex
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit, urlunsplit

from buildtool import resources
from buildtool.config.deployment import FileRef
from buildtool.config.names import file_name_for
from buildtool.digests import sha256_of
from buildtool.errors import ModelFileError
from buildtool.wording import near_files, quoted

Progress = Callable[[int, int | None], None]  # bytes so far, and of how many if the server says

_SAVED_MODEL = "saved_model.pb"  # what stands for a folder of TensorFlow's
MAX_DOWNLOAD_BYTES = 4 << 30
TIMEOUT_SECONDS = 30.0
_CHUNK = 1 << 20
_SCHEMES = ("http", "https")
_MAX_NAME = 100


def resolve_model_file(
    ref: FileRef,
    *,
    cache_dir: Path | None = None,
    allow_unverified: bool = False,
    progress: Progress | None = None,
    max_bytes: int = MAX_DOWNLOAD_BYTES,
    timeout: float = TIMEOUT_SECONDS,
) -> Path:
    """The local path of a file whose content is what its checksum says. Raises ModelFileError.

    An address without a checksum is refused unless `allow_unverified`; such a file is fetched anew each time.
    """
    if not ref.is_url:
        return _local_file(ref)
    if not ref.sha256 and not allow_unverified:
        raise _fault(
            ref,
            f"{_shown(ref.location)} has no checksum",
            rule="files from the network must have a SHA-256 checksum",
            remedy="add the checksum to the deployment file, or pass --allow-unverified",
        )
    fetch = _Fetch(ref, progress, max_bytes, timeout)
    return fetch.into((cache_dir or resources.cache_dir()) / "downloads")


def _local_file(ref: FileRef) -> Path:
    path = Path(ref.location)
    try:
        if (path / _SAVED_MODEL).is_file():
            path /= _SAVED_MODEL
        if not path.exists():
            raise _fault(
                ref,
                f"there is no file {quoted(_shortened(ref.location))}",
                rule="relative paths start at the folder of the deployment file",
                remedy=_made_by(ref) or near_files(path) or "correct the path, or put the file there",
            )
        if not path.is_file():
            raise _fault(
                ref, f"{quoted(_shortened(ref.location))} is not a file", remedy="name the file itself, not its folder"
            )
        found = sha256_of(path) if ref.sha256 else ""
    except (OSError, ValueError) as error:
        raise _fault(ref, f"cannot read {quoted(_shortened(ref.location))}: {_reason(error)}") from None
    if found != ref.sha256:
        raise _wrong_checksum(ref, found)
    return path


def _made_by(ref: FileRef) -> str:
    """The command that writes a file of ranges. A model of nearly the same name is not what is missing."""
    path = Path(ref.location)
    if path.suffix != ".ranges":
        return ""
    shown = shlex.quote(ref.where.file) if ref.where.file else "DEPLOYMENT"
    others = near_files(path, ".ranges")
    return f"write it with: lathe quantize {shown} --inputs SAMPLES" + (f" ({others})" if others else "")


@dataclass(frozen=True)
class _Fetch:
    """One download."""

    ref: FileRef
    progress: Progress | None
    max_bytes: int
    timeout: float

    def into(self, cache: Path) -> Path:
        """The file in the cache, fetched if it is not there intact."""
        key = self.ref.sha256 or "unverified-" + hashlib.sha256(self.ref.location.encode()).hexdigest()
        name = file_name_for(unquote(urlsplit(self.ref.location).path).rpartition("/")[2] or "model")[-_MAX_NAME:]
        target = cache / key / (name.lstrip("-.+") or "model")
        try:
            if self.ref.sha256 and target.is_file() and sha256_of(target) == self.ref.sha256:
                return target
            target.parent.mkdir(parents=True, exist_ok=True)
            handle, aside = tempfile.mkstemp(prefix=".download-", dir=target.parent)
        except OSError as error:
            raise self._cache_fault(cache, error) from None
        try:
            with os.fdopen(handle, "wb") as file:
                found = self._download(file, cache)
            if self.ref.sha256 and found != self.ref.sha256:
                raise _wrong_checksum(self.ref, found)
            Path(aside).replace(target)
        except OSError as error:
            raise self._cache_fault(cache, error) from None
        finally:
            Path(aside).unlink(missing_ok=True)
        return target

    def _download(self, file: IO[bytes], cache: Path) -> str:
        """Writes the content and returns its checksum."""
        digest, received = hashlib.sha256(), 0
        with contextlib.closing(self._open()) as response:
            total = self._announced_size(response)
            while chunk := self._read(response):
                received += len(chunk)
                if received > self.max_bytes:
                    raise self._too_large()
                digest.update(chunk)
                try:
                    file.write(chunk)
                except OSError as error:
                    raise self._cache_fault(cache, error) from None
                if self.progress:
                    self.progress(received, total)
        if total is not None and received != total:
            what = f"{_shown(self.ref.location)} ended after {received} of {total} bytes"
            raise _fault(self.ref, what, remedy="try again")
        return digest.hexdigest()

    def _open(self) -> Any:
        opener = urllib.request.OpenerDirector()
        for handler in (
            urllib.request.ProxyHandler(),
            urllib.request.HTTPHandler(),
            urllib.request.HTTPSHandler(),
            urllib.request.HTTPDefaultErrorHandler(),
            urllib.request.HTTPErrorProcessor(),
            _CarefulRedirects(),
        ):
            opener.add_handler(handler)
        request = urllib.request.Request(
            self.ref.location, headers={"User-Agent": "lathe", "Accept-Encoding": "identity"}
        )
        try:
            response = opener.open(request, timeout=self.timeout)
        except _RefusedRedirect as refusal:
            rule = "a redirection may only lead to http:// or https://"
            raise _fault(self.ref, f"{_shown(self.ref.location)} redirects to {refusal.target}", rule=rule) from None
        except urllib.error.HTTPError as error:
            with contextlib.closing(error):
                what = f"the server refuses {_shown(self.ref.location)}: {error.code} {quoted(error.reason)}"
            raise _fault(self.ref, what, remedy="check the address") from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise self._network_fault(error) from None
        if response is None:
            raise _fault(self.ref, f"cannot fetch {_shown(self.ref.location)}: unknown kind of address")
        return response

    def _announced_size(self, response: Any) -> int | None:
        text = response.headers.get("Content-Length") or ""
        size = int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None
        if size is not None and size > self.max_bytes:
            raise self._too_large()
        return size

    def _read(self, response: Any) -> bytes:
        try:
            return bytes(response.read(_CHUNK))
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise self._network_fault(error) from None

    def _network_fault(self, error: Exception) -> ModelFileError:
        what = f"cannot fetch {_shown(self.ref.location)}: {_reason(error)}"
        return _fault(self.ref, what, remedy="check the address and the network, or use a local copy")

    def _cache_fault(self, cache: Path, error: OSError) -> ModelFileError:
        what = f"cannot use the cache folder {quoted(_shortened(str(cache)))}: {_reason(error)}"
        return _fault(self.ref, what, remedy="set LATHE_CACHE_DIR to a writable folder with free space")

    def _too_large(self) -> ModelFileError:
        return _fault(
            self.ref, f"{_shown(self.ref.location)} is too large", rule=f"a download has at most {self.max_bytes} bytes"
        )


class _RefusedRedirect(Exception):  # noqa: N818 - a message between two functions here, never shown
    def __init__(self, target: str) -> None:
        super().__init__(target)
        self.target = target


class _CarefulRedirects(urllib.request.HTTPRedirectHandler):
    """Follows a server's redirection nowhere but over http and https."""

    def http_error_302(self, req: Any, fp: Any, code: int, msg: str, headers: Any) -> Any:
        target = headers.get("location") or headers.get("uri") or ""
        try:
            scheme = urlsplit(target).scheme.lower()
        except ValueError:
            scheme = "unreadable"
        if scheme and scheme not in _SCHEMES:  # without a scheme it stays on the same server
            fp.close()
            raise _RefusedRedirect(_shown(target))
        return super().http_error_302(req, fp, code, msg, headers)

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


def _shown(url: str) -> str:
    """An address without what may be secret: user, password and query."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        return quoted(_shortened(urlunsplit((parts.scheme, host, parts.path, "", ""))))
    except ValueError:
        return "the address"


def _shortened(text: str, limit: int = 58) -> str:
    """The end of a long path tells more than its beginning."""
    return text if len(text) <= limit else "..." + text[3 - limit :]


def _reason(error: Exception) -> str:
    inner = getattr(error, "reason", None)
    if isinstance(inner, Exception):
        return _reason(inner)
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _wrong_checksum(ref: FileRef, found: str) -> ModelFileError:
    name = _shown(ref.location) if ref.is_url else quoted(_shortened(ref.location))
    return _fault(
        ref,
        f"{name} does not match its checksum",
        rule=f"expected SHA-256 {ref.sha256}, found {found}",
        remedy="download the correct file, or update the checksum if the new file is intended",
    )


def _fault(ref: FileRef, what: str, *, rule: str = "", remedy: str = "") -> ModelFileError:
    return ModelFileError(what, where=ref.where, rule=rule, remedy=remedy)
