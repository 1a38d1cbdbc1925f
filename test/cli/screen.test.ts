import { Writable } from 'node:stream'
import { expect, it } from 'vitest'
import { Screen } from '../../src/cli/frame/screen.ts'
import { findChanges } from '../../src/cli/showing/live.ts'

function openScreen(rows = 5, columns = 20) {
  let written = ''
  const stdout = Object.assign(
    new Writable({
      write(chunk, _encoding, done) {
        written += String(chunk)
        done()
      },
    }),
    { rows, columns },
  )
  const screen = new Screen(stdout)
  const take = () => {
    const text = written
    written = ''
    return text
  }
  return { screen, stdout, take }
}

it('the screen draws the first frame, and then only lines that changed', () => {
  const { screen, take } = openScreen()
  expect(take()).toBe('\u001b[?1049h\u001b[?25l\u001b[H\u001b[J')
  screen.draw('one\ntwo\nthree\n')
  expect(take()).toBe('\u001b[1;1Hone\u001b[K\u001b[2;1Htwo\u001b[K\u001b[3;1Hthree\u001b[K')
  screen.draw('one\n2\n')
  expect(take()).toBe('\u001b[2;1H2\u001b[K\u001b[3;1H\u001b[K')
  screen.draw('one\n2\n')
  expect(take()).toBe('')
})

it('the screen cuts the view at its edges, and keeps the colours', () => {
  const { screen, take } = openScreen(1, 5)
  take()
  screen.draw('\u001b[31m訓練\u001b[39m done\ntwo\n')
  expect(take()).toBe('\u001b[1;1H\u001b[31m訓練\u001b[39m \u001b[0m\u001b[K')
})

it('the screen draws every line again after a resize', () => {
  const { screen, stdout, take } = openScreen(3)
  screen.draw('one\n')
  take()
  stdout.emit('resize')
  expect(take()).toBe('\u001b[1;1Hone\u001b[K\u001b[2;1H\u001b[K\u001b[3;1H\u001b[K')
})

it('the screen shows a message in the last line', () => {
  const { screen, take } = openScreen(3)
  screen.draw('one\ntwo\nthree\n')
  take()
  screen.note('no server')
  expect(take()).toBe('\u001b[3;1Hno server\u001b[K')
})

it('the screen restores the terminal only once if it is closed twice', () => {
  const { screen, take } = openScreen()
  take()
  screen.close()
  screen.close()
  screen.draw('late\n')
  expect(take()).toBe('\u001b[?25h\u001b[?1049l')
})

it('the difference of two lists has the new, changed and removed rows', () => {
  const before = new Map([
    ['a', '1'],
    ['b', '1'],
  ])
  const after = new Map([
    ['b', '2'],
    ['c', '1'],
  ])
  expect([...findChanges(before, after)]).toEqual([
    { change: 'REMOVED', row: '1' },
    { change: 'CHANGED', row: '2' },
    { change: 'ADDED', row: '1' },
  ])
})
