import { expect, test } from 'vitest'
import { repository } from './support/sources.ts'

/** The table of src/domain/README.md, and the forms of decisions: what a newcomer reads first is complete. */
const textOf = (path: string) => repository.find((file) => file.path === path)?.text ?? ''

test('src/domain/README.md lists every file of the domain once, under its room', () => {
  const [files = ''] = textOf('src/domain/README.md').split('## States')
  const listed = files.split(/^\*\*/m).flatMap((part) => {
    const [, room = ''] = part.match(/^`(\w+\/)`\*\*/) ?? []
    return [...part.matchAll(/^\| `([\w-]+\.ts)` \|/gm)].map(([, file]) => `src/domain/${room}${file}`)
  })
  const there = repository.map(({ path }) => path).filter((path) => /^src\/domain\/.*\.ts$/.test(path))
  expect(listed.toSorted()).toEqual(there.toSorted())
})

test('every decision says situation, decision, price and what would change it', () => {
  const parts = ['**Situation.**', '**Decision.**', '**Price.**', '**What would change our mind.**']
  const decisions = repository.filter(({ path }) => /^docs\/decisions\/\d{4}-/.test(path))
  expect(decisions.length).toBeGreaterThan(20)
  expect(
    decisions.flatMap(({ path, text }) =>
      parts.filter((part) => !text.includes(part)).map((part) => `${path}: ${part}`),
    ),
  ).toEqual([])
})
