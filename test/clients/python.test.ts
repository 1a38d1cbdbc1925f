import { execFileSync } from 'node:child_process'
import { cp, readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import about from '../../package.json' with { type: 'json' }
import * as ownDocuments from '../../src/client/generated/graphql.ts'
import { type BerthServer, freePort, startBerth } from '../support/berth-server.ts'
import { makeDirectory } from '../support/directory.ts'
import { findPython, pythonClient, pythonEnv, reportMissing, runPython } from '../support/python.ts'
import { root } from '../support/sources.ts'

const python = findPython()
const mypy = findTool('mypy')
const builder = findPython('import setuptools, wheel, venv, pip')
const dataDir = makeDirectory()
let server: BerthServer

beforeAll(async () => {
  server = await startBerth({ dataDir, port: await freePort() })
})
afterAll(() => server.end())

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
    const files = await readdir(join(pythonClient, 'tests'))
    const modules = files.filter((file) => /^test_.*\.py$/.test(file)).map((file) => `tests.${basename(file, '.py')}`)
    expect(modules.length).toBeGreaterThan(6)
    const run = async (module: string) => {
      const output = await runPython(python ?? '', ['-m', 'unittest', module], options)
      expect(output).toMatch(/Ran \d+ tests[\s\S]*\nOK\n$/)
    }
    await Promise.all(modules.map(run))
  },
  600_000,
)

it.skipIf(reportMissing('mypy', mypy === null)).concurrent(
  'mypy --strict accepts the client for Python and its tests',
  async () => {
    const options = { env: pythonEnv(server.url, dataDir), cwd: pythonClient }
    // The next run checks only files that changed.
    const cache = join(root, 'node_modules/.cache/mypy')
    const output = await runPython(
      mypy ?? '',
      ['--strict', '--cache-dir', cache, 'src', 'tests', '../../examples/count.handler.py'],
      options,
    )
    expect(output).toMatch(/^Success/m)
  },
)

const building = `
import sys, setuptools.build_meta
setuptools.build_meta.build_wheel(sys.argv[1])
`

const using = `
import berth, pathlib, sys
assert berth.__file__.startswith(sys.prefix), berth.__file__
assert pathlib.Path(berth.__file__).with_name("py.typed").exists()
client = berth.Client()
job = client.submit(["sh", "-c", "echo one; echo two"], cpu=0.1, memory="64MiB")
print(*client.logs(job), client.wait(job).state)
endless = client.submit(["sleep", "600"], cpu=0.1, memory="64MiB")
client.cancel(endless)
print(client.wait(endless).state)
`

it.skipIf(reportMissing('Python with setuptools, wheel, venv and pip', builder === null)).concurrent(
  'the wheel alone in a fresh environment submits, follows, waits and cancels',
  async () => {
    const { PYTHONPATH: _, ...env } = pythonEnv(server.url, dataDir)
    const source = join(dataDir, 'source')
    await cp(pythonClient, source, { recursive: true, filter: (path) => !/\/(build|[^/]*\.egg-info)$/.test(path) })
    const options = { env, cwd: dataDir }
    await runPython(builder ?? '', ['-c', building, dataDir], { env, cwd: source })
    const [wheel = ''] = (await readdir(dataDir)).filter((name) => name.endsWith('.whl'))
    expect(wheel).toBe('berth_jobs-0.1.0-py3-none-any.whl')
    await runPython(builder ?? '', ['-m', 'venv', '--without-pip', 'fresh'], options)
    const python = join(dataDir, 'fresh/bin/python')
    const installing = ['install', '--no-index', '--no-deps', '--no-compile', '--quiet', wheel]
    await runPython(builder ?? '', ['-m', 'pip', '--python', python, ...installing], options)
    expect(await runPython(python, ['-c', using], options)).toBe('one two SUCCEEDED\nCANCELLED\n')
  },
  600_000,
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
