"""Where the shards of a run are kept: in a folder that all nodes share, or in an object store by its URL.

A store holds the same files as a folder would. A file is there whole or not at all: object stores take it in one step, and
elsewhere it is written aside and moved. Of a shard, the manifest comes last, which holds the hash of the rows.
"""

from __future__ import annotations

import os
import pathlib
import re
import uuid
from typing import Any, Callable, Iterable, List, Mapping, Optional, TypeVar, Union

from ._program import ProgramError

Out = Union[str, "os.PathLike[str]"]
Done = TypeVar("Done")

SHARDS = "shards"
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(::|://)")
# In these an object is there once all of it is, and a move would be a copy.
_IN_ONE_STEP = {"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "oci", "oss"}
_ASIDE = ".aside"
_MANIFEST = re.compile(r"\d+-of-0*(\d+)\.json")


def is_url(out: Out) -> bool:
    """Whether it names a store: a scheme of two letters or more, as a letter is a drive of Windows."""
    return isinstance(out, str) and _URL.match(out) is not None


def files(number: int, count: int) -> List[str]:
    """The files of a shard in the order in which they leave."""
    return [f"{SHARDS}/{number:04}-of-{count:04}.{ending}" for ending in ("csv", "sums", "json")]


class Refused(Exception):
    """A store does not do what it is asked, and will not."""


class Store:
    """Files below a URL that fsspec reads.

    Args:
        url: as `s3://bucket/out`.
        options: what fsspec is to tell the store, as its endpoint; by variables of the environment, too.

    Raises:
        ProgramError: fsspec or the package of the store is not installed, or the URL is none.
    """

    def __init__(self, url: str, options: Optional[Mapping[str, Any]] = None) -> None:
        self.url = url.rstrip("/")
        try:
            import fsspec
        except ImportError:
            raise ProgramError(1, f"{url}: a store needs the package fsspec: pip install 'scavsim[ray]'") from None
        try:
            self._fs, self._root = fsspec.core.url_to_fs(self.url, **(options or {}))
        except ImportError as error:
            raise ProgramError(1, f"{url}: {error}") from error
        except ValueError as error:
            raise ProgramError(2, f"{url}: {error}") from error
        except Exception as error:
            raise ProgramError(1, _reason(url, error)) from error
        schemes = [self._fs.protocol] if isinstance(self._fs.protocol, str) else list(self._fs.protocol)
        if "memory" in schemes:
            raise ProgramError(2, f"{url}: what one process keeps in memory, no other sees: give a store that all nodes reach")
        self._at_once = bool(_IN_ONE_STEP & set(schemes))
        self._root = self._root.rstrip("/")
        self.name = self._root.rsplit("/", 1)[-1] or "scavsim"

    def try_out(self) -> None:
        """Writes a file and removes it, so that a store that refuses is known before anything is run.

        Raises:
            ProgramError: it refuses.
        """
        probe = self._at(f"{SHARDS}/{_ASIDE}-{uuid.uuid4().hex}")

        def ask() -> None:
            self._folder(self._at(SHARDS))
            self._fs.pipe_file(probe, b"can this be written?\n")
            self._fs.rm_file(probe)

        self._asked(ask)

    def put(self, file: pathlib.Path, name: str) -> None:
        """Takes a file in under a name, whole or not at all.

        Raises:
            Refused: the store does not allow it.
        """
        to = self._at(name)
        if self._at_once:
            self._heard(lambda: self._fs.put_file(str(file), to))
            return
        aside = f"{to}{_ASIDE}-{uuid.uuid4().hex}"

        def take() -> None:
            self._folder(to.rsplit("/", 1)[0])
            try:
                self._fs.put_file(str(file), aside)
                self._fs.mv(aside, to)
            except BaseException:
                self._forget(aside)
                raise

        self._heard(take)

    def put_shard(self, folder: pathlib.Path, number: int, count: int) -> None:
        """Takes in the two files of a shard that was run into `folder`."""
        for name in files(number, count):
            self.put(folder / name, name)

    def names(self) -> List[str]:
        """The files in the folder of shards."""
        return self._asked(self._names)

    def get_shard(self, folder: pathlib.Path, number: int, count: int) -> None:
        """Copies a shard into `folder`."""
        (folder / SHARDS).mkdir(parents=True, exist_ok=True)
        for name in files(number, count):
            self._asked(lambda: self._fs.get_file(self._at(name), str(folder / name)))

    def put_result(self, folder: pathlib.Path) -> None:
        """Takes in what was merged in `folder`. The manifest, which calls it complete, comes last; what an earlier result had and
        this one has not goes."""
        files = [file for file in folder.iterdir() if file.is_file() and not file.name.startswith(".")]
        files.sort(key=lambda file: (file.name == "manifest.json", file.name))
        names = {file.name for file in files}

        def clean() -> None:
            for name in ("failures.csv", "records.csv", "records.jsonl", "records.parquet"):
                if name not in names and self._fs.exists(self._at(name)):
                    self._fs.rm_file(self._at(name))
            for name in self._names():
                if _ASIDE in name:  # of workers that were killed
                    self._forget(self._at(f"{SHARDS}/{name}"))

        def take() -> None:
            for file in files:
                self.put(file, file.name)
            clean()

        self._asked(take)

    def _folder(self, path: str) -> None:
        # Object stores have no folders, and would make a bucket of a word that was mistyped.
        if not self._at_once:
            self._fs.makedirs(path, exist_ok=True)

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _names(self) -> List[str]:
        self._fs.invalidate_cache()
        try:
            listed: Iterable[str] = self._fs.ls(self._at(SHARDS), detail=False)
        except FileNotFoundError:
            listed = []
        return [path.rstrip("/").rsplit("/", 1)[-1] for path in listed]

    def _forget(self, path: str) -> None:
        try:
            self._fs.rm_file(path)
        except Exception:
            pass  # It counts as nothing where it is.

    def _heard(self, do: Callable[[], Done]) -> Done:
        try:
            return do()
        except Exception as error:
            if _is_final(error):
                raise Refused(_reason(self.url, error)) from error
            raise

    def _asked(self, do: Callable[[], Done]) -> Done:
        """For the driver, which has nobody to try again."""
        try:
            return do()
        except Refused as error:
            raise ProgramError(1, str(error)) from error
        except ProgramError:
            raise
        except Exception as error:
            raise ProgramError(1, _reason(self.url, error)) from error


def there(names: Iterable[str], count: int) -> List[int]:
    """Of the files in a folder of shards, those of so many shards of which both files are there."""
    known = {f"{SHARDS}/{name}" for name in names}
    return [number for number in range(1, count + 1) if known.issuperset(files(number, count))]


def counts(names: Iterable[str]) -> List[int]:
    """Into how many shards the runs were cut of which there are some."""
    return sorted({int(found[1]) for name in names if (found := _MANIFEST.fullmatch(name))})


def _is_final(error: BaseException) -> bool:
    """Whether another try would be refused like this one."""
    return isinstance(error, (PermissionError, ImportError, NotImplementedError, FileNotFoundError, NotADirectoryError))


def _reason(url: str, error: BaseException) -> str:
    # Some have no words of their own.
    words = str(error).strip() or repr(error)
    return f"{url}: {type(error).__name__}: {words}"

