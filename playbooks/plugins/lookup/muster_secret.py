# SPDX-License-Identifier: Apache-2.0
"""Requests a secret of one host from Muster's worker when it is needed, over the run's private socket.

Hence no password is in the inventory, a file, an argument or the environment.
"""
from __future__ import annotations

DOCUMENTATION = """
name: muster_secret
short_description: A secret of the run's own hosts
description: Reads a secret from Muster's worker over the socket that MUSTER_SOCKET names.
options:
  _terms:
    description: Words of the request, for example C(become) and the host's alias.
    required: true
"""

import os
import socket

from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase


class LookupModule(LookupBase):
    def run(self, terms, variables=None, **kwargs):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
            sock.settimeout(10)
            sock.connect(os.environ["MUSTER_SOCKET"])
            sock.sendall((" ".join(terms) + "\n").encode())
            answer = b""
            while chunk := sock.recv(4096):
                answer += chunk
        if not answer.startswith(b"ok "):
            raise AnsibleError("Muster's worker has no such secret for this host")
        return [answer[3:].decode()]
