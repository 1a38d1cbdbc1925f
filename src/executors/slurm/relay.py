"""One connection to a port of a job, over stdin and stdout. Started by srun on the first node of the job, as the account of the
job, with the arguments PORT JOB RUN. Like on one machine, a process of the job must listen on the port, before and after the
connection is made: other ports of the node are refused.

The first line is `ok`, or the reason of a refusal. Then stdout has pieces of data: four bytes of length, and the bytes; a length
of 0 is the end. The end of stdin is the end in the other direction."""

import os
import re
import socket
import struct
import sys
import threading

port, job, run = int(sys.argv[1]), sys.argv[2], sys.argv[3]
connect_seconds = 10


def refuse(reason):
    os.write(1, reason.encode() + b"\n")
    sys.exit()


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


# With cgroups, Slurm names the job there. Without, its processes have a variable of Berth.
in_job = re.compile(rb"/job_%s(/|$)" % job.encode(), re.M)
of_run = re.compile(rb"(^|\0)(_\d+=)?BERTH_RUN_ID=%s(\0|$)" % re.escape(run.encode()))
has_cgroup = in_job.search(read("/proc/self/cgroup")) is not None


def is_member(pid):
    if has_cgroup:
        return in_job.search(read("/proc/%s/cgroup" % pid)) is not None
    return of_run.search(read("/proc/%s/environ" % pid)) is not None


def to_address(text):
    words = bytes.fromhex(text)
    octets = b"".join(words[at : at + 4][::-1] if sys.byteorder == "little" else words[at : at + 4] for at in range(0, len(words), 4))
    if not any(octets):
        return "127.0.0.1" if len(octets) == 4 else "::1"
    return socket.inet_ntop(socket.AF_INET if len(octets) == 4 else socket.AF_INET6, octets)


def find_listeners():
    """Addresses of the sockets that listen on the port, by the names of the sockets in /proc."""
    found = {}
    for table in "tcp", "tcp6":
        for line in read("/proc/net/" + table).decode().splitlines()[1:]:
            fields = line.split()
            address, number = fields[1].split(":")
            if fields[3] == "0A" and int(number, 16) == port:
                found["socket:[%s]" % fields[9]] = to_address(address)
    return found


def find_held(listeners):
    """The name of the first of these sockets that a process of the job holds."""
    for pid in filter(str.isdigit, os.listdir("/proc")) if listeners else ():
        if not is_member(pid):
            continue
        try:
            files = os.listdir("/proc/%s/fd" % pid)
        except OSError:
            continue
        for file in files:
            try:
                name = os.readlink("/proc/%s/fd/%s" % (pid, file))
            except OSError:
                continue
            if name in listeners:
                return name
    return None


listeners = find_listeners()
held = find_held(listeners)
if held is None:
    refuse("No process of the job listens on port %d" % port)
try:
    connection = socket.create_connection((listeners[held], port), connect_seconds)
except OSError:
    refuse("Port %d refuses connections" % port)
if find_held({held: ""}) is None or held not in find_listeners():
    refuse("No process of the job listens on port %d" % port)
connection.settimeout(None)
os.write(1, b"ok\n")


def write_all(data):
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


def send():
    try:
        while data := os.read(0, 65536):
            connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        os._exit(1)


sending = threading.Thread(target=send)
sending.start()
try:
    while data := connection.recv(65536):
        write_all(struct.pack(">I", len(data)) + data)
except OSError:
    os._exit(1)
write_all(struct.pack(">I", 0))
sending.join()
