import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type BerthProcess, freePort, startBerth } from '../support/berth-process.ts'
import { findPython, pythonClient, pythonEnv, reportMissing, runPython } from '../support/python.ts'

const builder = findPython('import build, setuptools, wheel, venv, ensurepip')
let dataDir: string
let server: BerthProcess

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'berth-python-wheel-'))
  server = await startBerth({ dataDir, port: await freePort() })
})
afterAll(async () => {
  await server.end()
  await rm(dataDir, { recursive: true, force: true })
})

const using = `
import berth, sys, warnings
assert berth.__file__.startswith(sys.prefix), berth.__file__
client = berth.Client()
job = client.submit(["sh", "-c", "echo one; echo two"], cpu=0.1, memory="64MiB")
print(*client.logs(job), client.wait(job).state)
endless = client.submit(["sleep", "600"], cpu=0.1, memory="64MiB")
client.cancel(endless)
print(client.wait(endless).state)
`

it.skipIf(reportMissing('Python with build, setuptools, wheel and venv', builder === null))(
  'the wheel alone in a fresh environment submits, follows, waits and cancels',
  async () => {
    const { PYTHONPATH: _, ...env } = pythonEnv(server.url, dataDir)
    const source = join(dataDir, 'source')
    const copy = `import shutil, sys; shutil.copytree(*sys.argv[1:], ignore=shutil.ignore_patterns("*.egg-info", "build"))`
    const options = { env, cwd: dataDir }
    await runPython(builder ?? '', ['-c', copy, pythonClient, source], options)
    await runPython(builder ?? '', ['-m', 'build', '--wheel', '--no-isolation', '--outdir', dataDir, source], options)
    const [wheel = ''] = (await readdir(dataDir)).filter((name) => name.endsWith('.whl'))
    expect(wheel).toBe('berth_jobs-0.1.0-py3-none-any.whl')
    await runPython(builder ?? '', ['-m', 'venv', 'fresh'], options)
    const python = join(dataDir, 'fresh/bin/python')
    await runPython(python, ['-m', 'pip', 'install', '--no-index', '--no-deps', '--quiet', wheel], options)
    expect(await runPython(python, ['-c', using], options)).toBe('one two SUCCEEDED\nCANCELLED\n')
    expect(
      await runPython(
        python,
        ['-c', 'import berth, pathlib; print(pathlib.Path(berth.__file__).with_name("py.typed").exists())'],
        options,
      ),
    ).toBe('True\n')
  },
  600_000,
)
