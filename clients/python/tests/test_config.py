from __future__ import annotations

import base64
import json
import os
import tempfile
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Dict, List, Optional
from urllib.parse import parse_qs

import berth
from berth._config import ContextFiles, choose_server

LAB = {"url": "http://lab:4000", "user": "ann", "token": "secret-of-ann", "openId": None}


class ContextCase(unittest.TestCase):
    """A test with a folder of contexts."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.env = {"XDG_CONFIG_HOME": folder.name}
        self.contexts = Path(folder.name, "berth", "contexts")
        self.contexts.mkdir(parents=True)

    def write(self, name: str, context: Dict[str, Any], *, is_current: bool = False) -> Path:
        path = self.contexts / f"{name}.json"
        path.write_text(json.dumps(context))
        path.chmod(0o600)
        if is_current:
            (self.contexts.parent / "current-context").write_text(f"{name}\n")
        return path


class Contexts(ContextCase):
    def test_the_server_is_chosen_as_on_the_command_line(self) -> None:
        self.assertEqual(choose_server(self.env).url, "http://127.0.0.1:4000")
        self.write("lab", LAB, is_current=True)
        self.write("home", {"url": "http://home:4000"})
        cases: List[Any] = [
            ({}, None, ("http://lab:4000", "secret-of-ann")),
            ({"BERTH_CONTEXT": "home"}, None, ("http://home:4000", None)),
            ({"BERTH_URL": "http://x", "BERTH_TOKEN": "t"}, "home", ("http://home:4000", None)),
            ({"BERTH_URL": "http://x", "BERTH_TOKEN": "t"}, None, ("http://x", "t")),
            ({"BERTH_TOKEN": "t"}, None, ("http://lab:4000", "t")),
            ({"BERTH_URL": "http://lab:4000/path"}, None, ("http://lab:4000/path", "secret-of-ann")),
            ({"BERTH_URL": "http://other:4000"}, None, ("http://other:4000", None)),
        ]
        for env, context, expected in cases:
            choice = choose_server({**self.env, **env}, context)
            self.assertEqual((choice.url, choice.token), expected, (env, context))

    def test_a_file_that_others_may_read_is_refused(self) -> None:
        self.write("lab", LAB).chmod(0o644)
        with self.assertRaisesRegex(berth.BerthError, "chmod 600"):
            choose_server(self.env, "lab")

    def test_a_missing_context_names_those_that_exist(self) -> None:
        self.write("lab", LAB)
        with self.assertRaisesRegex(berth.NotFoundError, "the contexts are lab"):
            choose_server(self.env, "nowhere")
        with self.assertRaises(berth.NotFoundError):
            choose_server(self.env, "../lab")


def create_token(number: int, seconds: int = 3600) -> str:
    def encode(value: Dict[str, Any]) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")

    now = int(time.time())
    return f"{encode({})}.{encode({'iat': now, 'exp': now + seconds, 'n': number})}.x"


class Provider(ThreadingHTTPServer):
    """An OpenID provider whose refresh tokens are valid for one use."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), ProviderRequest)
        self.url = f"http://127.0.0.1:{self.server_port}"
        self.renewals = 0
        self.is_ended = False
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()


class ProviderRequest(BaseHTTPRequestHandler):
    server: Provider

    def do_GET(self) -> None:
        self.answer(200, {"token_endpoint": f"{self.server.url}/token"})

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
        if self.server.is_ended or form["refresh_token"] != [f"refresh-{self.server.renewals}"]:
            self.answer(400, {"error": "invalid_grant"})
            return
        self.server.renewals += 1
        number = self.server.renewals
        self.answer(200, {"access_token": create_token(number), "refresh_token": f"refresh-{number}"})

    def answer(self, status: int, value: Dict[str, str]) -> None:
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


class OpenId(ContextCase):
    def setUp(self) -> None:
        super().setUp()
        self.provider = Provider()
        self.addCleanup(self.provider.server_close)
        self.addCleanup(self.provider.shutdown)

    def log_in(self, expires_in: float, renew_in: float) -> str:
        now = time.time() * 1000
        token = create_token(0)
        open_id = {
            "issuer": self.provider.url,
            "clientId": "berth",
            "scope": "openid",
            "accepted": "access_token",
            "refreshToken": "refresh-0",
            "renewAtMs": now + renew_in * 1000,
            "expiresAtMs": now + expires_in * 1000,
        }
        self.write("lab", {**LAB, "token": token, "openId": open_id}, is_current=True)
        return token

    def token(self, refused: Optional[str] = None) -> str:
        source = choose_server(self.env).token
        assert callable(source)
        return source(refused)

    def test_a_valid_log_in_is_not_renewed(self) -> None:
        token = self.log_in(expires_in=600, renew_in=300)
        self.assertEqual((self.token(), self.provider.renewals), (token, 0))

    def test_programs_at_once_renew_a_log_in_once(self) -> None:
        self.log_in(expires_in=600, renew_in=-1)
        with ThreadPoolExecutor(8) as pool:
            tokens = set(pool.map(lambda _: self.token(), range(8)))
        self.assertEqual((len(tokens), self.provider.renewals), (1, 1))
        context = ContextFiles(self.env).read("lab")
        assert context.open_id is not None
        self.assertEqual((context.token, context.open_id["refreshToken"]), (tokens.pop(), "refresh-1"))
        self.assertEqual(os.stat(self.contexts / "lab.json").st_mode & 0o777, 0o600)
        self.assertEqual(sorted(os.listdir(self.contexts)), ["lab.json"])

    def test_a_refused_token_is_renewed(self) -> None:
        token = self.log_in(expires_in=600, renew_in=300)
        self.assertNotEqual(self.token(refused=token), token)
        self.assertEqual(self.provider.renewals, 1)

    def test_an_ended_log_in_says_how_to_log_in_again(self) -> None:
        self.log_in(expires_in=-1, renew_in=-1)
        self.provider.is_ended = True
        with self.assertRaisesRegex(berth.LogInFailedError, "log in again: berth login"):
            self.token()

    def test_a_token_that_is_still_valid_outlives_an_unreachable_provider(self) -> None:
        token = self.log_in(expires_in=600, renew_in=-1)
        self.provider.shutdown()
        self.provider.server_close()
        self.assertEqual(self.token(), token)


if __name__ == "__main__":
    unittest.main()
