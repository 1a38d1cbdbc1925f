import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { Account } from '../../../src/executors/accounts/account.ts'
import { makeBatchScript, makeJobFile } from '../../../src/executors/slurm/command.ts'
import { makeDirectory } from '../../support/directory.ts'
import { until } from '../../support/until.ts'
import { makeRun } from '../runs.ts'

/** The batch script of a run, without a cluster. */

const limits = { deadlineSlackSeconds: 10, minutesMax: () => null, gpuTypes: () => [] }
const commanding = { directory: '/s/run', account: null, environment: {}, inheritNames: [], limits }
const slurms = { SLURM_JOB_ID: '7', SLURMD_NODENAME: 'n1', SLURM_JOB_NODELIST: 'n1', SLURM_JOB_NUM_NODES: '1' }
const plain = ['/bin/sh']

let directory = ''
beforeEach(() => {
  directory = makeDirectory()
})
afterEach(() => {
  const pid = Number(textOf('pid') || 0)
  if (pid > 0) signal(-pid, 'SIGKILL')
})

const pathOf = (name: string) => join(directory, name)
const textOf = (name: string) => (existsSync(pathOf(name)) ? readFileSync(pathOf(name), 'utf8') : '')

/** Returns false if the process has ended. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name)
  } catch {
    return false
  }
}

const isAlive = (pid: number) => signal(pid, 0)

/** Starts a batch script whose command is `text`. */
function begin(text: string, [shell = '', ...args] = plain) {
  const run = makeRun({ command: ['/bin/sh', '-c', text], workdir: directory })
  writeFileSync(pathOf('job'), makeJobFile(run, { ...commanding, directory }))
  const script = spawn(shell, [...args, '-c', makeBatchScript(directory, 1000)], {
    detached: true,
    env: { PATH: process.env['PATH'], ...slurms },
    stdio: 'ignore',
  })
  return { pid: script.pid ?? 0, ended: once(script, 'exit') }
}

/** Runs the text as a process that leaves the session of the command. The command continues after that. */
const detached = (text: string) => `setsid sh -c 'echo $$ >pid; ${text}' & until [ -s pid ]; do sleep 0.1; done;`

/** Lists the processes of a session, optionally with this name. */
function pidsIn(session: number, name = ''): number[] {
  const lines = execFileSync('ps', ['-o', 'pid=,comm=', '-g', `${session}`], { encoding: 'utf8' }).split('\n')
  return lines.filter((line) => line !== '' && line.endsWith(name)).map((line) => Number.parseInt(line, 10))
}

it('the batch script contains no secret, and passes any string of the job unchanged', () => {
  const environment = [{ name: 'SECRET', value: "it's\n$(x) `y`" }]
  const run = makeRun({ command: ['printf', '%s|', 'a b', "'", '$HOME', '', 'x\ny'], environment })
  expect(makeBatchScript('/s/run', 1000)).not.toContain('SECRET')
  writeFileSync(pathOf('job'), makeJobFile(run, commanding))
  const shown = execFileSync('/bin/sh', ['-c', `. ${directory}/job; printenv; "$@"`], { encoding: 'utf8' })
  expect(shown).toContain("=SECRET=it's\n$(x) `y`\n")
  expect(shown).toMatch(/\na b\|'\|\$HOME\|\|x\ny\|$/)
})

it('the batch script lets Open MPI run as root if the job does, without oversubscription', () => {
  writeFileSync(pathOf('mpirun'), '#!/bin/sh\nenv', { mode: 0o755 })
  const variables = (account: Account | null, own: { name: string; value: string }[] = []) => {
    const environment = [{ name: 'PATH', value: `${directory}:/usr/bin:/bin` }, ...own]
    const run = makeRun({ command: ['hello'], launcher: 'mpirun', environment })
    writeFileSync(pathOf('job'), makeJobFile(run, { ...commanding, account, directory }))
    const shown = execFileSync('/bin/sh', ['-c', `. ${directory}/job; "$@"`], { encoding: 'utf8' })
    return shown.split('\n').filter((line) => /^(OMPI|PRTE)_/.test(line))
  }
  const names = ['OMPI_ALLOW_RUN_AS_ROOT', 'OMPI_ALLOW_RUN_AS_ROOT_CONFIRM']
  const asRoot = [...names, ...names.map((name) => name.replace('OMPI', 'PRTE'))].map((name) => `${name}=1`)
  expect(variables(null).sort()).toEqual(process.getuid?.() === 0 ? asRoot : [])
  expect(variables({ name: 'ann', uid: 1000, gid: 1000, environment: {} })).toEqual([])
  expect(variables(null, [{ name: 'OMPI_ALLOW_RUN_AS_ROOT', value: '0' }])).toContain('OMPI_ALLOW_RUN_AS_ROOT=0')
})

it('the batch script is valid for a POSIX shell', () => {
  execFileSync('/bin/sh', ['-n'], { input: makeBatchScript("/it's here", 1000) })
})

it('the batch script leaves no process for which Slurm would wait', async () => {
  const { pid, ended } = begin('echo out')
  await ended
  expect(() => process.kill(-pid, 0)).toThrow('ESRCH')
  expect(textOf('stdout')).toBe('out\n')
  expect(readlinkSync(pathOf('exit'))).toMatch(/^0 - /)
})

it.each(['n1', 'n2'])(
  'a requeued Slurm job that began on %s runs no command, and records the second start',
  async (node) => {
    symlinkSync(`job 7 ${node}`, pathOf('claim'))
    symlinkSync('n1  1', pathOf('begun'))
    await begin('echo out').ended
    expect(readlinkSync(pathOf('again'))).toBe('n1')
    for (const name of ['exit', 'stdout']) expect(existsSync(pathOf(name))).toBe(false)
  },
)

it('a second Slurm job of the same run neither runs the command nor records anything', async () => {
  symlinkSync('job 77 n1', pathOf('claim'))
  await begin('echo out').ended
  expect(readdirSync(directory).toSorted()).toEqual(['claim', 'job'])
})

it('the batch script does not wait for a process that left the session of the command', async () => {
  const { ended } = begin(`${detached('exec sleep 60')} echo out`)
  await ended
  expect(isAlive(Number(textOf('pid')))).toBe(true)
  expect(textOf('stdout')).toBe('out\n')
  expect(readlinkSync(pathOf('exit'))).toMatch(/^0 - /)
})

it('the last output is kept although all processes get TERM after the end of the command', async () => {
  const { pid, ended } = begin(`${detached('until [ -e go ]; do sleep 0.1; done; echo last')} echo out`)
  const first = await until(() => pidsIn(pid, 'timeout')[0], { what: 'it waits for the readers' })
  for (const each of pidsIn(pid)) signal(each, 'SIGTERM')
  await until(() => !isAlive(first), { what: 'that wait is over' })
  writeFileSync(pathOf('go'), '')
  await ended
  expect(textOf('stdout')).toBe('out\nlast\n')
})

const shells: [string, string[]][] = [
  ['dash', []],
  ['bash', ['--posix']],
  ['busybox', ['sh']],
]
const findShell = (name: string) => ['/bin', '/usr/bin'].map((folder) => join(folder, name)).find(existsSync)

it.for(shells)('the exit code of a command that handles TERM, even 127, reaches %s', async ([name, args], { skip }) => {
  const shell = findShell(name)
  if (shell === undefined) return skip()
  const { pid, ended } = begin('echo $$ >pid; trap "exit 127" TERM; echo up; while :; do sleep 0.1; done', [
    shell,
    ...args,
  ])
  await until(() => textOf('stdout') === 'up\n', { what: 'the command is up' })
  process.kill(pid, 'SIGTERM')
  await ended
  expect(readlinkSync(pathOf('exit'))).toMatch(/^127 term /)
})

it.for(shells)('a batch script under %s resets ignored signals for the command', async ([name, args], { skip }) => {
  const shell = findShell(name)
  if (shell === undefined) return skip()
  await begin('grep SigIgn /proc/self/status', [shell, ...args]).ended
  expect(textOf('stdout')).toBe(`SigIgn:\t${'0'.repeat(16)}\n`)
})

it.for(shells)(
  'a batch script under %s passes TERM to all processes of the command',
  async ([name, args], { skip }) => {
    const shell = findShell(name)
    if (shell === undefined) return skip()
    const child = 'trap "echo ended; exit" TERM; echo up; while :; do sleep 0.1; done'
    const { pid, ended } = begin(`echo $$ >pid; trap : TERM; (${child}) & wait; wait`, [shell, ...args])
    await until(() => textOf('stdout') === 'up\n', { what: 'the child is up' })
    process.kill(pid, 'SIGTERM')
    await until(() => textOf('stdout') === 'up\nended\n', { what: 'the child has ended' })
    await ended
  },
)
