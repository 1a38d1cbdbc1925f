import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { limitConnections } from '../../../src/executors/backend/connection-limit.ts'

it('the number of connections to ports is limited, and so is the number that begin at the same time', async () => {
  const connect = limitConnections('on gpu1')
  let [beginning, most] = [0, 0]
  const make = async () => {
    most = Math.max(most, ++beginning)
    await wait(1)
    beginning--
    return new PassThrough()
  }
  const open = await Promise.all(Array.from({ length: 64 }, () => connect(make)))
  expect(most).toBe(4)
  await expect(connect(make)).rejects.toThrow('64 connections lead to ports of jobs on gpu1, the maximum')
  open[0]?.destroy()
  await wait(1)
  const fail = () => Promise.reject(new Error('away'))
  await expect(connect(fail)).rejects.toThrow('away')
  expect(await connect(make)).toBeInstanceOf(PassThrough)
})

it('a connection that was closed before it was handed over is not counted', async () => {
  const connect = limitConnections('on gpu1')
  const makeClosed = async () => {
    const stream = new PassThrough().destroy()
    await once(stream, 'close')
    return stream
  }
  for (let n = 0; n < 64; n++) expect((await connect(makeClosed)).closed).toBe(true)
  expect(await connect(async () => new PassThrough())).toBeInstanceOf(PassThrough)
})
