import { expect, it } from 'vitest'
import { toExecCommand } from '../../src/cli/commands/exec.ts'

it.each([
  ['KUBERNETES', 'berth-1-0 berth-1-1', [], 'kubectl exec -it berth-1-0 -c job -- sh'],
  ['KUBERNETES', 'berth-1', ['ls', '-l'], 'kubectl exec berth-1 -c job -- ls -l'],
  ['SLURM', '42', [], 'srun --jobid=42 --overlap --pty sh'],
  ['SLURM', '42', ['hostname'], 'srun --jobid=42 --overlap hostname'],
  ['CONTAINER', 'a1b2', [], undefined],
  ['LOCAL', '4711', [], undefined],
  ['HANDLER', '4711', [], undefined],
] as const)('a job of the executor %s with the native id %s', (executor, nativeId, words, command) => {
  expect(toExecCommand(executor, nativeId, words)?.join(' ')).toBe(command)
})
