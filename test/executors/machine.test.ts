import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { detectMachine } from '../../src/executors/local/machine.ts'
import { createLog } from '../../src/platform/log.ts'
import { recordLines } from '../support/recorded-lines.ts'

/** A folder of the PATH; what is in it decides what the server finds of GPUs. */
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-path-'))
  vi.stubEnv('PATH', folder)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true, force: true })
})

async function detect() {
  const { destination, lines } = recordLines()
  const { gpus } = await detectMachine(createLog('info', { destination }))
  return { gpus, lines }
}

test('a machine without nvidia-smi has no GPUs, and nothing is said', async () => {
  expect(await detect()).toEqual({ gpus: [], lines: [] })
})

test('what cannot be read in the PATH does not stop the start, and is said', async () => {
  // The kernel answers EACCES, as it does for a folder that may not be entered (which root may).
  await writeFile(join(folder, 'nvidia-smi'), '#!/bin/sh\n', { mode: 0o644 })
  const { gpus, lines } = await detect()
  expect(gpus).toEqual([])
  expect(lines).toMatchObject([{ code: 'EACCES', msg: expect.stringContaining('without GPUs') }])
})

test('an nvidia-smi that fails stops the start', async () => {
  await writeFile(join(folder, 'nvidia-smi'), '#!/bin/sh\nexit 9\n', { mode: 0o755 })
  await expect(detect()).rejects.toThrow(/nvidia-smi is here and fails/)
})
