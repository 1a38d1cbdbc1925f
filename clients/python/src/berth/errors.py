"""Every failure of the client is a BerthError, with a `code`. `retryable`: the same call may succeed later."""

from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence, Type

RETRYABLE_CODES = frozenset({"UNREACHABLE", "UNAVAILABLE", "RATE_LIMITED", "SUBSCRIPTION_LIMIT", "TIMEOUT"})


class BerthError(Exception):
    """A call failed. `create_error` chooses the subclass by the code; unknown codes have this class."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        retryable: Optional[bool] = None,
        request_id: Optional[str] = None,
        retry_after: float = 0.0,
        is_foreign: bool = False,
        details: Optional[Mapping[str, Any]] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.retryable = code in RETRYABLE_CODES if retryable is None else retryable
        #: Id of the request in the log of the server.
        self.request_id = request_id
        #: Seconds to wait before a retry, as the server requires.
        self.retry_after = retry_after
        #: True: the response is not from Berth, but from a proxy or another program.
        self.is_foreign = is_foreign
        #: Further fields of the problem, with the names of the schema.
        self.details: Mapping[str, Any] = details or {}

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"


class InvalidInputError(BerthError):
    """The server refuses a value. `violations` has the path and the message for each wrong value."""

    @property
    def violations(self) -> Sequence[Mapping[str, Any]]:
        return list(self.details.get("violations") or [])


class NotFoundError(BerthError):
    """The object does not exist, or is not visible to you."""


class ForbiddenError(BerthError):
    """A permission is missing."""


class UnauthenticatedError(BerthError):
    """The token is missing, unknown, expired or revoked."""


class InvalidStateError(BerthError):
    """The state of the job does not permit the call."""


class VersionConflictError(BerthError):
    """The object was changed meanwhile."""


class IdempotencyConflictError(BerthError):
    """The idempotency key was used with another job."""


class QuotaExceededError(BerthError):
    """The job would exceed a quota."""


class ReservationExpiredError(BerthError):
    """The slot is expired, consumed or released, or belongs to another user."""


class RejectedError(BerthError):
    """A job with `no_wait` could not start at once."""


class RateLimitedError(BerthError):
    """The rate limit is reached. `retry_after`: seconds to wait."""


class UnavailableError(BerthError):
    """The server or its database is unavailable. The call may succeed later."""


class LogInFailedError(BerthError):
    """The log-in of the context has ended. Run `berth login` again."""


class JobFailedError(BerthError):
    """A job did not succeed. `job` is the job as it ended."""

    def __init__(self, message: str, job: Any = None) -> None:
        super().__init__("JOB_FAILED", message)
        self.job = job


class BerthWarning(UserWarning):
    """A remark of the server about a submission, or output that is missing in a log."""


CLASSES: Mapping[str, Type[BerthError]] = {
    "INVALID_INPUT": InvalidInputError,
    "BAD_REQUEST": InvalidInputError,
    "NOT_FOUND": NotFoundError,
    "FORBIDDEN": ForbiddenError,
    "UNAUTHENTICATED": UnauthenticatedError,
    "INVALID_STATE": InvalidStateError,
    "VERSION_CONFLICT": VersionConflictError,
    "IDEMPOTENCY_CONFLICT": IdempotencyConflictError,
    "QUOTA_EXCEEDED": QuotaExceededError,
    "COST_LIMIT_EXCEEDED": QuotaExceededError,
    "RESERVATION_EXPIRED": ReservationExpiredError,
    "REJECTED": RejectedError,
    "RATE_LIMITED": RateLimitedError,
    "UNAVAILABLE": UnavailableError,
    "UNREACHABLE": UnavailableError,
    "TIMEOUT": UnavailableError,
    "LOG_IN_FAILED": LogInFailedError,
}


def create_error(code: str, message: str, **fields: Any) -> BerthError:
    return CLASSES.get(code, BerthError)(code, message, **fields)


def create_error_of(errors: Sequence[Mapping[str, Any]], *, retry_after: float = 0.0) -> BerthError:
    """Creates the error for `errors` of a response."""
    extensions = (errors[0].get("extensions") or {}) if errors else {}
    text = "; ".join(str(error.get("message")) for error in errors)
    return create_error(
        str(extensions.get("code") or "INTERNAL_SERVER_ERROR"),
        text or "The server refused the request without a reason",
        request_id=extensions.get("requestId"),
        retry_after=max(retry_after, float(extensions.get("retryAfterSeconds") or 0)),
    )


def raise_problem(result: Mapping[str, Any]) -> None:
    """Raises the problem that a mutation returned, if any."""
    if "code" in result and "message" in result:
        raise create_error(
            result["code"], result["message"], retryable=bool(result.get("retryable")), details=dict(result)
        )
