import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { guessMediaType, readTextFile } from '../../src/cli/reading/inside.ts'
import { makeDirectory } from '../support/directory.ts'

it('a text file is refused if it is not in UTF-8', async () => {
  const cwd = makeDirectory()
  await writeFile(join(cwd, 'latin1'), Buffer.from('caf\xe9', 'latin1'))
  await writeFile(join(cwd, 'utf8'), 'café')
  const cli = { cwd, readStdin: async () => '' }
  expect(await readTextFile(cli, 'utf8')).toBe('café')
  await expect(readTextFile(cli, 'latin1')).rejects.toThrow('latin1 is not in UTF-8')
})

it.each([
  [['out/result.json', undefined, 'result'], 'application/json'],
  [[undefined, 's3://plots/loss.PNG', 'loss'], 'image/png'],
  [['-', undefined, 'report.md'], 'text/markdown'],
])('the media type of the artifact %j is %s', (names, type) => {
  expect(guessMediaType(names)).toBe(type)
})

it('an artifact needs a media type if the extension of its name is unknown', () => {
  expect(() => guessMediaType(['model.bin', undefined, 'model'])).toThrow('the media type is missing')
})
