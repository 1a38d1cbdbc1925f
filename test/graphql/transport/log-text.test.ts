import { expect, test } from 'vitest'
import { attachLogTexts, insertLogTexts, LogTexts, readLogTexts } from '../../../src/graphql/rows/log-text.ts'
import type { Utf8 } from '../../../src/logs/batch.ts'

test('log bytes are escaped as JSON.stringify escapes their text', () => {
  const check = (text: string) => {
    const utf8 = Buffer.from(text)
    // The second message reuses the first.
    for (const around of ['', '漢']) {
      const message = `${around}"marker"${around}`
      expect(String(insertLogTexts(message, new Map([['marker', [utf8]]])).data)).toBe(
        around + JSON.stringify(text) + around,
      )
    }
  }
  const codes = Array.from({ length: 768 }, (_, code) => String.fromCharCode(code))
  // Each at every position of the four bytes of a word.
  for (const before of ['', 'x', 'xy', 'xyz']) check(before + codes.map((code) => `abcd${code}`).join(''))
  for (const text of ['', 'a', codes.join(''), '\u2028日本🚀\u{10ffff}', '"\\\u001b[32m\r\n']) check(text)
})

test('a message keeps long parts before and after the text of a log', () => {
  const [before, after] = ['ä'.repeat(100_000), 'ö'.repeat(1_000_000)]
  const message = String(insertLogTexts(`${before}"marker"${after}`, new Map([['marker', [Buffer.from('\n')]]])).data)
  expect(message === `${before}"\\n"${after}`).toBe(true)
})

test('each message gets its own texts of logs, in whatever order the messages are sent', () => {
  const waiting = new Map<string, Utf8>()
  const message = (id: string, ...texts: string[]) => {
    const taken = new LogTexts()
    const data = texts.map((text) => taken.addText([Buffer.from(text)]))
    const result = { ...attachLogTexts({ data }, taken), id }
    for (const [marker, utf8] of readLogTexts(result)) waiting.set(marker, utf8)
    return JSON.stringify(result)
  }
  const [one, none, two] = [message('1', 'a\n'), message('2'), message('3', '"', 'ü')]
  expect(insertLogTexts(none, waiting).data).toBe('{"data":[],"id":"2"}')
  expect(JSON.parse(String(insertLogTexts(two, waiting).data))).toEqual({ data: ['"', 'ü'], id: '3' })
  expect(JSON.parse(String(insertLogTexts(one, waiting).data))).toEqual({ data: ['a\n'], id: '1' })
  expect(waiting.size).toBe(0)
})

test('the buffer of a large message is reused only after the message has been sent', () => {
  const large = (letter: string): { utf8: Utf8; text: string } => {
    const text = `${letter.repeat(99)}\n`.repeat(1_000)
    // In parts: the text is in two chunks.
    return { utf8: [Buffer.from(text.slice(0, 150)), Buffer.from(text.slice(150))], text }
  }
  const make = ({ utf8 }: { utf8: Utf8 }) => insertLogTexts('"marker"', new Map([['marker', utf8]]))
  const letters = [...'abcdefghijkl'].map(large)
  const messages = letters.map((each) => ({ ...each, made: make(each) }))
  for (const { made, text } of messages) expect(String(made.data)).toBe(JSON.stringify(text))
  for (const { made } of messages) {
    made.sent()
    made.sent()
  }
  const buffers = new Set(messages.map(({ made }) => (made.data as Buffer).buffer))
  const next = letters.map((each) => ({ ...each, made: make(each) }))
  for (const { made, text } of next) expect(String(made.data)).toBe(JSON.stringify(text))
  const again = next.filter(({ made }) => buffers.has((made.data as Buffer).buffer))
  expect(again.length).toBeGreaterThanOrEqual(3)
  expect(new Set(next.map(({ made }) => (made.data as Buffer).buffer)).size).toBe(next.length)
})
