"""Where examples come from: a module for each format, with `read(path)` and `stream(path)`."""

from . import svmlight as svmlight
