import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { initScript } from '../../../src/executors/container/create.ts'
import { makeDirectory } from '../../support/directory.ts'
import { isWhole } from '../../support/whole.ts'

/** The first process of a container, in a new pid namespace. */
const rounds = isWhole ? 20 : 5

function isThere(program: string): boolean {
  try {
    execFileSync(program, ['--help'], { stdio: 'ignore' })
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT'
  }
}

/** Arguments of unshare. */
const first = (shell: readonly string[], ...command: readonly string[]) => {
  const own = ['0', '10', '', '/dev/null']
  return ['--pid', '--fork', ...shell, '-c', initScript, 'berth', ...own, ...command]
}

const run = (shell: readonly string[], command: string): ChildProcess =>
  spawn('unshare', first(shell, '/bin/sh', '-c', command), { stdio: ['ignore', 'pipe', 'ignore'] })

/** Signals the first process of the namespace; does nothing if it has ended. */
function terminate({ pid }: ChildProcess): void {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  if (children !== '') execFileSync('kill', ['-TERM', children], { stdio: 'ignore' })
}

const shells = [['/bin/dash'], ['/bin/bash'], ['/bin/bash', '--posix'], ['/bin/busybox', 'sh']].filter(
  ([program = '']) => isThere(program),
)

describe.skipIf(process.getuid?.() !== 0)('the first process of a container', () => {
  it.each(shells)('reports the exit code of a command that handles TERM, even 127: %s %s', async (...shell) => {
    for (const code of [5, 127]) {
      const codes = []
      for (let i = 0; i < rounds; i++) {
        const child = run(shell.filter(Boolean), `trap "exit ${code}" TERM; echo begun; while :; do sleep 0.02; done`)
        const ended = once(child, 'exit')
        if (child.stdout) await once(child.stdout, 'data')
        terminate(child)
        codes.push((await ended)[0])
      }
      expect(codes).toEqual(Array(rounds).fill(code))
    }
  })

  it.each(shells)('resets all signals for the command: %s %s', async (...shell) => {
    const child = run(shell.filter(Boolean), 'grep SigIgn /proc/self/status')
    const [shown] = child.stdout ? await once(child.stdout, 'data') : []
    expect(String(shown)).toBe(`SigIgn:\t${'0'.repeat(16)}\n`)
  })

  // dash uses an env that equals busybox like one without the option.
  const withoutHelpers: [shell: string[], programs: string][] = [[['/bin/bash', '--posix'], '/usr/bin/env']]
  if (isThere('/bin/busybox')) withoutHelpers.push([['/bin/dash'], '/usr/bin/env /bin/busybox'])
  it.each(withoutHelpers)(
    'starts the command directly if no helper program can be used: %s with another %s',
    async ([shell = '', ...args], programs) => {
      const directory = makeDirectory()
      const program = join(directory, 'program')
      await writeFile(program, `#!/bin/sh\necho "$0 $*" >${directory}/begun\n`, { mode: 0o755 })
      const bind = `for each in ${programs}; do [ ! -e $each ] || mount --bind ${program} $each; done; exec "$@"`
      const apart = ['--mount', '--propagation', 'private', '/bin/sh', '-c', bind, 'sh', 'unshare']
      execFileSync('unshare', [...apart, ...first([shell, ...args], '/bin/true')], { stdio: 'ignore' })
      expect(await readdir(directory)).toEqual(['program'])
    },
  )

  // bash as the first process sometimes loses the exit code of a child that ends at the same time.
  it.each(shells)('reports either the exit code or TERM if both happen at once: %s %s', async (...shell) => {
    const codes = new Set()
    for (let i = 0; i < 20; i++) {
      const child = run(shell.filter(Boolean), 'trap "" TERM; echo begun; exit 6')
      const ended = once(child, 'exit')
      if (child.stdout) await once(child.stdout, 'data')
      if (child.exitCode === null)
        try {
          terminate(child)
        } catch {
          // The process has ended.
        }
      codes.add((await ended)[0])
    }
    expect([...codes].filter((code) => code !== 143)).toEqual([6])
  })
})
