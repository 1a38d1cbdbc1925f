"""Tests over a real server: `BERTH_URL=http://127.0.0.1:4000 python3 -m unittest discover -t . -s tests`."""
