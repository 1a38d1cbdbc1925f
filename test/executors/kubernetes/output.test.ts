import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { logBeginning, type PodPosition, readOutputAfter } from '../../../src/executors/kubernetes/output.ts'

/** Conversion of the log of a pod to the output of its job. */

async function* cutInto(text: string, size: number): AsyncGenerator<Buffer> {
  const whole = Buffer.from(text, 'latin1')
  for (let from = 0; from < whole.length; from += size) yield whole.subarray(from, from + size)
}

/** `plain`: the output without stamps, which is read if stamps are in the middle of lines. */
async function readAll(text: string, from: PodPosition, { size = 65_536, follows = false, plain = '' } = {}) {
  const read = {
    out: '',
    next: from,
    ways: [] as { at: PodPosition; length: number }[],
    isLost: false,
    hasMoved: false,
  }
  for await (const chunk of readOutputAfter(cutInto(text, size), from, {
    follows,
    openPlain: async () => cutInto(plain, size),
  })) {
    if (chunk === 'LOST') read.isLost = true
    else if (chunk === 'MOVED') read.hasMoved = true
    if (chunk === 'LOST' || chunk === 'MOVED') continue
    read.out += chunk.bytes.toString('latin1')
    read.next = chunk.next
    read.ways.push({ at: chunk.next, length: read.out.length })
  }
  return read
}

describe('the output of a pod', () => {
  /** Entries with stamps that repeat, decrease slightly, and are far apart. */
  const stamps = fc.array(fc.constantFrom(0, 0, 1, 7, -3, 90_000), { minLength: 1, maxLength: 15 }).map((steps) => {
    let at = Date.parse('2026-01-01T00:00:00Z')
    return steps.map((step) => {
      at += step
      return `${new Date(at).toISOString().slice(0, -1)}000000Z`
    })
  })
  const content = fc.string({ unit: fc.constantFrom('a', '1', '-', 'T', ':', '.', ' ', 'ÿ', '\r'), maxLength: 50 })
  const logs = fc.tuple(stamps, fc.array(content, { minLength: 15, maxLength: 15 })).map(([all, texts]) => ({
    whole: all.map((stamp, i) => `${stamp} ${texts[i]}\n`).join(''),
    expected: all.map((_, i) => `${texts[i]}\n`).join(''),
  }))

  it('is complete wherever the connection breaks, and resumes at every position', async () => {
    await fc.assert(
      fc.asyncProperty(logs, fc.integer({ min: 1, max: 70 }), async ({ whole, expected }, size) => {
        const first = await readAll(whole, logBeginning, { size })
        expect(first.out).toBe(expected)
        for (const { at, length } of first.ways) {
          const rest = await readAll(whole, at, { follows: true })
          expect(rest.out).toBe(expected.slice(length))
        }
        expect(await readAll(whole, first.next)).toMatchObject({ out: '', isLost: false })
      }),
    )
  })

  const day = '2026-01-01T00:00:0'
  const stamp = (second: number) => `${day}${second}.000000000Z`

  it('without a line feed is split only where the container runtime split it', async () => {
    const text = `${stamp(1)} one ${stamp(2)} two ${stamp(0)} three\n${stamp(3)} end`
    const plain = `one two ${stamp(0)} three\nend`
    for (const size of [1, 2, 31, 33, 65_536])
      expect((await readAll(text, logBeginning, { size, plain })).out).toBe(plain)
  })

  it('does not contain the timestamps of the container runtime, even if they are not in order', async () => {
    const text = `${stamp(5)} {"a":1}${stamp(4)} ls: no such file\n`
    const plain = '{"a":1}ls: no such file\n'
    for (const size of [1, 31, 65_536]) expect((await readAll(text, logBeginning, { size, plain })).out).toBe(plain)
  })

  it('keeps timestamps that the job prints between those of the container runtime', async () => {
    const words = ['until ', `${stamp(9)} `, `or ${stamp(8)} `, `${stamp(9)} ${stamp(9)} \n`]
    const text = words.map((word, i) => `${stamp(i + 1)} ${word}`).join('')
    const plain = words.join('')
    for (const size of [1, 2, 31, 33, 65_536]) {
      const first = await readAll(text, logBeginning, { size, plain })
      expect(first.out).toBe(plain)
      for (const { at, length } of first.ways)
        expect((await readAll(text, at, { follows: true, plain })).out).toBe(plain.slice(length))
    }
  })

  it('is read again if it was rotated during an ambiguous timestamp', async () => {
    const text = `${stamp(1)} one ${stamp(2)} two\n`
    await expect(readAll(text, logBeginning, { plain: 'another file, and its end\n' })).rejects.toThrow(/rotated/)
  })

  it('resumes within an entry, and after one of several entries with the same timestamp', async () => {
    const text = `${stamp(1)} a\n${stamp(1)} bcd\n${stamp(2)} e\n`
    expect((await readAll(text, { first: stamp(1), at: stamp(1), seen: 2, bytes: 1 })).out).toBe('cd\ne\n')
    expect((await readAll(text, { first: stamp(1), at: stamp(1), seen: 1, bytes: 2 })).out).toBe('bcd\ne\n')
  })

  it('has a gap and no repetition if its position was rotated away', async () => {
    const later = { first: stamp(0), at: stamp(1), seen: 1, bytes: 2 }
    const both = `${stamp(1)} a\n${stamp(2)} new\n`
    const follows = true
    expect(await readAll(`${stamp(2)} new\n`, later, { follows })).toMatchObject({ out: '', hasMoved: true })
    expect(await readAll(both, later)).toMatchObject({ out: 'new\n', isLost: false, next: { first: stamp(1) } })
    expect(await readAll(`${stamp(2)} new\n`, later)).toMatchObject({ out: '', isLost: true })
    expect(await readAll(`${stamp(0)} old\n`, later)).toMatchObject({ out: '', isLost: true })
    expect(await readAll('', later)).toMatchObject({ out: '', isLost: false })
  })

  it('causes an error if it is a message of the kubelet', async () => {
    await expect(readAll('unable to retrieve container logs for containerd://1', logBeginning)).rejects.toThrow(
      /unable to retrieve/,
    )
  })
})
