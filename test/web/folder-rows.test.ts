import { expect, test } from 'vitest'
import { listFolder } from '../../web/pages/job/artifacts/folder-rows.ts'
import { parseCsv } from '../../web/parts/csv.ts'

const artifact = (name: string, kind: 'FILE' | 'TEXT' = 'FILE', sizeBytes = 1) => ({
  id: `artifact_${name}`,
  name,
  kind,
  sizeBytes,
  mediaType: 'text/plain',
  uri: null,
  createdAt: '2026-01-01T00:00:00Z',
  run: { id: 'run_1', number: 1 },
})

test('listFolder lists subfolders with their sizes, then files, and does not split names of texts', () => {
  const all = [artifact('b'), artifact('d/e/f', 'FILE', 5), artifact('d/g', 'FILE', 2), artifact('x/y', 'TEXT')]
  const listed = (folder: string) =>
    listFolder(all, folder).map(({ key, name, files, bytes }) => [key, name, files, bytes])
  expect(listed('')).toEqual([
    ['d/', 'd', 2, 7],
    ['artifact_b', 'b', 1, 1],
    ['artifact_x/y', 'x/y', 1, 1],
  ])
  expect(listed('d/')).toEqual([
    ['d/e/', 'e', 1, 5],
    ['artifact_d/g', 'g', 1, 2],
  ])
})

test('parseCsv reads quotes, empty cells and both kinds of line breaks', () => {
  const text = 'a,b,c\r\n1,"x, ""y""\nz",\n\n,,3\n'
  expect(parseCsv(text, 10)).toEqual([['a', 'b', 'c'], ['1', 'x, "y"\nz', ''], [''], ['', '', '3']])
  expect(parseCsv(text, 1)).toEqual([['a', 'b', 'c']])
})
