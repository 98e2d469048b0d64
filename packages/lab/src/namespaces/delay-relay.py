"""Relays frames between two interfaces with delay and loss: delay-relay.py PORT OTHER MS LOSS_PERCENT.

For kernels without netem. Runs in the background once both interfaces are open, and exits when one of them is deleted.
"""

import collections
import os
import random
import select
import socket
import sys
import time

SOL_PACKET, PACKET_IGNORE_OUTGOING, PACKET_VNET_HDR = 263, 23, 15


def interface(name):
    wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    # Local frames have no checksum and are not segmented yet; the virtio header that says so must be relayed too.
    wire.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    wire.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
    wire.bind((name, 0x0003))
    wire.setblocking(False)
    return wire


def main():
    wires = [interface(name) for name in sys.argv[1:3]]
    delay, loss = float(sys.argv[3]) / 1000, float(sys.argv[4]) / 100
    if os.fork():
        os._exit(0)
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    waiting = collections.deque()
    while True:
        pause = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        for wire in select.select(wires, [], [], pause)[0]:
            frame = wire.recv(1 << 17)
            if random.random() >= loss:
                waiting.append((time.monotonic() + delay, wires[wire is wires[0]], frame))
        while waiting and waiting[0][0] <= time.monotonic():
            _, wire, frame = waiting.popleft()
            try:
                wire.send(frame)
            except BlockingIOError:
                pass


if __name__ == "__main__":
    main()
