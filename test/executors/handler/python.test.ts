import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findPython, reportMissing } from '../../support/python.ts'
import { until } from '../../support/until.ts'
import { programContract } from '../contract.ts'
import { makeRun, untilEnded } from '../runs.ts'
import { openHandlerExecutor, testContract } from './module-runs.ts'

/** A module that appends a mark when it begins, and behaves as its input says. */
const behaving = `
import signal, sys, time
import berth

@berth.handler
def run(input, job):
    if input.get("ignoresTerm"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    with open(input["mark"], "a") as file:
        file.write("x\\n")
    for number in range(1, input.get("lines", 0) + 1):
        job.log(f"line {number}")
    while input.get("endless"):
        time.sleep(60)
    sys.exit(input.get("exitCode", 0))
`

const hasPython = !reportMissing('Python 3.9', findPython() === null)

if (hasPython) testContract(programContract, 'behaving.py', behaving)

describe.skipIf(!hasPython)('a handler in Python', () => {
  const own = openHandlerExecutor('job.py')
  const runModule: typeof own.runModule = (source, more) => own.runModule(source && `import berth\n${source}`, more)

  const resuming = `
@berth.handler
def run(input, job):
    job.log(f"run {input}")

@run.on_resume
def resume(closure, job):
    job.log(f"resume at {closure['step']} {job.closure == closure}")
    if closure.get("fails"):
        raise ValueError("the closure is stale")
`

  it('gets its input and its closure', async () => {
    expect(await runModule(resuming, { input: { a: [1] } })).toMatchObject({ out: "run {'a': [1]}\n", exitCode: 0 })
    expect(await runModule(resuming, { closure: { step: 3 } })).toMatchObject({
      out: 'resume at 3 True\n',
      exitCode: 0,
    })
  })

  it('that raises logs the traceback, and an exception in on_resume ends the job as RESUME_FAILED', async () => {
    const raised = await runModule('@berth.handler\ndef run(input, job):\n    raise KeyError("no such table")')
    expect(raised).toMatchObject({ exitCode: 1, cause: undefined, err: expect.stringContaining('no such table') })
    const stale = await runModule(resuming, { closure: { step: 3, fails: true } })
    expect(stale).toMatchObject({ cause: 'RESUME_FAILED', err: expect.stringContaining('the closure is stale') })
  })

  it('may be a coroutine function, and import modules beside it', async () => {
    await writeFile(join(own.directory, 'neighbour.py'), 'word = "from a neighbour"\n')
    const source = 'import neighbour\n@berth.handler\nasync def run(input, job):\n    job.log(neighbour.word)'
    expect(await runModule(source)).toMatchObject({ out: 'from a neighbour\n', exitCode: 0 })
  })

  it('that is missing or contains no handler fails with a message', async () => {
    const none = { exitCode: 126, err: expect.stringContaining('@berth.handler') }
    expect(await runModule('x = 1')).toMatchObject(none)
    expect(await runModule('syntax error')).toMatchObject({
      exitCode: 126,
      err: expect.stringContaining('SyntaxError'),
    })
    const missing = { exitCode: 127, err: expect.stringContaining('module not found') }
    expect(await runModule(null, { name: 'missing.py' })).toMatchObject(missing)
  })

  it('saves a closure while the server is unreachable, even if it is killed later', async () => {
    const source = `import berth, time
@berth.handler
def run(input, job):
    for step in (1, 2, 3):
        job.save_closure({"step": step})
    time.sleep(600)
`
    await writeFile(join(own.directory, 'saving.py'), source)
    const run = makeRun({ handler: 'saving.py', workdir: own.directory })
    const handle = await own.executor.start({
      ...run,
      injected: { BERTH_URL: 'http://127.0.0.1:1', BERTH_TOKEN: 'none' },
    })
    const file = join(own.directory, 'spool/runs', run.runId, 'unsent')
    await until(async () => (await readFile(file, 'utf8')).includes('"step": 3'), { what: 'it saved' })
    await own.executor.stop(handle, 0)
    expect(await untilEnded(own.executor, handle)).toMatchObject({ signal: 9, unsentClosure: '{"step":3}' })
  })
})
