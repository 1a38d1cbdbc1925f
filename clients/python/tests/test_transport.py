from __future__ import annotations

import json
import threading
import time
import unittest
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple
from unittest import mock

import berth
from berth._transport import Transport

Answer = Tuple[int, Dict[str, str], bytes]

DATA = {"job": {"id": "job_1"}}


def answer(value: Any, status: int = 200, **headers: str) -> Answer:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return status, named, value if isinstance(value, bytes) else json.dumps(value).encode()


def fail(code: str) -> Any:
    return {"errors": [{"message": "no", "extensions": {"code": code, "requestId": "r1"}}]}


class Stub(ThreadingHTTPServer):
    """A server that sends responses from a list, and records the tokens of its requests."""

    def __init__(self, answers: List[Answer]) -> None:
        super().__init__(("127.0.0.1", 0), StubRequest)
        self.answers = answers
        self.tokens: List[Optional[str]] = []
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()


class StubRequest(BaseHTTPRequestHandler):
    server: Stub
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.answer()

    def do_GET(self) -> None:
        self.answer()

    def answer(self) -> None:
        self.server.tokens.append(self.headers.get("authorization"))
        status, headers, content = self.server.answers.pop(0)
        self.send_response(status)
        for name, value in {"content-length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


class Requests(unittest.TestCase):
    def start(self, *answers: Answer) -> Stub:
        stub = Stub(list(answers))
        self.addCleanup(stub.server_close)
        self.addCleanup(stub.shutdown)
        return stub

    def ask(self, url: Any, *, attempts: int = 1, token: Any = None) -> Tuple[Mapping[str, Any], List[float]]:
        """Returns the data, and the waits before retries."""
        waits: List[float] = []
        wait: Callable[[float], None] = waits.append
        transport = Transport(url, token, attempts)
        self.addCleanup(transport.close)
        with mock.patch.object(time, "sleep", wait), mock.patch("berth._transport.log"):
            return transport.request("{ job }", {}), waits

    def test_a_retryable_failure_is_tried_again_after_the_required_wait(self) -> None:
        limited = answer(fail("RATE_LIMITED"), 429, retry_after="70")
        stub = self.start(answer(fail("UNAVAILABLE"), 503), limited, answer({"data": DATA}))
        data, waits = self.ask(stub.url, attempts=8)
        self.assertEqual(data, DATA)
        self.assertLessEqual(waits[0], 1)
        self.assertEqual(waits[1], 70)

    def test_reads_of_a_client_are_tried_as_often_as_its_other_calls(self) -> None:
        for attempts in (1, 3):
            reads: List[Callable[[berth.Client], object]] = [
                lambda client: client.events("job_1"),
                lambda client: list(client.logs("job_1", follow=False)),
                lambda client: list(client.log_bytes("job_1")),
            ]
            for read in reads:
                stub = self.start(*[answer(fail("UNAVAILABLE"), 503)] * 4)
                with mock.patch.object(time, "sleep"), mock.patch("berth._transport.log"), mock.patch("berth._follow.log"):
                    with berth.Client(stub.url, attempts=attempts) as client, self.assertRaises(berth.UnavailableError):
                        read(client)
                self.assertEqual(len(stub.tokens), attempts)

    def test_a_problem_is_tried_again_only_if_it_is_retryable(self) -> None:
        problem: Dict[str, Any] = {"code": "UNAVAILABLE", "message": "no", "retryable": True}
        stub = self.start(answer({"data": {"submitJob": problem}}), answer({"data": DATA}))
        self.assertEqual(self.ask(stub.url, attempts=2)[0], DATA)
        final = {"submitJob": {**problem, "retryable": False}}
        self.assertEqual(self.ask(self.start(answer({"data": final})).url, attempts=8)[0], final)

    def test_a_failure_that_is_not_retryable_is_raised_at_once(self) -> None:
        stub = self.start(answer(fail("FORBIDDEN"), 403))
        with self.assertRaises(berth.ForbiddenError) as caught:
            self.ask(stub.url, attempts=8)
        self.assertEqual((caught.exception.request_id, caught.exception.is_foreign), ("r1", False))

    def test_a_refused_token_is_replaced_once(self) -> None:
        stub = self.start(answer(b"", 401), answer({"data": DATA}))
        data, _ = self.ask(stub.url, token=lambda refused: "old" if refused is None else "new")
        self.assertEqual((data, stub.tokens), (DATA, ["Bearer old", "Bearer new"]))
        with self.assertRaises(berth.UnauthenticatedError):
            self.ask(self.start(answer(b"", 401)).url, token="old", attempts=8)

    def test_the_next_server_is_used_when_one_is_unreachable(self) -> None:
        stub = self.start(answer({"data": DATA}))
        self.assertEqual(self.ask(["http://127.0.0.1:1", stub.url], attempts=2)[0], DATA)

    def test_a_connection_that_the_server_closed_is_replaced(self) -> None:
        stub = self.start(answer({"data": DATA}), answer({"data": DATA}))
        transport = Transport(stub.url)
        self.addCleanup(transport.close)
        transport.ask("{ job }", {})
        # Closes the idle connection, which the transport does not notice yet.
        transport._http._idle[0][1].sock.close()
        self.assertEqual(transport.ask("{ job }", {}), DATA)

    def test_answers_of_other_programs_name_what_they_say(self) -> None:
        page = b"<html><title>502 Bad Gateway</title></html>"
        for sent, text, code in (
            (answer(page, 502), "answered 502: 502 Bad Gateway", "UNREACHABLE"),
            (answer(b"", 301, location="https://other/graphql"), "use that URL", "BAD_REQUEST"),
            (answer(b"hello"), "answered 200: hello", "BAD_REQUEST"),
        ):
            with self.assertRaisesRegex(berth.BerthError, text) as caught:
                self.ask(self.start(sent).url)
            self.assertEqual((caught.exception.code, caught.exception.is_foreign), (code, True))


if __name__ == "__main__":
    unittest.main()
