import { expect, it } from 'vitest'
import { findTraits } from '../../src/domain/executors.ts'
import type { FoundOutput } from '../../src/domain/outputs/found.ts'
import type { Executor, Handle, RunSpec } from '../../src/executors/executor.ts'
import type { Backend, Behaviour } from './contract.ts'
import { read, untilEnded } from './runs.ts'
import { makeOpener } from './snapshot-files.ts'

interface Suite {
  backend: Backend
  executor: Executor
  start(behaviour: Behaviour, run: RunSpec): Promise<Handle>
}

/** Output files that a run leaves in its working directory. */
export function testOutputs(suite: Suite): void {
  it('are found and read after the end of the run, without links, also by a server that starts later', async (context) => {
    const made = suite.backend.run({})
    const { honours } = findTraits(suite.executor.name)
    if (!honours.includes('outputs') || made.spec.command?.[0] !== '/bin/sh')
      return context.skip('the executor has no outputs, or its jobs no commands')
    const script =
      'mkdir -p "sub folder/-x"; printf abc >"sub folder/-x/f"; printf a >"sub folder/a:b"; seq 100000 >big; ln big "sub folder/best"; ln -s big link; ln -s / root; rm in; exit 3'
    const spec = { ...made.spec, workdir: null, outputs: ['*'], command: ['/bin/sh', '-c', script] }
    const handle = await suite.start({}, { ...made, spec, openSnapshot: makeOpener({ in: { text: 'x' } }) })
    await read(suite.executor, handle)
    await untilEnded(suite.executor, handle)
    const later = await suite.backend.open()
    try {
      const found: FoundOutput[] = []
      const files = new Map<string, number>()
      const pick = (one: FoundOutput) => one.size === null || (found.push(one) > 0 && one.type === 'FILE')
      for await (const one of later.outputs?.(handle, pick, new AbortController().signal) ?? []) {
        if ('unread' in one) throw new Error(one.unread)
        let bytes = 0
        for await (const piece of one.content) bytes += piece.length
        files.set(one.path, bytes)
      }
      expect(found.map(({ path, type }) => `${type} ${path}`).toSorted()).toEqual([
        'FILE big',
        'FILE sub folder/-x/f',
        'FILE sub folder/a:b',
        'FILE sub folder/best',
        'LINK link',
        'LINK root',
      ])
      expect(Object.fromEntries(files)).toEqual({
        big: 588_895,
        'sub folder/-x/f': 3,
        'sub folder/a:b': 1,
        'sub folder/best': 588_895,
      })
      expect(found.find(({ path }) => path === 'big')?.size).toBe(588_895)
    } finally {
      await later.close()
    }
    await suite.executor.forget?.(handle)
  })
}
