import { expect, it } from 'vitest'
import { createScreen } from '../../examples/view/ansi.ts'

/** The terminal output of the example pages. */
const shown = (text: string, linesMax = 1_000) => {
  const screen = createScreen(linesMax)
  screen.write(text)
  return screen.lines()
}

it('escape codes style text, and carriage return overwrites a line', () => {
  expect(shown('\x1b[1;31mred\x1b[0m\x1b[38;5;196;4mcube\x1b[39;24;38;2;1;2;3mrgb\nold\rnew\n')).toEqual([
    {
      number: 1,
      spans: [
        { text: 'red', className: 'bold ansi1', color: undefined },
        { text: 'cube', className: 'underline', color: 'rgb(255,0,0)' },
        { text: 'rgb', className: '', color: 'rgb(1,2,3)' },
      ],
    },
    { number: 2, spans: [{ text: 'new', className: '', color: 'rgb(1,2,3)' }] },
    { number: 3, spans: [] },
  ])
})

it('the newest lines are kept, and complete lines keep their objects', () => {
  const screen = createScreen(3)
  screen.write('1\n2\n3\n4\n5')
  const before = screen.lines()
  expect(before.map(({ number }) => number)).toEqual([3, 4, 5])
  screen.write('\n6')
  expect(screen.lines()[0]).toBe(before[1])
})

/** Text of the second kind is four times as long: work that grows with the square takes sixteen times as long. */
it.each([
  ['newlines', '\n'],
  ['spans of one line', '\x1b[1mx'],
  ['codes of one list', ';1'],
])('the time for a megabyte of %s is proportional to its length', (_name, unit) => {
  const text = (bytes: number) => `\x1b[${unit === ';1' ? '' : 'm'}${unit.repeat(bytes / unit.length)}m`
  const timeOf = (bytes: number) => {
    const began = process.cpuUsage()
    shown(text(bytes), 10_000)
    return process.cpuUsage(began).user
  }
  timeOf(2 ** 18)
  expect(timeOf(2 ** 20)).toBeLessThan(Math.max(12 * timeOf(2 ** 18), 2_000_000))
})
