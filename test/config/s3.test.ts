import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readText } from '../../src/config/read-text.ts'
import { loadConfig } from '../../src/config.ts'
import { makeDirectory } from '../support/directory.ts'

const folder = makeDirectory()

const given = { endpoint: 'https://s3.example.org', bucket: 'berth-files', accessKeyId: 'AKIA' }

function load(s3: object) {
  const path = join(folder, 'berth.yaml')
  writeFileSync(path, JSON.stringify({ files: { s3 } }))
  return loadConfig({ argv: ['--config', path], env: { SECRET: 'by-variable' }, readFile: readText }).files.s3
}

test('the secret key of the bucket is read from a variable, or from a file relative to the configuration', () => {
  writeFileSync(join(folder, 's3-secret'), 'by-file\n')
  const read = { ...given, region: 'us-east-1' }
  expect(load({ ...given, secretAccessKey: `\${SECRET}` })).toEqual({ ...read, secretAccessKey: 'by-variable' })
  expect(load({ ...given, secretAccessKeyFile: 's3-secret' })).toEqual({ ...read, secretAccessKey: 'by-file' })
  expect(load({ ...given, region: 'eu-central-1', secretAccessKey: 'x' })).toMatchObject({ region: 'eu-central-1' })
})

test.each<[string, object, RegExp]>([
  ['no secret', {}, /files\.s3: needs secretAccessKey or secretAccessKeyFile/],
  ['two secrets', { secretAccessKey: 'x', secretAccessKeyFile: 's3-secret' }, /files\.s3: needs secretAccessKey or/],
  [
    'a file that is missing',
    { secretAccessKeyFile: 'none' },
    /files\.s3\.secretAccessKeyFile: "none" cannot be read \(ENOENT/,
  ],
  [
    'a wrong bucket',
    { secretAccessKey: 'x', bucket: 'Upper_case' },
    /files\.s3\.bucket: "Upper_case" is not a name of a bucket/,
  ],
  [
    'another protocol',
    { secretAccessKey: 'x', endpoint: 's3://files' },
    /files\.s3\.endpoint: "s3:\/\/files" is not an HTTP URL/,
  ],
  ['an unknown field', { secretAccessKey: 'x', prefix: 'a' }, /files\.s3\.prefix/],
])('files.s3 with %s is refused', (_, change, message) => {
  expect(() => load({ ...given, ...change })).toThrow(message)
})
