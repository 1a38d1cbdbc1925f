from __future__ import annotations

import asyncio
import inspect
import time
import unittest
from typing import Any, Awaitable, Callable, List

import berth

from .case import ServerCase

SMALL: Any = {"cpu": 0.1, "memory": "64MiB"}


class Asyncio(ServerCase):
    def run_with_client(self, work: Callable[[berth.AsyncClient], Awaitable[None]]) -> None:
        async def main() -> None:
            async with berth.AsyncClient() as client:
                await work(client)

        asyncio.run(main())

    def test_it_has_the_names_and_arguments_of_the_client(self) -> None:
        def public(of: type) -> List[str]:
            return sorted(name for name in vars(of) if not name.startswith("_"))

        self.assertEqual(public(berth.AsyncClient), public(berth.Client))
        for name in public(berth.Client):
            one, other = getattr(berth.Client, name), getattr(berth.AsyncClient, name)
            if callable(one):
                self.assertEqual(list(inspect.signature(one).parameters), list(inspect.signature(other).parameters))

    def test_jobs_are_submitted_and_followed_side_by_side(self) -> None:
        async def work(client: berth.AsyncClient) -> None:
            async def one(number: int) -> List[str]:
                job = await client.submit(["echo", str(number)], **SMALL)
                lines = [line async for line in client.logs(job)]
                assert (await client.wait(job)).succeeded
                return lines

            self.assertEqual(await asyncio.gather(*map(one, range(5))), [[str(number)] for number in range(5)])

        self.run_with_client(work)

    def test_lists_events_and_bytes_are_iterators(self) -> None:
        async def work(client: berth.AsyncClient) -> None:
            job = await client.submit(["printf", "a\\nb"], labels={"asyncio": self.folder}, **SMALL)
            self.assertEqual([event.seq async for event in client.events(job)], [1, 2, 3, 4])
            self.assertEqual([each.id async for each in client.list(labels={"asyncio": self.folder})], [job.id])
            self.assertEqual(b"".join([piece async for piece in client.log_bytes(job)]), b"a\nb")
            self.assertEqual([line async for line in client.logs(job, tail=1, follow=False)], ["b"])
            with self.assertRaises(berth.NotFoundError):
                await client.get("job_0000000000000000000000000")

        self.run_with_client(work)

    def test_a_cancelled_task_ends_its_stream_at_once(self) -> None:
        async def work(client: berth.AsyncClient) -> None:
            job = await client.submit(["sleep", "600"], **SMALL)

            async def follow() -> None:
                async for _ in client.logs(job):
                    pass

            task = asyncio.create_task(follow())
            await asyncio.sleep(0.5)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            with self.assertRaises(TimeoutError):
                await client.wait(job, timeout=0.2)
            await client.cancel(job)

        begun = time.monotonic()
        self.run_with_client(work)
        self.assertLess(time.monotonic() - begun, 30)


if __name__ == "__main__":
    unittest.main()
