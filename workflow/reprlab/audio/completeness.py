"""Whether a file of sound is as long as it says: decoders take one that was cut off for shorter sound.

Formats: WAV, RF64 and AIFF (chunks), W64, CAF, AU, Ogg (its last page is marked as such), MP3 without a header of its
own (its last frame is whole). FLAC, and MP3 whose header counts frames, are known by their decoded length.
"""

from __future__ import annotations

import struct
from typing import BinaryIO

_TAIL = 1 << 16
# Sizes of 32 bits that programs write when they do not know how long a sound will be.
_UNKNOWN = 0x7FFFFF00
_MPEG1, _NOT_MPEG1 = (
    (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
)
_RATES = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}


def bytes_lacking(handle: BinaryIO) -> int:
    """How many bytes of the sound are not in the file, as far as its format tells; 0 where it does not."""
    size = handle.seek(0, 2)
    handle.seek(0)
    head = handle.read(64)
    if head[:4] in (b"RIFF", b"RIFX", b"RF64", b"FORM"):
        return _chunks(handle, size, head)
    if head[:4] == b"riff" and len(head) >= 24:
        return max(0, struct.unpack("<Q", head[16:24])[0] - size)
    if head[:4] == b"caff":
        return _caf(handle, size)
    if head[:4] == b".snd" and len(head) >= 12:
        start, length = struct.unpack(">II", head[4:12])
        return max(0, start + length - size) if length < _UNKNOWN else 0
    if head[:4] == b"OggS":
        return _ogg(handle, size)
    return _mpeg(handle, size) if head[:3] == b"ID3" or _frame(head) else 0


def is_uncounted_mpeg(handle: BinaryIO) -> bool:
    """Whether it is MP3 whose first frame does not count the others: libsndfile then reads as many as it guesses."""
    handle.seek(0)
    start = _after_tag(handle.read(10))
    handle.seek(start)
    head = handle.read(256)
    return bool(_frame(head)) and not any(name in head for name in (b"Xing", b"Info", b"VBRI"))


def _chunks(handle: BinaryIO, size: int, head: bytes) -> int:
    order, place, long = ("<" if head[:4] in (b"RIFF", b"RF64") else ">"), 12, None
    while place + 8 <= size:
        handle.seek(place)
        name, length = struct.unpack(f"{order}4sI", handle.read(8))
        if name == b"ds64" and place + 24 <= size:
            long = struct.unpack("<Q", handle.read(16)[8:])[0]
        if name in (b"data", b"SSND"):
            length = long if long is not None and length >= _UNKNOWN else length
            return max(0, place + 8 + length - size) if length < _UNKNOWN or long is not None else 0
        place += 8 + length + length % 2
    return max(0, place - size)


def _caf(handle: BinaryIO, size: int) -> int:
    place = 8
    while place + 12 <= size:
        handle.seek(place)
        name, length = struct.unpack(">4sq", handle.read(12))
        if name == b"data" or length < 0:
            return max(0, place + 12 + length - size) if length >= 0 else 0
        place += 12 + length
    return max(0, place - size)


def _ogg(handle: BinaryIO, size: int) -> int:
    handle.seek(max(0, size - _TAIL))
    tail = handle.read()
    page = tail.rfind(b"OggS")
    if page < 0 or len(tail) < page + 27:
        return 1
    segments = tail[page + 26]
    table = tail[page + 27 : page + 27 + segments]
    whole = page + 27 + segments + sum(table)
    is_last = tail[page + 5] & 4
    return max(0 if is_last else 1, whole - len(tail))


def _mpeg(handle: BinaryIO, size: int) -> int:
    """Frames are followed to the last one; what is not a frame (a tag at the end) ends the walk."""
    handle.seek(0)
    content = handle.read()
    place = _after_tag(content)
    while length := _frame(content[place : place + 4]):
        place += length
    return max(0, place - size)


def _after_tag(content: bytes) -> int:
    if content[:3] != b"ID3" or len(content) < 10:
        return 0
    a, b, c, d = content[6:10]
    return 10 + (a << 21 | b << 14 | c << 7 | d)


def _frame(header: bytes) -> int:
    """Bytes of the frame of layer III that begins so; 0 where none does."""
    if len(header) < 4 or header[0] != 0xFF or header[1] & 0xE6 != 0xE2:
        return 0
    version, bitrate, rate = header[1] >> 3 & 3, header[2] >> 4, header[2] >> 2 & 3
    if version == 1 or bitrate in (0, 15) or rate == 3:
        return 0
    kilobits = (_MPEG1 if version == 3 else _NOT_MPEG1)[bitrate]
    return (144 if version == 3 else 72) * 1000 * kilobits // _RATES[version][rate] + (header[2] >> 1 & 1)
