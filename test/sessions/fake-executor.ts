import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import type { Executor } from '../../src/executors/executor.ts'

/** Runs commands as children of the test, and connects to ports of this machine: for tests of the transport. */
export const fakeExecutor = {
  name: 'local',
  async exec(_handle, { command: [program = '', ...rest] }) {
    const child = spawn(program, rest)
    return {
      ...{ stdin: child.stdin, stdout: child.stdout, stderr: child.stderr },
      exitCode: new Promise((resolve) => child.once('exit', (code) => resolve(code))),
      resize: (size) => void child.stdin.write(JSON.stringify(size)),
      signal: (name) => void child.kill(`SIG${name}` as NodeJS.Signals),
      end: () => void child.kill('SIGKILL'),
    }
  },
  async connect(_handle, port) {
    await wait(5)
    return connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  },
} satisfies Partial<Executor> as unknown as Executor
