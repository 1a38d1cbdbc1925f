import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { printLines } from './harness.ts'
import { alternate, type Bench, jobs, paced, printUse, until, withBench } from './job-rounds.ts'
import { residentBytes } from './process-usage.ts'
import { compareWithSbatch } from './slurm.ts'

/**
 * `/bin/true` jobs per second through the whole path (submitJobs → SUCCEEDED in the database).
 *
 * local: beside fork + exec of the same from Node at the same concurrency; the rounds alternate. With it: the processor
 * time of a job in the server, in PostgreSQL, and in the processes of its run (the shim and what it starts), its
 * transactions, and the memory of the server with 1,000 running simulated and 100 running local jobs. Goal: ≥ 0.35 ×.
 *
 * slurm: slurm.ts. Needs a cluster.
 *
 * `--only local`, `--only slurm`: one of them. `--quick`: fewer jobs and rounds.
 */
const isQuick = process.argv.includes('--quick')
const concurrency = 16
const jobsPerRound = isQuick ? 200 : 600
const spawnsPerRound = isQuick ? 500 : 1_500
const rounds = isQuick ? 2 : 5
const running = { sim: 1_000, local: 100 }

const config = `pools:
  - name: local
    executors: [local]
    nodes: [{ name: n1, cpu: ${concurrency}, memoryGib: 64 }]
  - name: wide
    executors: [local]
    nodes: [{ name: n2, cpu: 1000, memoryGib: 640 }]
  - name: sim
    executors: [simulated]
    nodes: [{ name: n3, cpu: 1000, memoryGib: 4000 }]
queues:
  - { name: local, pool: local }
  - { name: wide, pool: wide }
  - { name: sim, pool: sim }
`

const spawnTrue = () => once(spawn('/bin/true', { stdio: 'ignore' }), 'exit')

async function compare(bench: Bench): Promise<void> {
  const { bare, own } = await alternate(
    rounds,
    () => paced(spawnsPerRound, concurrency, spawnTrue),
    () => jobs(bench, jobsPerRound, { command: ['/bin/true'] }),
  )
  const rate = own(({ perSecond }) => perSecond)
  const load = loadavg().map((one) => one.toFixed(1))
  printLines(`local: /bin/true, ${concurrency} at a time; load ${load.join(' ')}`, [
    ['', 'rate', 'ratio'],
    ['fork + exec from Node', `${Math.round(bare)}/s`, '1.00 ×'],
    ['submitJobs → SUCCEEDED', `${Math.round(rate)}/s`, `${(rate / bare).toFixed(3)} ×`],
  ])
  printUse(own, 'processes of the run')
}

async function memory(bench: Bench): Promise<void> {
  const idle = residentBytes(bench.serverPid)
  const environment = [{ name: 'SIM_RUN_SECONDS', value: '86400' }]
  await bench.submit(running.sim, { queue: 'sim', command: ['x'], environment })
  await bench.submit(running.local, { queue: 'wide', command: ['/bin/sleep', '60'] })
  await until('all run', async () => (await bench.count('RUNNING')) >= running.sim + running.local)
  const busy = residentBytes(bench.serverPid)
  const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`
  printLines('memory of the server (RSS)', [
    ['after the rounds', mebibytes(idle)],
    [`with ${running.sim} running simulated and ${running.local} running local jobs`, mebibytes(busy)],
  ])
}

const only = process.argv.at(process.argv.indexOf('--only') + 1)
const isWanted = (name: string) => !process.argv.includes('--only') || only === name

if (isWanted('local'))
  await withBench(config, async (bench) => {
    await compare(bench)
    await memory(bench)
  })
if (isWanted('slurm')) await compareWithSbatch(isQuick)
