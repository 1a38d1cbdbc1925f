import { PassThrough } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { ConnectionLimit } from '../../../src/executors/backend/connection-limit.ts'

it('connections to ports are limited, and few begin at the same time', async () => {
  const limit = new ConnectionLimit('on gpu1')
  let [beginning, most] = [0, 0]
  const make = async () => {
    most = Math.max(most, ++beginning)
    await wait(1)
    beginning--
    return new PassThrough()
  }
  const open = await Promise.all(Array.from({ length: 64 }, () => limit.open(make)))
  expect(most).toBe(4)
  await expect(limit.open(make)).rejects.toThrow('64 connections lead to ports of jobs on gpu1, the maximum')
  open[0]?.destroy()
  await wait(1)
  const fail = () => Promise.reject(new Error('away'))
  await expect(limit.open(fail)).rejects.toThrow('away')
  expect(await limit.open(make)).toBeInstanceOf(PassThrough)
})
