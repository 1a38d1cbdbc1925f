import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createSlurm, SlurmAway, SlurmRefused } from '../../src/executors/slurm/commands.ts'
import { until } from '../support/until.ts'

/** Commands of Slurm that are scripts of a site, and misbehave. */

let directory: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'berth-commands-'))
})
afterEach(() => rm(directory, { recursive: true }))

async function ask(script: string, { mode = 0o755, timeoutMs = 10_000, input = '' } = {}) {
  const sbatch = join(directory, 'sbatch')
  await writeFile(sbatch, `#!/bin/sh\n${script}\n`)
  await chmod(sbatch, mode)
  const slurm = createSlurm({ PATH: [directory, '/usr/bin', '/bin'].join(delimiter) })
  return slurm({ command: 'sbatch', args: [], timeoutMs, input })
}
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

it('one that hangs is given up with all that it began, also if that holds its output', async () => {
  const pids = join(directory, 'pids')
  const beganMs = performance.now()
  await expect(ask(`sleep 60 & echo $! >${pids}; wait`, { timeoutMs: 500 })).rejects.toThrow(SlurmAway)
  expect(performance.now() - beganMs).toBeLessThan(5_000)
  const sleeper = Number(await readFile(pids, 'utf8'))
  await until(() => !isAlive(sleeper), { what: 'what it began has ended' })
})

it('one that leaves a process behind is over when it ends', async () => {
  const beganMs = performance.now()
  expect(await ask('sleep 20 & echo 7')).toBe('7\n')
  expect(performance.now() - beganMs).toBeLessThan(10_000)
})

it('one that cannot be executed says nothing of a job', async () => {
  await expect(ask('echo 7', { mode: 0o644 })).rejects.toThrow(SlurmAway)
})

it('one that reads nothing, or answers without end, is no more than that', async () => {
  expect(await ask('exec <&-; sleep 0.2; echo 7', { input: 'x'.repeat(10_000_000) })).toBe('7\n')
  await expect(ask('echo "sbatch: error: Batch job submission failed: Invalid account" >&2; exit 1')).rejects.toThrow(
    SlurmRefused,
  )
})
