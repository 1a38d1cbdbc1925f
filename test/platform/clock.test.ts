import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { systemClock } from '../../src/platform/clock.ts'

it('a sleep until a past moment ends at once, without a warning of Node', async () => {
  const warnings: string[] = []
  const note = ({ name }: Error) => void warnings.push(name)
  process.on('warning', note)
  await systemClock.sleep(-3_590)
  await setImmediate()
  process.off('warning', note)
  expect(warnings).toEqual([])
})
