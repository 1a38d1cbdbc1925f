import { expect, test } from 'vitest'
import { BackendRefused, BackendUnreachable } from '../../../src/executors/backend/unreachable.ts'
import type { SlurmCommand } from '../../../src/executors/slurm/commands.ts'
import { parseSteps, sampleJobs } from '../../../src/executors/slurm/sstat.ts'

/** Output of Slurm 22.05: a job with a batch script and a step of two tasks, and a job that only sleeps. */
const output = `1.batch|cpu=00:00:03,energy=0,fs/disk=120022399,mem=3972K,pages=3,vmem=4168K
1.0|cpu=00:00:14,energy=0,fs/disk=93158250,mem=272K,pages=0,vmem=272K
2.batch|cpu=00:00:00,energy=0,fs/disk=4111,mem=220K,pages=0,vmem=220K
`

test('the resource use of a job is the sum of its steps', () => {
  expect(parseSteps(output)).toEqual(
    new Map([
      ['1', { cpuSeconds: 17, memoryBytes: 4_244 * 1024 }],
      ['2', { cpuSeconds: 0, memoryBytes: 220 * 1024 }],
    ]),
  )
  expect(parseSteps('3.batch|cpu=1-02:03:04,mem=1.5G\n3.extern|cpu=03:04.500,mem=0\n')).toEqual(
    new Map([['3', { cpuSeconds: 93_784 + 184.5, memoryBytes: 1.5 * 2 ** 30 }]]),
  )
})

test('the samples of jobs without accounting data are empty', () => {
  expect(parseSteps('4.batch|\n')).toEqual(new Map([['4', {}]]))
  expect(parseSteps('')).toEqual(new Map())
})

test('many jobs are read with several commands, and a failed command omits only its own jobs', async () => {
  const commands: SlurmCommand[] = []
  const slurm = async (command: SlurmCommand) => {
    commands.push(command)
    if (commands.length === 1) return output
    throw new BackendRefused(1, 'sstat: error: no steps running for job 9')
  }
  expect(
    (
      await sampleJobs(
        slurm,
        Array.from({ length: 2_500 }, (_, i) => String(i + 1)),
      )
    ).size,
  ).toBe(2)
  expect(commands.map(({ args }) => args.at(-1)?.split(',').length)).toEqual([2_000, 500])
  expect((await sampleJobs(slurm, [])).size).toBe(0)
  expect(commands).toHaveLength(2)
  const away = () => Promise.reject(new BackendUnreachable('away'))
  await expect(sampleJobs(away, ['1'])).rejects.toThrow(BackendUnreachable)
})
