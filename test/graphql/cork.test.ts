import { Writable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createCork } from '../../src/graphql/cork.ts'

it('what is written in one turn of the event loop leaves together', async () => {
  const calls: string[] = []
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      calls.push(chunk)
      done()
    },
    writev(chunks, done) {
      calls.push(chunks.map(({ chunk }) => chunk).join(' '))
      done()
    },
  })
  const cork = createCork(stream)
  for (const text of ['one', 'two', 'three']) {
    cork()
    stream.write(text)
  }
  expect(calls).toEqual([])
  await turn()
  expect(calls).toEqual(['one two three'])
  cork()
  stream.write('four')
  await turn()
  expect(calls).toEqual(['one two three', 'four'])
})
