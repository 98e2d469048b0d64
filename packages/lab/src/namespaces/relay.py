"""Carries TCP connections to another address: relay.py LISTEN_ADDRESS TO_ADDRESS TO_PORT. Prints its port and goes to the background."""

import os
import socket
import sys
import threading


def carry(source, sink):
    try:
        while data := source.recv(1 << 16):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        # Whoever reads from these two is told at once, and ends as well.
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
        back = threading.Thread(target=carry, args=(far, near), daemon=True)
        back.start()
        carry(near, far)
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
