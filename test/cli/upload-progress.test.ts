import { expect, test } from 'vitest'
import { describeProgress } from '../../src/cli/reading/here.ts'

test('the progress of an upload shows the rate and the remaining time of each step and attempt', () => {
  const describe = describeProgress()
  const at = (nowMs: number, step: 'READING' | 'SENDING', bytes: number) =>
    describe({ step, bytes, totalBytes: 100e6 }, nowMs)
  expect(at(0, 'READING', 10e6)).toBe('reading files: 10 MB of 100 MB')
  expect(at(50, 'READING', 20e6)).toBeNull()
  expect(at(60, 'READING', 100e6)).toBe('reading files: 100 MB of 100 MB')
  expect(at(70, 'SENDING', 0)).toBe('sending files: 0 B of 100 MB')
  expect(at(2_070, 'SENDING', 20e6)).toBe('sending files: 20 MB of 100 MB, 10 MB/s, 8 s left')
  expect(at(4_070, 'SENDING', 20.5e6)).toBe('sending files: 21 MB of 100 MB, 5.1 MB/s, 16 s left')
  expect(at(5_000, 'SENDING', 1e6)).toBe('sending files: 1.0 MB of 100 MB')
  expect(at(7_000, 'SENDING', 2e6)).toBe('sending files: 2.0 MB of 100 MB, 500 kB/s, 4 min left')
})
