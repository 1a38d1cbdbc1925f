import { chmod, readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { BackendRefused, BackendUnreachable } from '../../../src/executors/backend/unreachable.ts'
import { createSlurm } from '../../../src/executors/slurm/commands.ts'
import { makeDirectory } from '../../support/directory.ts'
import { until } from '../../support/until.ts'

/** Commands of Slurm that a site replaced by scripts, and that misbehave. */

let directory: string

beforeEach(async () => {
  directory = makeDirectory()
})

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

it('a hanging command of Slurm is killed with its children, even if they hold its output', async () => {
  const pids = join(directory, 'pids')
  await expect(ask(`sleep 600 & echo $! >${pids}; wait`, { timeoutMs: 500 })).rejects.toThrow(BackendUnreachable)
  const sleeper = Number(await readFile(pids, 'utf8'))
  await until(() => !isAlive(sleeper), { what: 'what it began has ended' })
})

it('a command that leaves a process behind counts as ended', async () => {
  expect(await ask('sleep 200 & echo 7')).toBe('7\n')
})

it('a command that cannot be executed counts as an unreachable backend', async () => {
  await expect(ask('echo 7', { mode: 0o644 })).rejects.toThrow(BackendUnreachable)
})

it('a command that does not read its input succeeds', async () => {
  expect(await ask('exec <&-; sleep 0.2; echo 7', { input: 'x'.repeat(10_000_000) })).toBe('7\n')
  await expect(ask('echo "sbatch: error: Batch job submission failed: Invalid account" >&2; exit 1')).rejects.toThrow(
    BackendRefused,
  )
})

it('the output of a command is read completely, also after its end', async () => {
  const late = 'exec > >(sleep 0.2; cat; sleep 0.3; echo 8); echo 7'
  expect(await ask(`exec bash -c '${late}'`)).toBe('7\n8\n')
})

it.each(['', 'printf 12345; '])('truncated output means an unreachable backend: "%s"', async (beginning) => {
  await expect(ask(`${beginning}sleep 200 &`)).rejects.toThrow('The answer of sbatch was cut off')
})

it('endless output is limited', async () => {
  await expect(ask('exec yes', { timeoutMs: 600_000 })).rejects.toThrow(BackendUnreachable)
})

it('the backend counts as unreachable if no process can be spawned', async () => {
  const slurm = createSlurm({ PATH: '/usr/bin' })
  const input = { command: 'sbatch', args: [], timeoutMs: 10_000 } as const
  await expect(slurm({ ...input, as: ['/'] })).rejects.toThrow('/ cannot be run: EACCES')
})

it.each([
  ['Correct the connection and try again.', 'Unspecified error', BackendRefused],
  ['The backup of the account is over', 'Unable to contact slurm controller (connect failure)', BackendUnreachable],
])('lines of site plugins in the error output are ignored: %j, %j', async (remark, cause, kind) => {
  const lines = [remark, `Batch job submission failed: ${cause}`].map((line) => `sbatch: error: ${line}`)
  await expect(ask(`printf '%s\\n' ${lines.map((line) => `'${line}'`).join(' ')} >&2; exit 1`)).rejects.toThrow(kind)
})
