import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import type { Executor, Handle, RunSpec } from '../../src/executors/executor.ts'
import { CommandLines } from '../support/leaks.ts'
import type { Backend, Behaviour } from './contract.ts'
import { read, untilEnded } from './runs.ts'

interface Suite {
  backend: Backend
  executor: Executor
  start(behaviour: Behaviour, run: RunSpec): Promise<Handle>
}

const pollMs = 20

/** Variables that Berth adds to a run, such as the values of secrets and the token. */
export function testSecrets(suite: Suite): void {
  describe.each([true, false])('with inheritance %s', (inheritEnvironment) => {
    it('reaches the run, and appears in no list of processes and no description of the run', async ({ skip }) => {
      const made = suite.backend.run({})
      if (made.spec.command?.[0] !== '/bin/sh') return skip('the jobs have no commands')
      const value = `it's ${randomBytes(16).toString('hex')}`
      const environment = [{ name: 'OTHER', value: `\${API_KEY}` }]
      const command = ['/bin/sh', '-c', 'echo "$API_KEY"; echo "$OTHER"']
      const spec = { ...made.spec, command, environment, inheritEnvironment }
      const handle = await suite.start({}, { ...made, spec, injected: { ...made.injected, API_KEY: value } })
      const reading = read(suite.executor, handle)
      const lines = new CommandLines()
      const seen: string[] = []
      const over = new AbortController()
      const polling = (async () => {
        for (; !over.signal.aborted; await setTimeout(pollMs)) seen.push(...lines.read())
      })()
      await untilEnded(suite.executor, handle)
      over.abort()
      await polling
      expect((await reading).out).toBe(`${value}\n${value}\n`)
      expect(seen.filter((line) => line.includes(value))).toEqual([])
      expect((await suite.backend.readDescription?.(handle)) ?? '').not.toContain(value)
    })
  })
}
