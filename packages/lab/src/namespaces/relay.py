"""Relays TCP connections: relay.py LISTEN_ADDRESS TARGET_ADDRESS TARGET_PORT. Prints its port, then runs in the background."""

import os
import socket
import sys
import threading


def forward(source, sink):
    try:
        while data := source.recv(1 << 16):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        # Shut down both sockets, so that the opposite direction ends too.
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


def relay(near):
    try:
        far = socket.create_connection((sys.argv[2], int(sys.argv[3])))
    except OSError:
        near.close()
        return
    with near, far:
        back = threading.Thread(target=forward, args=(far, near), daemon=True)
        back.start()
        forward(near, far)
        back.join()


def main():
    listener = socket.create_server((sys.argv[1], 0), backlog=128)
    print(listener.getsockname()[1], flush=True)
    if os.fork():
        os._exit(0)
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    while True:
        near, _ = listener.accept()
        threading.Thread(target=relay, args=(near,), daemon=True).start()


if __name__ == "__main__":
    main()
