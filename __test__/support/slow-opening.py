"""Lets files of a folder be opened only after a while, as a virus scanner does, until its input ends.

    slow-opening.py FOLDER SECONDS

It prints "ready" once it listens.
"""

import ctypes
import os
import select
import struct
import sys
import time

CLASS_CONTENT, MARK_ADD, OPEN_PERM, ON_CHILD, ALLOW = 4, 1, 0x10000, 0x08000000, 1
AT_FDCWD = -100


def main():
    folder, seconds = sys.argv[1], float(sys.argv[2])
    libc = ctypes.CDLL(None, use_errno=True)
    listener = libc.fanotify_init(CLASS_CONTENT, os.O_RDONLY)
    mask = ctypes.c_uint64(OPEN_PERM | ON_CHILD)
    if listener < 0 or libc.fanotify_mark(listener, MARK_ADD, mask, AT_FDCWD, folder.encode()) != 0:
        sys.exit(f"fanotify: {os.strerror(ctypes.get_errno())}")
    print("ready", flush=True)
    while True:
        readable, _, _ = select.select([listener, sys.stdin], [], [])
        if sys.stdin in readable and not os.read(0, 4096):
            return
        if listener not in readable:
            continue
        events = os.read(listener, 4096)
        while events:
            length, _, _, _, _, file, _ = struct.unpack_from("<IBBHQii", events)
            time.sleep(seconds)
            os.write(listener, struct.pack("<iI", file, ALLOW))
            os.close(file)
            events = events[length:]


main()
