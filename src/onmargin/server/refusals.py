"""What the server says no to: each in one line, with the status that HTTP has for it."""

from __future__ import annotations

from ..errors import BadFile, BadInput, OnmarginError


class Refusal(OnmarginError):
    """Whatever a caller can do something about."""

    status = 422


class NotFound(Refusal):
    """A model, a prediction or an event that is not there."""

    status = 404


class AlreadyThere(Refusal):
    """A model of that name, with another recipe."""

    status = 409


class TooLarge(Refusal):
    """More than the server takes at once."""

    status = 413


class TooBusy(Refusal):
    """More labels wait than the journal can write; come back in a moment."""

    status = 429
    retry_after = 1


class Compacted(Refusal):
    """What lies before the oldest snapshot that is kept."""

    status = 410


class NotAllowed(Refusal):
    """No token, or one that may only read."""

    status = 401


class CannotWrite(Refusal):
    """The disk is full, or the journal is gone; nothing was learned."""

    status = 503


class CannotRead(Refusal, BadFile):
    """The journal is damaged, or not to be reached; no request of another kind would help."""

    status = 503


class NotApplied(Refusal):
    """Durable, but the model could not take it in yet: the one refusal that has changed something."""

    status = 500


def status_of(error: Exception) -> int:
    """Of any refusal; 500 for a flaw of ours."""
    if isinstance(error, Refusal):
        return error.status
    return 422 if isinstance(error, BadInput | BadFile | OnmarginError) else 500
