import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type BerthServer, freePort, startBerth } from '../support/berth-server.ts'
import { makeDirectory } from '../support/directory.ts'
import { findPython, pythonClient, pythonEnv, reportMissing, runPython } from '../support/python.ts'

/** Each is found in PYTHONPATH too. */
const psij = findPython('import psij')
const submitit = findPython('import submitit')
const hydra = findPython('import submitit, hydra, hydra_plugins.hydra_submitit_launcher')
const dataDir = makeDirectory()
let server: BerthServer

beforeAll(async () => {
  if (psij === null && submitit === null) return
  server = await startBerth({ dataDir, port: await freePort() })
})
afterAll(async () => {
  await server?.end()
  if (dataDir) await rm(dataDir, { recursive: true, force: true })
})

it.skipIf(reportMissing('psij-python', psij === null))(
  'psij-python runs jobs through the executor named berth',
  async () => {
    expect(await runTests(psij ?? '', 'plugin_psij')).toMatch(/Ran \d+ tests[\s\S]*\nOK( \(skipped=1\))?\n$/)
  },
  60_000,
)

it.skipIf(reportMissing('submitit', submitit === null))(
  'submitit runs functions on the cluster named berth',
  async () => {
    await writeEntryPoints()
    expect(await runTests(submitit ?? '', 'plugin_submitit')).toMatch(/Ran \d+ tests[\s\S]*\nOK\n$/)
  },
  60_000,
)

it.skipIf(reportMissing('Hydra with its launcher for submitit', hydra === null))(
  'a Hydra multirun starts a job for each value of the sweep',
  async () => {
    await writeEntryPoints()
    expect(await runTests(hydra ?? '', 'plugin_hydra')).toMatch(/Ran 1 test [\s\S]*\nOK\n$/)
  },
  60_000,
)

async function runTests(python: string, module: string): Promise<string> {
  const env = pythonEnv(server.url, dataDir)
  const path = [env['PYTHONPATH'], dataDir, process.env['PYTHONPATH']].filter(Boolean).join(delimiter)
  const options = { env: { ...env, PYTHONPATH: path }, cwd: pythonClient }
  return runPython(python, ['-m', 'unittest', `tests.${module}`], options)
}

/** Writes the file of an installed package by which submitit finds its plug-ins. */
async function writeEntryPoints() {
  const project = await readFile(join(pythonClient, 'pyproject.toml'), 'utf8')
  const [, lines = ''] = /^\[project\.entry-points\.submitit\]\n((?:\w+ = ".*"\n)+)/m.exec(project) ?? []
  const folder = join(dataDir, 'berth_jobs-0.1.0.dist-info')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'METADATA'), 'Metadata-Version: 2.1\nName: berth-jobs\nVersion: 0.1.0\n')
  await writeFile(join(folder, 'entry_points.txt'), `[submitit]\n${lines.replaceAll('"', '')}`)
}
