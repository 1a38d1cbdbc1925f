import { expect, test } from 'vitest'
import { repository } from './support/sources.ts'

test('every test that the checklist of the edge names is there', () => {
  const textOf = (path: string) => repository.find((file) => file.path === path)?.text ?? ''
  const rows = textOf('docs/edge-checklist.md').matchAll(/^\| .+ \| `([\w/.-]+)`: (.+) \|$/gm)
  const named = [...rows].map(([, path = '', title = '']) => ({ path: `test/${path}`, title }))
  expect(named.length).toBeGreaterThan(40)
  const gone = named.filter(
    ({ path, title }) => ![`'${title}'`, `\`${title}\``].some((each) => textOf(path).includes(each)),
  )
  expect(gone).toEqual([])
})
