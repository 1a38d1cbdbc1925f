import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Executor, RunSpec } from '../../../src/executors/executor.ts'
import { createLocalExecutor } from '../../../src/executors/local/local.ts'
import { rankLauncher } from '../../../src/executors/process/scripts.ts'
import { readLoginPath, removeNpmFolders } from '../../../src/executors/process/search-path.ts'
import { makeDirectory } from '../../support/directory.ts'
import { root } from '../../support/sources.ts'
import { finishRun, machineParts, makeResources, makeRun } from '../runs.ts'

/** The start of a command: environment, files, scripts, ranks. */

let directory: string
let executor: Executor

const open = (more: { PATH?: string } = {}) =>
  createLocalExecutor({
    spoolDir: join(directory, 'spool'),
    environment: { PATH: '/usr/bin:/bin', HOME: directory, ...more },
    ...machineParts,
  })

beforeEach(async () => {
  directory = makeDirectory()
  executor = await open()
})

afterEach(async () => {
  await executor.close()
})

it('after a kill while a run file is written, the file is complete or missing', async () => {
  const path = join(directory, 'closure.json')
  const bytes = 2 ** 27
  const program = `
    import { writeSecretFile } from ${JSON.stringify(join(root, 'src/executors/local/run-files.ts'))}
    await writeSecretFile(process.argv[1], 'x'.repeat(${bytes}), null)`
  const args = ['--no-warnings', '--input-type=module', '-e', program, path]
  const child = spawn(process.execPath, args, { stdio: 'ignore' })
  const ended = once(child, 'exit')
  const size = async (name: string) => (await stat(join(directory, name)).catch(() => null))?.size ?? 0
  const isBegun = async () => {
    const names = (await readdir(directory)).filter((name) => name.startsWith('closure.json'))
    return (await Promise.all(names.map(size))).some((each) => each > 0) || child.exitCode !== null
  }
  while (!(await isBegun())) await setImmediate()
  child.kill('SIGKILL')
  await ended
  const isThere = (await readdir(directory)).includes('closure.json')
  expect(await size('closure.json')).toBe(isThere ? bytes : 0)
})

it.for([['/bin/dash'], ['/bin/bash', '--posix'], ['/bin/busybox', 'sh']].filter(([shell = '']) => existsSync(shell)))(
  'the shell %s starts all ranks and their scripts',
  async ([shell = '', ...args]) => {
    const script = join(directory, 'pre')
    await writeFile(script, 'SEEN=yes')
    const words = [...args, '-c', rankLauncher, 'berth', '', script, '', '2', 'sh', '-c', 'echo $SEEN; exit 7']
    const { status, stdout } = spawnSync(shell, words, { encoding: 'utf8' })
    expect({ status, stdout }).toEqual({ status: 7, stdout: 'yes\nyes\n' })
  },
)

type Spec = Parameters<typeof makeRun>[0]

const finish = (run: RunSpec) => finishRun(executor, run)
const sh = (script: string, spec: Spec = {}) => makeRun({ command: ['/bin/sh', '-c', script], ...spec })
const write = (name: string, text: string) => writeFile(join(directory, name), text)
const multiple = (processCount: number): Spec => ({ launcher: 'multiple', resources: makeResources({ processCount }) })
/** Parses the output of `env -0`. */
const variables = (out: string) =>
  Object.fromEntries(
    Buffer.from(out, 'latin1')
      .toString()
      .split('\0')
      .filter(Boolean)
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )

/** Variables with a meaning for a shell or the loader, or with names that are invalid in a shell. */
const odd = {
  OPTIND: 'abc',
  _BERTH_: 'b',
  _BERTH_X: 'x',
  _1: 'one',
  PWD: '/elsewhere',
  OLDPWD: '/before',
  IFS: '/',
  PS4: '$(touch pwned)',
  ENV: '/none',
  BASH_ENV: '/none',
  LD_PRELOAD: '',
  _: 'underscore',
  SHLVL: 'x',
  LINENO: 'l',
  PPID: 'p',
  UID: 'u',
  SHELLOPTS: 'noexec',
  BASHOPTS: 'none',
  'A.B': 'dotted',
  '1X': 'digit',
  '-i': 'option',
  'BASH_FUNC_env%%': '() { echo pwned; }',
  run: 'r',
  PATH: '/usr/bin:/bin',
}
const oddSpec = {
  inheritEnvironment: false,
  environment: Object.entries(odd).map(([name, value]) => ({ name, value })),
}

describe('environment variables', () => {
  it('with any name are passed unchanged', async () => {
    const { out, err, exitCode } = await finish(makeRun({ command: ['/usr/bin/env', '-0'], ...oddSpec }))
    expect({ err, exitCode, variables: variables(out) }).toMatchObject({ err: '', exitCode: 0, variables: odd })
  })

  it('with any name are passed to the ranks of the launcher multiple', async () => {
    const { out, err } = await finish(makeRun({ command: ['/usr/bin/env', '-0'], ...multiple(2), ...oddSpec }))
    const first = variables(out)
    expect(err).toBe('')
    expect(first).toMatchObject(odd)
    expect(out.match(/BERTH_RANK=./g)?.sort()).toEqual(['BERTH_RANK=0', 'BERTH_RANK=1'])
  })

  it('with values that a shell cannot carry bypass the shell; BASH_ENV does not run before preLaunch', async () => {
    await write('hook', 'echo hook')
    await write('pre', 'true')
    const environment = [
      { name: 'BASH_ENV', value: join(directory, 'hook') },
      { name: 'A.B', value: 'dotted' },
      { name: 'OPTIND', value: 'abc' },
    ]
    const { out } = await finish(makeRun({ command: ['/usr/bin/env', '-0'], environment, preLaunch: 'pre' }))
    expect(variables(out)).toMatchObject({ BASH_ENV: join(directory, 'hook'), 'A.B': 'dotted' })
    expect(out).not.toMatch(/^hook/)
  })

  it('do not appear in the list of processes', async () => {
    const script = "tr '\\0' ' ' </proc/$PPID/cmdline; tr '\\0' ' ' </proc/$$/cmdline"
    const { out } = await finish(sh(script, { environment: [{ name: 'SECRET', value: 'geheim' }] }))
    expect(out).not.toContain('geheim')
  })

  it('do not conflict with a command that has = in its name', async () => {
    await writeFile(join(directory, 'a=b'), '#!/bin/sh\necho "$0 $1"', { mode: 0o755 })
    expect(await finish(makeRun({ command: ['./a=b', 'c=d'] }))).toMatchObject({ out: './a=b c=d\n', exitCode: 0 })
  })

  it('that contain no PATH let the command be found in the folders of the system', async () => {
    expect(await finish(makeRun({ command: ['id', '-u'], inheritEnvironment: false }))).toMatchObject({ exitCode: 0 })
  })
})

it('Python prints unbuffered unless the job sets PYTHONUNBUFFERED', async () => {
  const print = sh('echo "[$PYTHONUNBUFFERED]"')
  expect((await finish(print)).out).toBe('[1]\n')
  const bare = makeRun({ command: ['/usr/bin/env'], inheritEnvironment: false })
  expect((await finish(bare)).out).toContain('PYTHONUNBUFFERED=1\n')
  const environment = [{ name: 'PYTHONUNBUFFERED', value: '' }]
  expect((await finish(sh('echo "[$PYTHONUNBUFFERED]"', { environment }))).out).toBe('[]\n')
})

describe('the variable PATH', () => {
  const npm = '/usr/lib/node_modules/npm/node_modules/@npmcli/run-script/lib/node-gyp-bin'
  const added = `/srv/berth/node_modules/.bin:/srv/node_modules/.bin:/node_modules/.bin:${npm}`

  it.each([
    ['/usr/bin:/bin', '/usr/bin:/bin'],
    [`${added}:/usr/bin:/bin`, '/usr/bin:/bin'],
    [`/x/node_modules/.bin:${added}:${added}:/usr/bin`, '/usr/bin'],
    [`${added}:/opt/ada/node_modules/.bin:/usr/bin`, '/opt/ada/node_modules/.bin:/usr/bin'],
    ['/opt/ada/node_modules/.bin:/usr/bin', '/opt/ada/node_modules/.bin:/usr/bin'],
    [`/usr/bin:${added}`, `/usr/bin:${added}`],
    [added, ''],
  ])('with the value %s becomes %s for a job', (path, expected) => {
    expect(removeNpmFolders(path)).toBe(expected)
  })

  it('of a server that npm started is the PATH that npm had', async () => {
    await executor.close()
    executor = await open({ PATH: `${added}:/usr/bin:/bin` })
    expect((await finish(sh('echo $PATH'))).out).toBe(`/usr/bin:/bin:${root}\n`)
  })

  it.skipIf(process.getuid?.() !== 0)('of a job under another account is that of its login', async () => {
    await chmod(directory, 0o755)
    const run = makeRun({ command: ['/bin/sh', '-c', 'echo $PATH'], workdir: '/tmp' }, { unixUser: 'nobody' })
    expect((await finish(run)).out).toBe(`${await readLoginPath()}:${root}\n`)
  })

  it('ends with a folder that contains the command berth and no other program of the installation', async () => {
    expect((await finish(sh('command -v berth; command -v vitest'))).out).toBe(`${root}/berth\n`)
    const own = [{ name: 'PATH', value: `/own:\${PATH}` }]
    expect((await finish(sh('echo $PATH', { environment: own }))).out).toBe(`/own:/usr/bin:/bin:${root}\n`)
    const programs = await readdir(root, { withFileTypes: true })
    const isProgram = async (name: string) => ((await stat(join(root, name))).mode & 0o111) !== 0
    const files = programs.flatMap((each) => (each.isFile() ? each.name : []))
    expect((await Promise.all(files.map(async (name) => ((await isProgram(name)) ? name : [])))).flat()).toEqual([
      'berth',
    ])
  })

  it('of a login is the one that the system defines', async () => {
    await write('login.defs', '# ENV_PATH PATH=/no\nENV_SUPATH\tPATH=/sbin\nENV_PATH\tPATH=/opt/bin:/bin\n')
    expect(await readLoginPath(join(directory, 'login.defs'))).toBe('/opt/bin:/bin')
    expect(await readLoginPath(join(directory, 'none'))).toBe('/usr/local/bin:/usr/bin:/bin')
  })
})

describe('the node file', () => {
  const show = 'ls -ld "$PSIJ_NODEFILE" >&2; echo "$PSIJ_NODEFILE"; cat "$PSIJ_NODEFILE"'
  const nodes = { nodes: ['n1', 'n2'] }
  const resources = makeResources({ processCount: 3, processesPerNode: 2 })

  it('is in the directory of the run, and is deleted with it', async () => {
    const run = makeRun({ command: ['/bin/sh', '-c', show], resources }, nodes)
    const { out } = await finish(run)
    const path = join(directory, 'spool/runs', run.runId, 'nodes')
    expect(out).toBe(`${path}\nn1\nn1\nn2\n`)
    await executor.forget?.(run.runId)
    await expect(stat(path)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it.skipIf(process.getuid?.() !== 0)('of a run under another account has an unguessable name', async () => {
    const run = makeRun(
      { command: ['/bin/sh', '-c', show], resources, workdir: '/tmp' },
      { ...nodes, unixUser: 'nobody' },
    )
    const { out, err } = await finish(run)
    const [path = '', ...names] = out.trimEnd().split('\n')
    expect(names).toEqual(['n1', 'n1', 'n2'])
    expect(err).toContain('-r--r--r-- 1 root root')
    expect(path).not.toContain(run.runId)
    expect((await stat(dirname(path))).mode & 0o777).toBe(0o755)
    await executor.forget?.(run.runId)
    await expect(stat(dirname(path))).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

describe('a job with stream files', () => {
  it.each([
    ['stdinPath', 'none', 'Cannot read stdinPath'],
    ['stdinPath', '.', 'Cannot read stdinPath'],
    ['stdoutPath', 'none/out', 'Cannot write stdoutPath'],
    ['stdoutPath', '.', 'Cannot write stdoutPath'],
    ['stderrPath', 'none/err', 'Cannot write stderrPath'],
  ])('is refused with path and reason if its %s (%s) cannot be used', async (field, path, message) => {
    const run = sh('true', { [field]: path })
    await expect(executor.start(run)).rejects.toMatchObject({
      reason: 'BAD_SPEC',
      message: expect.stringMatching(new RegExp(`${message}.*: \\S`)),
    })
    expect(await readdir(join(directory, 'spool/runs'))).toEqual([])
  })

  it.skipIf(process.getuid?.() !== 0)('opens them with the rights of its account, not of the server', async () => {
    const run = makeRun({ command: ['true'], workdir: '/tmp', stdoutPath: '/etc/berth-out' }, { unixUser: 'nobody' })
    await expect(executor.start(run)).rejects.toMatchObject({
      reason: 'BAD_SPEC',
      message: 'Cannot write stdoutPath /etc/berth-out: Permission denied',
    })
  })

  it('keeps the output of its first start in a second start', async () => {
    const run = sh('echo kept', { stdoutPath: 'out' })
    await finish(run)
    await executor.start(run)
    expect(await readFile(join(directory, 'out'), 'utf8')).toBe('kept\n')
  })
})

describe('the scripts preLaunch and postLaunch:', () => {
  const both = { preLaunch: 'pre', postLaunch: 'post' }
  beforeEach(() => write('post', 'echo post'))

  it('preLaunch may use set -e, and postLaunch still runs', async () => {
    await write('pre', 'set -eu; IFS=0123456789; set -f')
    expect(await finish(sh('exit 4', both))).toMatchObject({ exitCode: 4, out: 'post\n' })
    expect(await finish(sh('exit 4', { ...both, ...multiple(2) }))).toMatchObject({ exitCode: 4, out: 'post\n' })
  })

  it.each([
    ['fails after set -e', 'set -e; (exit 3); echo no', 3],
    ['exits', 'exit 0', 126],
    ['exits with a code', 'exit 5', 5],
  ])('a preLaunch that %s ends the job with a message', async (_, text, exitCode) => {
    await write('pre', text)
    const end = await finish(sh('echo ran', both))
    expect(end).toMatchObject({ exitCode, out: '' })
    expect(end.err).toContain(`berth: preLaunch ${directory}/pre ended`)
  })

  it.each([
    ['does not parse', 'echo begun\nif true; then\n', 'begun\n'],
    ['does not parse after set -e', 'set -e\necho begun\n)\n', 'begun\n'],
  ])('a preLaunch that %s ends the job with a message', async (_, text, out) => {
    await write('pre', text)
    const end = await finish(sh('echo ran', both))
    expect(end).toMatchObject({ out })
    expect(end.exitCode).not.toBe(0)
    expect(end.err).toContain(`berth: preLaunch ${directory}/pre`)
  })

  it('a script that is a directory ends the job with a message', async () => {
    await mkdir(join(directory, 'pre'))
    const end = await finish(sh('echo ran', both))
    expect(end).toMatchObject({ exitCode: 126, out: '' })
    expect(end.err).toContain(`berth: preLaunch ${directory}/pre is a directory`)
  })

  it('postLaunch cannot hide the failure of the command', async () => {
    await write('post', 'exit 0')
    expect(await finish(sh('exit 3', { postLaunch: 'post' }))).toMatchObject({ exitCode: 3 })
    await write('post', 'exit 9')
    expect(await finish(sh('true', { postLaunch: 'post' }))).toMatchObject({ exitCode: 9 })
  })

  it('postLaunch may end with any exit code', async () => {
    await write('pre', 'false')
    expect(await finish(sh('exit 0', both))).toMatchObject({ exitCode: 0, out: 'post\n' })
  })
})

describe('the ranks of a job', () => {
  it.each([{}, { preLaunch: 'pre' }])(
    'know their numbers under multiple, and each reads stdin (%j)',
    async (scripts) => {
      await write('in', 'input\n')
      await write('pre', 'true')
      const script = 'read -r line; echo "$BERTH_RANK/$BERTH_RANKS $line"'
      const { out } = await finish(sh(script, { ...multiple(3), ...scripts, stdinPath: 'in' }))
      expect(out.trimEnd().split('\n').sort()).toEqual(['0/3 input', '1/3 input', '2/3 input'])
    },
  )

  it('have number 0 of 1 under multiple with one rank; under the launcher single the numbers are undefined', async () => {
    const script = 'echo "[$BERTH_RANK/$BERTH_RANKS]"'
    expect((await finish(sh(script, { launcher: 'multiple' }))).out).toBe('[0/1]\n')
    expect((await finish(sh(script))).out).toBe('[/]\n')
  })

  it('may be more than the cores, and may run as root under mpirun', async () => {
    await mkdir(join(directory, 'bin'))
    await writeFile(join(directory, 'bin/mpirun'), '#!/bin/sh\necho mpirun "$@"\nenv', { mode: 0o755 })
    const environment = [
      { name: 'PATH', value: `${directory}/bin:/usr/bin:/bin` },
      { name: 'OMPI_MCA_rmaps_base_oversubscribe', value: '0' },
    ]
    const resources = makeResources({ processCount: 7 })
    const { out } = await finish(makeRun({ command: ['hello', 'x'], launcher: 'mpirun', resources, environment }))
    const lines = out.split('\n')
    expect(lines[0]).toBe('mpirun -n 7 hello x')
    expect(lines).toContain('PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe')
    expect(lines).toContain('OMPI_MCA_rmaps_base_oversubscribe=0')
    const asRoot = process.getuid?.() === 0
    expect(lines.includes('OMPI_ALLOW_RUN_AS_ROOT=1')).toBe(asRoot)
    expect(lines.includes('OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1')).toBe(asRoot)
  })
})
