import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { loadavg } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { printLines } from './harness.ts'
import { alternate, jobs, paced, printUse, until, withBench } from './job-rounds.ts'

/**
 * `/bin/true` jobs per second on Slurm through the whole path (submitJobs → SUCCEEDED in the database), beside bare
 * sbatch of a script that is `/bin/true`: as many, with the same amounts, on the same partition, until the queue is
 * empty. Both have a maximum run time: short jobs are handed over early (decision 18). The rounds alternate. Goal: ≥ 0.8 ×.
 *
 * The cluster is there before: `bash test/executors/slurm/cluster.sh up FOLDER`, and SLURM_CONF names its slurm.conf.
 */
const partition = 'main'
const memory = { bytes: 64 * 2 ** 20, option: '--mem=64M' }
const sbatchesAtOnce = 16

const configOf = (folder: string) => `pools:
  - { name: cluster, executor: slurm, sharedDir: ${folder} }
queues:
  - { name: ${partition}, pool: cluster }
`

const run = promisify(execFile)
const names = ['--comment=bare', `--partition=${partition}`, '--job-name=bare', '--no-requeue']
const amounts = ['--nodes=1', '--ntasks=1', '--cpus-per-task=1', memory.option, '--time=2']
const files = ['--chdir=/', '--input=/dev/null', '--output=/dev/null', '--error=/dev/null']

async function sbatch(): Promise<void> {
  const child = spawn('sbatch', ['--parsable', ...names, ...amounts, ...files], {
    stdio: ['pipe', 'ignore', 'inherit'],
  })
  child.stdin.end('#!/bin/sh\n/bin/true\n')
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`sbatch ended with ${code}`)
}

const untilEmpty = () =>
  until('the queue of Slurm is empty', async () => {
    const { stdout } = await run('squeue', ['--noheader', '--states=PENDING,RUNNING,COMPLETING', '--format=%i'])
    return stdout === ''
  })

async function bare(amount: number): Promise<number> {
  await untilEmpty()
  const began = performance.now()
  await paced(amount, sbatchesAtOnce, sbatch)
  await untilEmpty()
  return (amount * 1_000) / (performance.now() - began)
}

async function absence(): Promise<string | null> {
  if (process.env['SLURM_CONF'] === undefined) return 'SLURM_CONF names no slurm.conf'
  return run('sinfo', ['--noheader', `--partition=${partition}`]).then(
    ({ stdout }) => (stdout === '' ? `Slurm has no partition ${partition}` : null),
    (error: Error) => error.message.trim(),
  )
}

export async function compareWithSbatch(isQuick: boolean): Promise<void> {
  const missing = await absence()
  if (missing !== null) return void process.stdout.write(`\nslurm: SKIPPED, because ${missing}\n`)
  const amount = isQuick ? 60 : 200
  const env = { SLURM_CONF: process.env['SLURM_CONF'] ?? '' }
  const spec = {
    queue: partition,
    workdir: '/',
    command: ['/bin/true'],
    resources: { memoryBytes: memory.bytes },
    maxRunTimeSeconds: 60,
  }
  await withBench(
    (folder) => configOf(join(folder, 'shared')),
    async (bench) => {
      const result = await alternate(
        isQuick ? 2 : 5,
        () => bare(amount),
        async () => {
          await untilEmpty()
          return jobs(bench, amount, spec)
        },
      )
      const rate = result.own(({ perSecond }) => perSecond)
      const load = loadavg().map((one) => one.toFixed(1))
      printLines(`slurm: ${amount} × /bin/true; load ${load.join(' ')}`, [
        ['', 'rate', 'ratio'],
        ['bare sbatch', `${result.bare.toFixed(1)}/s`, '1.00 ×'],
        ['submitJobs → SUCCEEDED', `${rate.toFixed(1)}/s`, `${(rate / result.bare).toFixed(2)} ×`],
      ])
      printUse(result.own, 'sbatch, squeue and others')
    },
    env,
  )
}
