"""`python3 clients/python/src MODULE` is the process of a run of the executor `handler`, for modules in Python."""

from berth._host import main

main()
