import { expect, it } from 'vitest'
import { toExecCommand } from '../../src/cli/commands/exec.ts'

it.each([
  ['SLURM', '42', [], 'srun --jobid=42 --overlap --pty sh'],
  ['SLURM', '42', ['hostname'], 'srun --jobid=42 --overlap hostname'],
  ['CONTAINER', 'a1b2', [], undefined],
  ['KUBERNETES', 'berth-1', [], undefined],
  ['LOCAL', '4711', [], undefined],
  ['HANDLER', '4711', [], undefined],
] as const)('a job of the executor %s with the native id %s', (executor, nativeId, words, command) => {
  expect(toExecCommand(executor, nativeId, words)?.join(' ')).toBe(command)
})
