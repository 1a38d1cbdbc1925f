"""
The client for asyncio. It runs the calls of `Client` in threads: every call and every stream that waits occupies one of `threads`
threads. Cancelling a task ends its stream at once; another call is finished in its thread.
"""

from __future__ import annotations

import asyncio
import functools
import os
from concurrent.futures import ThreadPoolExecutor
from typing import (
    TYPE_CHECKING,
    Any,
    AsyncIterator,
    Callable,
    Dict,
    Generic,
    Iterable,
    Iterator,
    List,
    Optional,
    Sequence,
    TypeVar,
    Union,
)

from . import _follow
from ._files import Snapshot
from ._follow import Following, LineSplitter
from ._spec import Command, id_of
from ._transport import TokenSource
from .client import Client, JobOrId, SubmittedJob
from .errors import BerthError
from .generated.types import Artifact, Explanation, Job, JobEvent, Preview

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._spec import JobOptions
    from .generated.types import JobFilterFields

Item = TypeVar("Item")
Result = TypeVar("Result")

_END: Any = object()


class AsyncFollowing(Generic[Item]):
    """An asynchronous iterator over a live stream. Leaving it with `async with`, `aclose` or a cancelled task ends it."""

    def __init__(self, threads: ThreadPoolExecutor, following: Following[Item]) -> None:
        self._threads = threads
        self._following = following

    def __aiter__(self) -> AsyncFollowing[Item]:
        return self

    async def __anext__(self) -> Item:
        loop = asyncio.get_running_loop()
        try:
            item: Item = await loop.run_in_executor(self._threads, next, self._following, _END)
        except asyncio.CancelledError:
            self._following.close()
            raise
        if item is _END:
            raise StopAsyncIteration
        return item

    async def aclose(self) -> None:
        self._following.close()

    async def __aenter__(self) -> AsyncFollowing[Item]:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class AsyncClient:
    """`Client` with the same names, for asyncio."""

    def __init__(
        self,
        url: Union[str, Sequence[str], None] = None,
        token: TokenSource = None,
        *,
        context: Optional[str] = None,
        attempts: int = 8,
        threads: int = 64,
    ) -> None:
        self._client = Client(url, token, context=context, attempts=attempts)
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="berth")

    @property
    def url(self) -> str:
        return self._client.url

    async def close(self) -> None:
        self._threads.shutdown(wait=False)
        self._client.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def submit(
        self,
        command: Optional[Command] = None,
        *,
        idempotency_key: Optional[str] = None,
        key_ttl_seconds: Optional[int] = None,
        requires_approval: Optional[bool] = None,
        no_wait: Optional[bool] = None,
        slot: Optional[str] = None,
        here: bool = False,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        **options: Unpack[JobOptions],
    ) -> SubmittedJob:
        return await self._run(
            self._client.submit,
            command,
            idempotency_key=idempotency_key,
            key_ttl_seconds=key_ttl_seconds,
            requires_approval=requires_approval,
            no_wait=no_wait,
            slot=slot,
            here=here,
            include=include,
            exclude=exclude,
            **options,
        )

    async def upload(
        self,
        folder: Union[str, "os.PathLike[str]"] = ".",
        *,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
    ) -> Snapshot:
        return await self._run(self._client.upload, folder, include=include, exclude=exclude)

    async def submit_many(
        self, commands: Iterable[Command], *, idempotency_key: Optional[str] = None, **options: Unpack[JobOptions]
    ) -> List[Union[SubmittedJob, BerthError]]:
        return await self._run(self._client.submit_many, commands, idempotency_key=idempotency_key, **options)

    async def preview(self, command: Optional[Command] = None, **options: Unpack[JobOptions]) -> Preview:
        return await self._run(self._client.preview, command, **options)

    async def retry(
        self, job: JobOrId, *, idempotency_key: Optional[str] = None, **changes: Unpack[JobOptions]
    ) -> SubmittedJob:
        return await self._run(self._client.retry, job, idempotency_key=idempotency_key, **changes)

    async def get(self, job: JobOrId) -> Job:
        return await self._run(self._client.get, job)

    async def get_by_key(self, idempotency_key: str) -> Job:
        return await self._run(self._client.get_by_key, idempotency_key)

    async def cancel(self, job: JobOrId, *, reason: Optional[str] = None) -> Job:
        return await self._run(self._client.cancel, job, reason=reason)

    async def why(self, job: JobOrId) -> Explanation:
        return await self._run(self._client.why, job)

    async def spec(self, job: JobOrId) -> Dict[str, Any]:
        return await self._run(self._client.spec, job)

    async def artifact_body(self, artifact: Union[Artifact, str]) -> Optional[str]:
        return await self._run(self._client.artifact_body, artifact)

    def list(
        self,
        *,
        limit: Optional[int] = None,
        order_by: str = "CREATED_AT",
        descending: bool = True,
        **filters: Unpack[JobFilterFields],
    ) -> AsyncFollowing[Job]:
        return self._iterate(self._client.list(limit=limit, order_by=order_by, descending=descending, **filters))

    def artifacts(self, job: JobOrId) -> AsyncFollowing[Artifact]:
        return self._iterate(self._client.artifacts(job))

    async def wait(self, job: JobOrId, *, timeout: Optional[float] = None) -> Job:
        async def follow() -> Job:
            following = _follow.follow_job(self._client._transport, id_of(job))
            async with AsyncFollowing(self._threads, following) as updates:
                async for update in updates:
                    if update.is_final:
                        return update.job
            raise BerthError("CLOSED", "The stream was closed")

        try:
            return await asyncio.wait_for(follow(), timeout)
        except asyncio.TimeoutError:
            raise TimeoutError(f"{id_of(job)} has not ended after {timeout} s") from None

    async def events(self, job: JobOrId) -> AsyncIterator[JobEvent]:
        async with AsyncFollowing(self._threads, await self._run(self._client.events, job)) as events:
            async for event in events:
                yield event

    async def logs(
        self,
        job: JobOrId,
        *,
        follow: bool = True,
        tail: Optional[int] = None,
        run: Optional[int] = None,
        streams: Optional[Sequence[str]] = None,
    ) -> AsyncIterator[str]:
        splitter = LineSplitter()
        async with self.log_text(job, follow=follow, tail=tail, run=run, streams=streams) as pieces:
            async for piece in pieces:
                for line in splitter.feed(piece):
                    yield line
        for line in splitter.end():
            yield line

    def log_text(
        self,
        job: JobOrId,
        *,
        follow: bool = True,
        tail: Optional[int] = None,
        run: Optional[int] = None,
        streams: Optional[Sequence[str]] = None,
    ) -> AsyncFollowing[str]:
        following = self._client.log_text(job, follow=follow, tail=tail, run=run, streams=streams)
        return AsyncFollowing(self._threads, following)

    def log_bytes(self, job: JobOrId, *, run: Optional[int] = None) -> AsyncFollowing[bytes]:
        return self._iterate(self._client.log_bytes(job, run=run))

    async def _run(self, function: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
        call = functools.partial(function, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)

    def _iterate(self, items: Iterator[Item]) -> AsyncFollowing[Item]:
        return AsyncFollowing(self._threads, Following(None, items))
