import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import about from '../../package.json' with { type: 'json' }
import * as ownDocuments from '../../src/client/generated/graphql.ts'
import { type BerthProcess, freePort, startBerth } from '../support/berth-process.ts'
import { findPython, pythonClient, pythonEnv, reportMissing, runPython } from '../support/python.ts'

const python = findPython()
const mypy = findTool('mypy')
let dataDir: string
let server: BerthProcess

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'berth-python-'))
  server = await startBerth({ dataDir, port: await freePort() })
})
afterAll(async () => {
  await server.end()
  await rm(dataDir, { recursive: true, force: true })
})

function findTool(name: string): string | null {
  try {
    return execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()
  } catch {
    return null
  }
}

it.skipIf(reportMissing('Python 3.9', python === null))(
  'the tests of the client for Python pass',
  async () => {
    const options = { env: pythonEnv(server.url, dataDir), cwd: pythonClient }
    const output = await runPython(python ?? '', ['-m', 'unittest', 'discover', '-t', '.', '-s', 'tests'], options)
    expect(output).toMatch(/Ran \d\d+ tests[\s\S]*\nOK\n$/)
  },
  600_000,
)

it.skipIf(reportMissing('mypy', mypy === null))(
  'mypy --strict accepts the client for Python and its tests',
  async () => {
    const options = { env: pythonEnv(server.url, dataDir), cwd: pythonClient }
    const cache = join(dataDir, 'mypy')
    const output = await runPython(
      mypy ?? '',
      ['--strict', '--cache-dir', cache, 'src', 'tests', '../../examples/count.handler.py'],
      options,
    )
    expect(output).toMatch(/^Success/m)
  },
)

it('servers trust the documents of the client for Python', async () => {
  const text = await readFile(join(pythonClient, 'src/berth/generated/documents.py'), 'utf8')
  const documents = [...text.matchAll(/^[A-Z_]+ = """([\s\S]*?)"""$/gm)].map(([, document]) => document)
  const trusted = new Set(Object.values(ownDocuments).map(String))
  expect(documents.length).toBeGreaterThan(15)
  expect(documents.filter((document = '') => !trusted.has(document))).toEqual([])
})

it('the client for Python has the version of the server', async () => {
  const project = await readFile(join(pythonClient, 'pyproject.toml'), 'utf8')
  const module = await readFile(join(pythonClient, 'src/berth/__init__.py'), 'utf8')
  expect(project).toContain(`\nversion = "${about.version}"\n`)
  expect(module).toContain(`\n__version__ = "${about.version}"\n`)
})
