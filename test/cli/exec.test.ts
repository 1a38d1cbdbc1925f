import { expect, it } from 'vitest'
import { toExecCommand } from '../../src/cli/commands/exec.ts'

it.each([
  ['container', 'a1b2', [], 'docker exec -it a1b2 sh'],
  ['container', 'a1b2', ['nvidia-smi', '-L'], 'docker exec a1b2 nvidia-smi -L'],
  ['container', 'a1b2', ['--', 'ls', '--', '-l'], 'docker exec a1b2 ls -- -l'],
  ['container', 'a1b2', ['--'], 'docker exec -it a1b2 sh'],
  ['kubernetes', 'berth-1-0 berth-1-1', [], 'kubectl exec -it berth-1-0 -c job -- sh'],
  ['kubernetes', 'berth-1', ['ls', '-l'], 'kubectl exec berth-1 -c job -- ls -l'],
  ['slurm', '42', [], 'srun --jobid=42 --overlap --pty sh'],
  ['slurm', '42', ['hostname'], 'srun --jobid=42 --overlap hostname'],
  ['local', '4711', [], undefined],
  ['handler', '4711', [], undefined],
])('a job of the executor %s with the native id %s', (executor, nativeId, words, command) => {
  expect(toExecCommand(executor, nativeId, words)?.join(' ')).toBe(command)
})
