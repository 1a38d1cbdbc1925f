import { join } from 'node:path'
import { expect, it } from 'vitest'
import { archive } from '../../../src/executors/container/archive.ts'
import { Engine } from '../../../src/executors/container/engine.ts'
import { wasEndedByEngine } from '../../../src/executors/container/engine-stop.ts'
import type { Inspected } from '../../../src/executors/container/observation.ts'
import { notePath } from '../../../src/executors/container/run-files.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { makeDirectory } from '../../support/directory.ts'
import { listenAsEngine } from './fake-engine.ts'

/** A container that ended before dockerd started. */
it.each([
  ['was killed with its machine was interrupted', '\n', 255, true],
  ['was killed by dockerd was interrupted', '\n', 137, true],
  ['got TERM from dockerd was interrupted', 'ended TERM 0\n', 0, true],
  ['ended by itself with 255 was not interrupted', 'ended 255\n', 255, false],
  ['lost its output, and then its dockerd, was interrupted', 'ended 141\n', 255, true],
  ['ended by itself with 255 under an earlier version was not interrupted', 'ended\n', 255, false],
  ['ended by itself with 3 was not interrupted', 'ended 3\n', 3, false],
])('a container that %s', async (_, note, exitCode, expected) => {
  const directory = makeDirectory()
  const notes = await archive([{ path: notePath, mode: 0o666, text: note }])
  await listenAsEngine(directory, ({ url = '' }, response) => {
    if (url.includes('/archive')) response.end(notes)
    else response.end(JSON.stringify({ Created: '2026-01-01T00:01:00Z', Version: '20.10' }))
  })
  const engine = new Engine(`unix://${join(directory, 'engine.sock')}`, systemClock)
  const ended = { Id: 'a', State: { ExitCode: exitCode, FinishedAt: '2026-01-01T00:00:59Z' } } as Inspected
  expect(await wasEndedByEngine(engine, ended)).toBe(expected)
  engine.close()
})
