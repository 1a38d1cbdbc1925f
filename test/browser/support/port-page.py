"""A page with a cookie and a WebSocket, as a notebook has them, from the standard library: PORT NAME."""

import base64
import hashlib
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

port, name = int(sys.argv[1]), sys.argv[2]
PAGE = """<!doctype html><title>{name}</title><p id=got>{name} got: {cookie}</p><p id=socket></p><script>
const socket = new WebSocket(location.origin.replace('http', 'ws') + '/socket')
socket.onopen = () => socket.send('hello')
socket.onmessage = ({{ data }}) => (document.getElementById('socket').textContent = 'socket: ' + data)
</script>"""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/socket":
            return self.echo()
        body = PAGE.format(name=name, cookie=self.headers.get("Cookie", "none")).encode()
        self.send_response(200)
        self.send_header("Set-Cookie", f"of={name}; Path=/; Domain=jobs.localhost")
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def echo(self):
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        self.send_header("Sec-WebSocket-Accept", base64.b64encode(hashlib.sha1(key.encode()).digest()).decode())
        self.end_headers()
        while True:
            head = self.rfile.read(2)
            if len(head) < 2 or head[0] & 15 == 8:
                break
            mask, length = self.rfile.read(4), head[1] & 127
            text = bytes(byte ^ mask[i % 4] for i, byte in enumerate(self.rfile.read(length)))
            self.wfile.write(bytes([129, len(text) + 5]) + b"echo " + text)
        self.close_connection = True

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
print("listening", flush=True)
server.serve_forever()
