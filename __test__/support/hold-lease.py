# Holds a write lease on a file until somebody else wants it, and for so many seconds longer; without
# a number for ever (Linux). Says "ready" once it has the lease.

import fcntl
import os
import signal
import sys
import time

path = sys.argv[1]
grace = float(sys.argv[2]) if len(sys.argv) > 2 else None

fd = os.open(path, os.O_RDWR)
# The system's word that the lease is wanted; it would end the process.
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGIO])
fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
print("ready", flush=True)

signal.sigwait([signal.SIGIO])
if grace is not None:
    time.sleep(grace)
    fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
signal.pause()
