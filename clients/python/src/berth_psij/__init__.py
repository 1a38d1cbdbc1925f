"""The executor `berth` of psij-python: `psij.JobExecutor.get_instance("berth")`."""
