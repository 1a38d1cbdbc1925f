import { describe, expect, it } from 'vitest'
import { createRedactor, noHeldOutput, type Redactor } from '../../src/logs/redactor.ts'

const mask = '••••••'

function redactAll(redactor: Redactor, chunks: readonly (string | Uint8Array)[]): string {
  let held = noHeldOutput
  const out: Uint8Array[] = []
  for (const chunk of chunks) {
    const redacted = redactor.redact(held, Buffer.from(chunk as string))
    held = redacted.held
    out.push(redacted.bytes)
  }
  return Buffer.concat([...out, redactor.end(held)]).toString()
}

const open = (...values: string[]): Redactor => createRedactor(values)

/** Reproducible numbers from 0 to 1. */
function createRandom(seed: number) {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

function cutAtRandom(bytes: Buffer, random: () => number): Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + Math.floor(random() * 7)
    chunks.push(bytes.subarray(at, at + size))
    at += size
  }
  return chunks
}

describe('the redactor of secrets', () => {
  it('masks a value that lies in one chunk or in several', () => {
    const redactor = open('s3cr3t-value')
    expect(redactAll(redactor, ['key s3cr3t-value!\n'])).toBe(`key ${mask}!\n`)
    expect(redactAll(redactor, ['key s3cr3', 't-va', 'lue!\n'])).toBe(`key ${mask}!\n`)
    expect(redactAll(redactor, [...'s3cr3t-values3cr3t-value'])).toBe(mask)
  })

  it('shows the beginning of a value that it held back if the rest does not follow', () => {
    const redactor = open('s3cr3t-value')
    expect(redactAll(redactor, ['s3cr3t-', 's3cr3t-valve'])).toBe('s3cr3t-s3cr3t-valve')
    expect(redactAll(redactor, ['the end s3cr3t-valu'])).toBe('the end s3cr3t-valu')
    const { bytes, held } = redactor.redact(noHeldOutput, Buffer.from('line\ns3cr'))
    expect([Buffer.from(bytes).toString(), held.bytes.toString()]).toEqual(['line\n', 's3cr'])
  })

  it('passes a chunk without a value on unchanged', () => {
    const chunk = Buffer.from('nothing to hide\n')
    const { bytes, held } = open('s3cr3t-value').redact(noHeldOutput, chunk)
    expect([bytes.buffer, bytes.length]).toEqual([chunk.buffer, chunk.length])
    expect(held.bytes).toHaveLength(0)
  })

  it('masks each line of a multi-line value if the line has 8 characters', () => {
    const redactor = open('first-line\n  second-line\r\nshort\n')
    expect(redactAll(redactor, ['second-line, short, first-line\n'])).toBe(`${mask}, short, ${mask}\n`)
    expect(redactAll(redactor, ['first-line\n  second-line\r\nshort\n.'])).toBe(`${mask}.`)
  })

  it('masks the longest of several values at the same position, and overlapping values once', () => {
    const redactor = open('abcdefgh', 'abcdefghij', 'fghijklmno')
    expect(redactAll(redactor, ['abcdefgh', 'ij '])).toBe(`${mask} `)
    expect(redactAll(redactor, ['abcdefghx', 'abcdefg', 'hijklmno '])).toBe(`${mask}x${mask} `)
  })

  it('holds back fewer bytes than the longest value has, even if the output repeats forever', () => {
    const redactor = open('aaaaaaaaa')
    let held = noHeldOutput
    let out = ''
    for (let at = 0; at < 100; at++) {
      const redacted = redactor.redact(held, Buffer.from('aaaa'))
      held = redacted.held
      out += Buffer.from(redacted.bytes).toString()
      expect(held.bytes.length).toBeLessThan(9)
    }
    expect(out + Buffer.from(redactor.end(held)).toString()).toBe(mask)
  })

  it('does not mask values of fewer than 8 characters', () => {
    expect(redactAll(open('1234567', 'äöüäöüä', ''), ['1234567 äöüäöüä'])).toBe('1234567 äöüäöüä')
    expect(redactAll(open('äöüäöüäö'), ['«äöüäöüäö»'])).toBe(`«${mask}»`)
  })

  it.each([1, 2, 3, 4, 5, 6])('gives the same result however the output is split (seed %i)', (seed) => {
    const random = createRandom(seed)
    const text = (size: number) => Array.from({ length: size }, () => 'ab\n'[Math.floor(random() * 3)]).join('')
    const values = [text(8), text(9), text(30), 'aaaaaaaa', 'babababab']
    const redactor = createRedactor(values)
    const bytes = Buffer.from([text(500), values[0], text(20), values[2], values[3], text(500)].join(''))
    const whole = redactAll(redactor, [bytes])
    for (const value of values.filter((each) => each.trim().length >= 8)) expect(whole).not.toContain(value)
    for (let time = 0; time < 20; time++) expect(redactAll(redactor, cutAtRandom(bytes, random))).toBe(whole)
  })
})
