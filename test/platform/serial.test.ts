import { expect, test } from 'vitest'
import { createSerial } from '../../src/platform/serial.ts'

test('tasks with the same key run in order, even after a failure, and do not delay tasks with other keys', async () => {
  const serial = createSerial()
  const done: string[] = []
  const first = Promise.withResolvers<void>()
  const work = [
    serial.run('a', () => first.promise.then(() => Promise.reject(new Error('failed')))),
    serial.run('a', async () => done.push('second')),
    serial.run('b', async () => done.push('other')),
  ]
  await work[2]
  expect(done).toEqual(['other'])
  first.resolve()
  await expect(work[0]).rejects.toThrow('failed')
  await work[1]
  expect(done).toEqual(['other', 'second'])
})
