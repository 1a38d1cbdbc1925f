/** `npm run bench` lists the benchmarks; `npm run bench -- NAME [OPTIONS]` runs one. */
const benches: Readonly<Record<string, { file: string; about: string }>> = {
  submit: {
    file: 'submit.ts',
    about: 'submissions per second, beside pg-boss, graphile-worker and --against REVISION',
  },
  live: { file: 'live.ts', about: 'live streams: subscribers, output and latency, beside bare servers' },
  executors: { file: 'executors.ts', about: 'jobs per second and memory of the local and Slurm executors' },
  latency: { file: 'latency.ts', about: 'submission to RUNNING on an idle server' },
  scheduler: { file: 'scheduler.ts', about: 'the planner alone, with up to 1,000,000 jobs in memory' },
  starts: { file: 'scheduler-database.ts', about: 'takeover and starts over PostgreSQL, with up to 1,000,000 jobs' },
  queue: { file: 'queue-reads.ts', about: 'reads of a queue of 1,000,000 jobs' },
  scrape: { file: 'scrape.ts', about: 'scrapes of /metrics with 100,000 waiting and 1,000 running jobs' },
  prices: { file: 'prices.ts', about: 'the price of documents of all kinds beside the time that they take' },
  lists: { file: 'lists.ts', about: 'every filter and order of the list of jobs' },
  logs: { file: 'logs.ts', about: 'pages, searches and downloads of a log of 1 GiB' },
  console: { file: 'console/main.ts', about: 'the console in Chromium: 100,000 jobs, huge logs' },
  files: {
    file: 'files.ts',
    about: 'snapshots: 50,000 files sent again, and 1 GiB up and down beside curl and a bare server',
  },
  sessions: { file: 'sessions.ts', about: 'commands in a running job, bytes through them, and idle sessions' },
  fairness: { file: 'fairness.ts', about: 'how long one user waits while another sends expensive requests' },
  backup: { file: 'long-transaction.ts', about: 'latency while a long transaction holds dead rows' },
}

const [name] = process.argv.splice(2, 1)
const bench = name !== undefined && Object.hasOwn(benches, name) ? benches[name] : undefined
if (bench) await import(`./${bench.file}`)
else {
  const rows = Object.entries(benches).map(([each, { about }]) => `  ${each.padEnd(11)}${about}\n`)
  const problem = name === undefined ? '' : `Unknown benchmark ${name}.\n\n`
  process.stdout.write(`${problem}npm run bench -- NAME [OPTIONS]\n\n${rows.join('')}`)
  process.exitCode = name === undefined ? 0 : 2
}
