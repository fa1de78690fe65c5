"""Can these rows and labels be learned from? One sweep each, before or beside the loop."""

from __future__ import annotations

import math

from . import lanes
from .parts import specialise
from .rows import measure_row

TOGETHER = 128  # rows looked at at a time: they are still near when it is asked where they begin
PIECE, AHEAD = 256, 4096  # indices looked at at a time, while memory is asked for those so far ahead
LINE = 16  # indices that memory brings at once


@specialise
def first_not_finite(rows, stop):
    """The first row whose squared length is NaN or infinite, or `stop`."""
    for row in range(stop):
        if not math.isfinite(measure_row(rows, row)):
            return row
    return stop


@specialise
def is_canonical(indices, starts, columns, first, last):
    """Rows first .. last - 1: their indices rise and stay below `columns`, and their bounds are in order.

    A SIMD sweep over some rows counts all falls, as fast as memory brings them; they are allowed only where
    a row begins.
    """
    kind = indices.dtype.type  # (sums of this width: SIMD without widening)
    for top in range(first, last, TOGETHER):
        bottom = min(top + TOGETHER, last)
        begin, end = starts[top], starts[bottom]
        if begin < 0 or begin > end or end > indices.size:
            return False
        used = indices[begin:end]
        falls = kind(0)
        outside = kind(used.size and used[0] >= columns)
        for low in range(1, used.size, PIECE):
            for ahead in range(low + AHEAD, low + AHEAD + PIECE, LINE):
                lanes.fetch(used, ahead)
            piece = used[low - 1 : min(low + PIECE, used.size)]
            for j in range(1, piece.size):
                falls += kind(piece[j] <= piece[j - 1])
                outside |= kind(piece[j] >= columns)
        if outside:
            return False
        left = int(falls)
        for row in range(top, bottom):
            start, stop = starts[row], starts[row + 1]
            if start > stop or stop > end:
                return False
            if begin < start < stop:
                left -= used[start - begin] <= used[start - begin - 1]
        if left != 0:
            return False
    return True


@specialise
def find_codes(labels, classes, codes):
    """codes[i] = the number of labels[i] among the sorted classes, -1 if it is not there."""
    unknown = 0
    stairs = True  # classes such as 0, 1, 2: the label says where it is
    for k in range(classes.size):
        stairs &= classes[k] - classes[0] == k
    for i in range(labels.size):
        label = labels[i]
        low = 0
        if stairs:
            place = label - classes[0]
            low = int(place) if 0.0 <= place < classes.size else 0
        elif classes.size <= 16:  # counting has no branch to mispredict
            for k in range(classes.size):
                low += classes[k] < label
        else:
            high = classes.size
            while low < high:
                middle = (low + high) >> 1
                if classes[middle] < label:
                    low = middle + 1
                else:
                    high = middle
        found = low < classes.size and classes[low] == label
        codes[i] = low if found else -1
        unknown += not found
    return unknown


@specialise
def find_distinct(labels, out):
    """Write the distinct labels, sorted; how many, or -1 where they do not fit (or one is NaN)."""
    count = 0
    for i in range(labels.size):
        label = labels[i]
        low = 0
        for k in range(count):
            low += out[k] < label
        if low == count or out[low] != label:
            if count == out.size or label != label:
                return -1
            for k in range(count, low, -1):
                out[k] = out[k - 1]
            out[low] = label
            count += 1
    return count
