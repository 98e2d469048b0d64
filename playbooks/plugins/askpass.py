#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SSH_ASKPASS of a run: sends ssh's prompt to Muster's worker, which identifies the host by the secret alias in the prompt."""
import os
import socket
import sys

with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
    sock.settimeout(10)
    sock.connect(os.environ["MUSTER_SOCKET"])
    sock.sendall(b"ssh " + sys.argv[1].replace("\n", " ").encode("utf-8", "surrogateescape") + b"\n")
    answer = b""
    while True:
        chunk = sock.recv(4096)
        if not chunk:
            break
        answer += chunk
if not answer.startswith(b"ok "):
    sys.exit(1)
sys.stdout.buffer.write(answer[3:] + b"\n")
