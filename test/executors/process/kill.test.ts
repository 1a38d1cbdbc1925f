import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { killScript } from '../../../src/executors/process/scripts.ts'
import { makeDirectory } from '../../support/directory.ts'

/** The script that signals the processes of a session, over a folder in the form of /proc. */
describe('the signal that ends a session', () => {
  const start = async (proc: string) => {
    const child = spawn('sleep', ['600'], { stdio: 'ignore' })
    await mkdir(join(proc, String(child.pid)), { recursive: true })
    const ended = once(child, 'exit').then(([, signal]) => signal as string)
    return { child, ended, variables: join(proc, String(child.pid), 'environ') }
  }
  const kill = (proc: string) => {
    const script = `${killScript.replaceAll('/proc/', `${proc}/`)}\n:`
    return promisify(execFile)('/bin/sh', ['-c', script, 'BERTH_SESSION=one', 'TERM'])
  }

  it('reaches only processes whose environment has the variable of the session', async () => {
    const proc = makeDirectory()
    const [own, other] = [await start(proc), await start(proc)]
    await writeFile(own.variables, 'A=b\0BERTH_SESSION=one\0')
    await writeFile(other.variables, 'A=b\0BERTH_SESSION=two\0')
    await kill(proc)
    expect(await own.ended).toBe('SIGTERM')
    expect(other.child.exitCode).toBeNull()
    other.child.kill('SIGKILL')
    expect(await other.ended).toBe('SIGKILL')
  })

  it('reaches a process that replaces its program and has no readable environment meanwhile', async () => {
    const proc = makeDirectory()
    const { ended, variables } = await start(proc)
    execFileSync('mkfifo', [variables])
    const killed = kill(proc)
    // Each opening waits for a reader.
    await (await open(variables, 'w')).close()
    // The reader sees the end, unless the machine is slow; then it gets both at once.
    await pause(200)
    await writeFile(variables, 'BERTH_SESSION=one\0')
    await killed
    expect(await ended).toBe('SIGTERM')
  })
})
