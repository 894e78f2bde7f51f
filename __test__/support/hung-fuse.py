"""Mounts a FUSE file system whose answers can be held back, and serves it until its input ends.

    hung-fuse.py MOUNTPOINT SECONDS

The file system has one directory, with one file `a.txt`. It prints "ready" once it is mounted. Each
line that comes in afterwards makes it answer the next request so many seconds later, and it prints
"hangs"; all that is asked for meanwhile waits as well. It speaks the kernel's protocol itself, so
that nothing but Python's own library is needed.
"""

import ctypes
import os
import select
import struct
import sys
import time

CONTENT = b"from the slow file system\n"
ENOENT, ENOSYS = 2, 38
LOOKUP, FORGET, GETATTR, OPEN, READ, STATFS, RELEASE = 1, 2, 3, 14, 15, 17, 18
INIT, OPENDIR, READDIR, RELEASEDIR, INTERRUPT, BATCH_FORGET = 26, 27, 28, 29, 36, 42
ROOT, FILE = 1, 2


def attributes(node):
    is_root = node == ROOT
    mode = 0o040755 if is_root else 0o100644
    size = 0 if is_root else len(CONTENT)
    return struct.pack("<6Q10I", node, size, 1, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)


def answer(opcode, node, body):
    """The answer to a request; None where the kernel expects none."""
    if opcode in (FORGET, BATCH_FORGET, INTERRUPT):
        return None
    if opcode == INIT:
        major, minor, readahead, flags = struct.unpack_from("<4I", body)
        return 0, struct.pack("<4I2H2I2H8I", 7, 31, readahead, 0, 12, 10, 1 << 17, 1, 0, 0, *([0] * 8))
    if opcode == GETATTR:
        return 0, struct.pack("<QII", 0, 0, 0) + attributes(node)
    if opcode == LOOKUP:
        if node != ROOT or body.rstrip(b"\0") != b"a.txt":
            return -ENOENT, b""
        return 0, struct.pack("<4Q2I", FILE, 0, 0, 0, 0, 0) + attributes(FILE)
    if opcode in (OPEN, OPENDIR):
        return 0, struct.pack("<QII", 0, 0, 0)
    if opcode == READ:
        _, offset, size = struct.unpack_from("<QQI", body)
        return 0, CONTENT[offset : offset + size]
    if opcode == STATFS:
        return 0, struct.pack("<5Q4I6I", 1, 0, 0, 2, 0, 512, 255, 512, 0, *([0] * 6))
    if opcode in (READDIR, RELEASE, RELEASEDIR):
        return 0, b""
    return -ENOSYS, b""


def main():
    mountpoint, seconds = sys.argv[1], float(sys.argv[2])
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()},allow_other"
    libc = ctypes.CDLL(None, use_errno=True)
    mounted = libc.mount(b"test", mountpoint.encode(), b"fuse.test", 6, options.encode())
    if mounted != 0:
        sys.exit(f"mount: {os.strerror(ctypes.get_errno())}")
    print("ready", flush=True)
    hangs = False
    try:
        while True:
            readable, _, _ = select.select([device, sys.stdin], [], [])
            if sys.stdin in readable:
                if not os.read(0, 4096):
                    return
                hangs = True
                print("hangs", flush=True)
                continue
            request = os.read(device, 1 << 18)
            length, opcode, unique, node = struct.unpack_from("<IIQQ", request)
            if hangs and opcode not in (FORGET, BATCH_FORGET, INTERRUPT):
                time.sleep(seconds)
                hangs = False
            answered = answer(opcode, node, request[40:length])
            if answered is not None:
                error, body = answered
                os.write(device, struct.pack("<IiQ", 16 + len(body), error, unique) + body)
    finally:
        libc.umount2(mountpoint.encode(), 2)


main()
