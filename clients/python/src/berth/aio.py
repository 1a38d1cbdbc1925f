"""
The client for asyncio. It runs the calls of `Client` in threads: every call and every waiting stream occupies one of `threads`
threads. Cancelling a task ends its stream at once. A call without a stream finishes in its thread.
"""

from __future__ import annotations

import asyncio
import functools
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, AsyncIterator, Callable, Coroutine, Generic, Iterator, Optional, Sequence, TypeVar, Union

from . import _follow
from ._follow import Following, LineSplitter
from ._spec import id_of
from ._transport import TokenSource
from .client import _ATTEMPTS, Client, JobOrId
from .errors import BerthError
from .generated.types import Job, JobEvent

if TYPE_CHECKING:
    from typing_extensions import Concatenate, ParamSpec

    Parameters = ParamSpec("Parameters")

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


def _in_thread(
    call: Callable[Concatenate[Client, Parameters], Result],
) -> Callable[Concatenate[AsyncClient, Parameters], Coroutine[Any, Any, Result]]:
    """Makes a coroutine function that runs the call of `Client` in a thread."""

    @functools.wraps(call)
    async def run(self: AsyncClient, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        return await self._run(call, self._client, *args, **kwargs)

    return run


def _as_stream(
    call: Callable[Concatenate[Client, Parameters], Iterator[Item]],
) -> Callable[Concatenate[AsyncClient, Parameters], AsyncFollowing[Item]]:
    """Makes a function that returns an asynchronous iterator, whose items are read in threads."""

    @functools.wraps(call)
    def begin(self: AsyncClient, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> AsyncFollowing[Item]:
        items = call(self._client, *args, **kwargs)
        return AsyncFollowing(self._threads, items if isinstance(items, Following) else Following(None, items))

    return begin


class AsyncClient:
    """The methods of `Client` for asyncio."""

    def __init__(
        self,
        url: Union[str, Sequence[str], None] = None,
        token: TokenSource = None,
        *,
        context: Optional[str] = None,
        attempts: int = _ATTEMPTS,
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

    submit = _in_thread(Client.submit)
    upload = _in_thread(Client.upload)
    submit_many = _in_thread(Client.submit_many)
    preview = _in_thread(Client.preview)
    retry = _in_thread(Client.retry)
    get = _in_thread(Client.get)
    get_by_key = _in_thread(Client.get_by_key)
    cancel = _in_thread(Client.cancel)
    why = _in_thread(Client.why)
    spec = _in_thread(Client.spec)
    artifact_body = _in_thread(Client.artifact_body)
    list = _as_stream(Client.list)
    artifacts = _as_stream(Client.artifacts)
    log_text = _as_stream(Client.log_text)
    log_bytes = _as_stream(Client.log_bytes)

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

    async def _run(self, function: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
        call = functools.partial(function, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._threads, call)
