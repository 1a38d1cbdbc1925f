"""`python3 clients/python/src MODULE` runs a handler in Python, as the process of a run of the executor `handler`."""

from berth._host import main

main()
