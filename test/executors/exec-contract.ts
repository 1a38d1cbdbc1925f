import { createHash, randomBytes, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  type ExecProcess,
  type Executor,
  type Handle,
  isOver,
  type RunSpec,
  SessionRefused,
  type TerminalSize,
} from '../../src/executors/executor.ts'
import { freePort } from '../support/berth-server.ts'
import { until } from '../support/until.ts'
import { isWhole } from '../support/whole.ts'
import type { Backend } from './contract.ts'
import { confirmedMsMax, observe, untilState } from './runs.ts'

/** Number of bytes sent through `cat` and back. */
const catBytes = isWhole ? 2 ** 30 : 2 ** 23
/** Time in which no client reads, or the network stands still. */
const pauseMs = isWhole ? 30_000 : 1_000
/** Time in which a slow machine transfers 1 GiB. */
const caseMsMax = isWhole ? 900_000 : undefined
const togetherCount = 8

/** A run for sessions, which all cases share. */
class Entered {
  readonly handle: Handle
  readonly freeze: NonNullable<Backend['freeze']>
  readonly #executor: Executor

  /** Without `freeze` the backend is on the machine of the server. */
  constructor(executor: Executor, handle: Handle, freeze: Backend['freeze'] = (work) => work()) {
    this.#executor = executor
    this.handle = handle
    this.freeze = freeze
  }

  get state() {
    return observe(this.#executor, this.handle).then(({ state }) => state)
  }

  async open(command: string | readonly string[], size: TerminalSize | null = null): Promise<ExecProcess> {
    const words = typeof command === 'string' ? ['/bin/sh', '-c', command] : command
    const process = await this.#executor.exec?.(this.handle, { command: words, size, unixUser: null })
    if (!process) throw new Error('no exec')
    return process
  }

  async run(command: string | readonly string[], input: string | Uint8Array = '') {
    const process = await this.open(command)
    process.stdin.end(input)
    const [out, err] = await Promise.all([text(process.stdout), process.stderr && text(process.stderr)])
    return { out, err, exitCode: await process.exitCode }
  }

  /** Opens a command on a terminal. `shows` waits for output. */
  async openTerminal(command: string | readonly string[], size: TerminalSize = { columns: 100, rows: 30 }) {
    const process = await this.open(command, size)
    let out = ''
    process.stdout.on('data', (data) => (out += data))
    const shows = (pattern: RegExp) =>
      until(() => pattern.exec(out), { what: `the terminal shows ${pattern}`, seen: () => out })
    return { process, shows, type: (keys: string) => void process.stdin.write(keys) }
  }

  /** Number of processes of the job with the word in their command line. */
  async count(word: string): Promise<number> {
    const hidden = `[${word[0]}]${word.slice(1)}`
    return Number((await this.run(`grep -ls '${hidden}' /proc/[0-9]*/cmdline | wc -l`)).out)
  }

  async connect(port: number): Promise<string> {
    const connection = await this.#executor.connect?.(this.handle, port)
    return connection ? text(connection) : ''
  }
}

const countdown = (seconds: string) => `echo begun; exec sleep ${seconds}`
const newSeconds = () => `9999${randomInt(1e9)}`

/** The behaviour of a command in a run, on every backend. */
const cases: Record<string, (run: Entered) => Promise<unknown>> = {
  async 'keeps stdout, stderr and the exit code apart'(run) {
    const ended = await run.run('cat; echo err >&2; exit 5', 'in')
    expect(ended).toEqual({ out: 'in', err: 'err\n', exitCode: 5 })
  },
  async 'ends with the exit code of the command, up to 255'(run) {
    for (const code of [0, 1, 127, 255]) expect((await run.run(`exit ${code}`)).exitCode).toBe(code)
  },
  async 'ends with 128 and the number of a signal'(run) {
    expect((await run.run('kill -TERM $$')).exitCode).toBe(143)
    expect((await run.run('kill -KILL $$')).exitCode).toBe(137)
  },
  async 'names a program that does not exist'(run) {
    const { out, err, exitCode } = await run.run(['no-such-program'])
    expect(out + err).toContain('no-such-program')
    expect(exitCode).toBeOneOf([126, 127])
  },
  async 'passes each word on as it is'(run) {
    const words = ['', ' a  b ', "it's", '"$HOME"', '*', 'new\nline', '\\n', '-n', 'é']
    const { out } = await run.run(['/bin/sh', '-c', `for each; do printf '<%s>' "$each"; done`, 'sh', ...words])
    expect(out).toBe(words.map((word) => `<${word}>`).join(''))
  },
  async 'has the variables of the job'(run) {
    expect((await run.run('echo "$COLOUR $BERTH_NOTE"')).out).toBe("it's $HOME of berth\n")
  },
  async 'has the directory of the job'(run) {
    expect((await run.run('pwd')).out).toBe('/tmp\n')
  },
  async 'has pipes and no terminal'(run) {
    expect((await run.run('for n in 0 1 2; do [ -t $n ] || printf pipe; done')).out).toBe('pipepipepipe')
  },
  async 'gets the end of an empty input'(run) {
    expect(await run.run('cat; echo over')).toMatchObject({ out: 'over\n', exitCode: 0 })
  },
  async 'passes output on at once'(run) {
    const process = await run.open('printf ask; read -r answer; printf %s "$answer"; exec sleep 600')
    expect(String((await once(process.stdout, 'data'))[0])).toBe('ask')
    process.stdin.write('yes\n')
    expect(String((await once(process.stdout, 'data'))[0])).toBe('yes')
    await process.end()
  },
  async 'carries bytes of any value through cat and back'(run) {
    const block = randomBytes(2 ** 20)
    const [sent, got] = [createHash('sha256'), createHash('sha256')]
    const blocks = function* () {
      for (let left = catBytes; left > 0; left -= block.length) {
        sent.update(block)
        yield block
      }
    }
    const process = await run.open('cat')
    Readable.from(blocks()).pipe(process.stdin)
    let bytes = 0
    for await (const chunk of process.stdout as AsyncIterable<Buffer>) {
      bytes += chunk.length
      got.update(chunk)
    }
    expect([bytes, await process.exitCode]).toEqual([catBytes, 0])
    expect(got.digest('hex')).toBe(sent.digest('hex'))
  },
  async 'loses nothing while neither side reads'(run) {
    const bytes = randomBytes(2 ** 22)
    const process = await run.open(`sleep ${pauseMs / 1_000}; cat; echo err >&2`)
    process.stdin.end(bytes)
    await pause(2 * pauseMs)
    const [out, err] = await Promise.all([buffer(process.stdout), process.stderr && text(process.stderr)])
    expect([out.equals(bytes), err, await process.exitCode]).toEqual([true, 'err\n', 0])
  },
  async 'loses nothing while no byte passes between server and backend'(run) {
    const [sent, later] = [randomBytes(2 ** 20), randomBytes(2 ** 20)]
    const process = await run.open('cat; echo err >&2; exit 3')
    const received = Promise.all([buffer(process.stdout), process.stderr && text(process.stderr)])
    process.stdin.write(sent)
    await once(process.stdout, 'data')
    await run.freeze(async () => {
      process.stdin.end(later)
      await pause(pauseMs)
    })
    const [out, err] = await received
    expect([out.equals(Buffer.concat([sent, later])), err, await process.exitCode]).toEqual([true, 'err\n', 3])
  },
  async 'ends though it has not read its input'(run) {
    const process = await run.open('head -c 3; exit 4')
    process.stdin.write(randomBytes(2 ** 20).fill('x'))
    expect([await text(process.stdout), await process.exitCode]).toEqual(['xxx', 4])
    await process.end()
  },
  async 'reports a full disk as the command does'(run) {
    const { err, exitCode } = await run.run('cat >/dev/full; code=$?; echo "ended $code" >&2; exit 9', 'more')
    expect(err).toMatch(/No space left on device\s+ended 1\n$/)
    expect(exitCode).toBe(9)
  },
  async 'gets a signal of its user'(run) {
    const process = await run.open("trap 'echo caught; exit 9' INT; echo up; while :; do sleep 0.1; done")
    await once(process.stdout, 'data')
    void process.signal('INT')
    expect([await text(process.stdout), await process.exitCode]).toEqual(['caught\n', 9])
  },
  async 'is killed at the end of its session, though it ignores TERM, HUP and INT'(run) {
    const seconds = newSeconds()
    const process = await run.open(`trap '' TERM HUP INT; ${countdown(seconds)}`)
    await once(process.stdout, 'readable')
    expect(await run.count(seconds)).toBeGreaterThan(0)
    await process.end()
    await until(async () => (await run.count(seconds)) === 0, { what: 'the command is killed' })
    expect(await run.state).toBe('running')
  },
  async 'is many at a time, each with its own streams'(run) {
    const numbers = Array.from({ length: togetherCount }, (_, n) => n)
    const ended = await Promise.all(numbers.map((n) => run.run(`cat; echo err${n} >&2; exit ${n}`, `in${n}`)))
    expect(ended).toEqual(numbers.map((n) => ({ out: `in${n}`, err: `err${n}\n`, exitCode: n })))
  },
  async 'on a terminal has its size, its type and colours'(run) {
    const look = 'stty size; echo $TERM; tty >&2; printf "\\033[31mred\\033[0m\\n"; exit 3'
    // Some backends set the size a moment after the start.
    const terminal = await run.openTerminal(`until [ "$(stty size)" = '30 100' ]; do sleep 0.1; done; ${look}`)
    await terminal.shows(/30 100\r\nxterm-256color\r\n\/dev\/.*\r\n.\[31mred.\[0m\r\n/)
    expect(await terminal.process.exitCode).toBe(3)
  },
  async 'on a terminal follows a resize'(run) {
    const terminal = await run.openTerminal('trap "stty size" WINCH; echo up; while :; do sleep 0.1; done')
    await terminal.shows(/up/)
    await terminal.process.resize({ columns: 50, rows: 20 })
    await terminal.shows(/20 50\r\n/)
    await terminal.process.end()
  },
  async 'on a terminal ends by Ctrl-C, without the job'(run) {
    const terminal = await run.openTerminal('echo up; sleep 600; echo no')
    await terminal.shows(/up/)
    // A shell that is about to start a command ignores Ctrl-C.
    await pause(300)
    terminal.type('\x03')
    expect(await terminal.process.exitCode).toBe(130)
    expect(await run.state).toBe('running')
  },
  async 'on a terminal can catch Ctrl-C'(run) {
    const terminal = await run.openTerminal("trap 'echo caught; exit 6' INT; echo up; while :; do sleep 0.1; done")
    await terminal.shows(/up/)
    terminal.type('\x03')
    await terminal.shows(/caught\r\n/)
    expect(await terminal.process.exitCode).toBe(6)
  },
  async 'on a terminal is a shell with Ctrl-Z and Ctrl-D'(run) {
    const terminal = await run.openTerminal([])
    // The shell accepts Ctrl-D, and a job accepts Ctrl-Z, only after the prompt or the output of the job is there.
    terminal.type('PS1=pro""mpt\n')
    await terminal.shows(/prompt/)
    terminal.type(`sh -c 'echo beg""un; exec sleep 600'\n`)
    await terminal.shows(/begun/)
    terminal.type('\x1a')
    await terminal.shows(/Stopped|stopped|suspended/)
    // Of a stopped job, `wait` does not await the end, and a shell with stopped jobs ignores the first Ctrl-D.
    terminal.type('kill -9 %1; fg; echo aw""ake; (exit 5)\n')
    await terminal.shows(/awake\r\n[\s\S]*prompt/)
    terminal.type('\x04')
    expect(await terminal.process.exitCode).toBe(5)
  },
  async 'on a terminal is killed at the end of its session'(run) {
    const seconds = newSeconds()
    const terminal = await run.openTerminal(countdown(seconds))
    await terminal.shows(/begun/)
    await terminal.process.end()
    await until(async () => (await run.count(seconds)) === 0, { what: 'the command is killed' })
    expect(await run.state).toBe('running')
  },
  async 'reaches no port of the machine'(run) {
    for (const host of ['127.0.0.1', '::1', '0.0.0.0']) {
      const server = createServer((socket) => socket.end('of the machine')).listen(0, host)
      await once(server, 'listening')
      const { port } = server.address() as { port: number }
      const got = await run.connect(port).catch((error: Error) => error)
      expect(got).toBeInstanceOf(SessionRefused)
      expect(String(got)).toContain(`ort ${port}`)
      server.close()
    }
  },
}

/** The part of the contract for executors with sessions. */
export function testExec(createBackend: () => Promise<Backend>): void {
  let backend: Backend
  let executor: Executor
  let shared: Entered | null
  const begun: Handle[] = []

  /** An endless run in /tmp, with variables. */
  async function start(): Promise<Handle> {
    const { spec, ...run } = backend.run({ endless: true })
    const environment = [...spec.environment, { name: 'COLOUR', value: "it's $HOME" }]
    const made: RunSpec = {
      ...run,
      spec: { ...spec, workdir: '/tmp', environment },
      injected: { BERTH_NOTE: 'of berth' },
    }
    const handle = await executor.start(made)
    begun.push(handle)
    await untilState(executor, handle, 'running')
    return handle
  }

  beforeAll(async () => {
    backend = await createBackend()
    executor = await backend.open()
    shared = executor.exec ? new Entered(executor, await start(), backend.freeze) : null
  }, confirmedMsMax)
  afterAll(async () => {
    for (const handle of begun) await executor.stop(handle, 0)
    const areOver = async () => (await executor.inspect(begun)).every(isOver)
    await until(areOver, { what: 'all runs are over', timeoutMs: confirmedMsMax })
    await executor.close()
    await backend.remove?.()
  }, confirmedMsMax)

  for (const [title, test] of Object.entries(cases))
    it(title, async ({ skip }) => (shared ? test(shared) : skip('the executor runs no commands')), caseMsMax)

  it('ends with its job, reaches no port of another job, and is refused after its end', async ({ skip }) => {
    if (!shared) return skip('the executor runs no commands')
    const run = new Entered(executor, await start())
    const port = await freePort()
    // An image may have only the nc of busybox.
    const greet = `import socket
server = socket.create_server(("", ${port}))
while True:
    one = server.accept()[0]
    one.sendall(b"hello")
    one.close()`
    const listener = await shared.open(`if command -v python3; then exec python3 -c '${greet}'; fi
while :; do nc -l -p ${port} -e /bin/echo hello; done`)
    const answers = () => shared?.connect(port).catch(() => '')
    await until(answers, { what: 'the port of the other job answers' })
    await expect(run.connect(port)).rejects.toThrow(SessionRefused)
    await listener.end()
    const processes = [await run.open("trap '' TERM; echo up; while :; do sleep 1; done"), await run.open(['cat'])]
    if (processes[0]) await once(processes[0].stdout, 'data')
    for (const process of processes) process.stdout.resume()
    await executor.stop(run.handle, 0)
    for (const process of processes) expect(await process.exitCode).not.toBe(0)
    await until(async () => isOver(await observe(executor, run.handle)), {
      what: 'it is over',
      timeoutMs: confirmedMsMax,
    })
    await expect(run.open('true')).rejects.toThrow(SessionRefused)
    await expect(run.connect(80)).rejects.toThrow(SessionRefused)
  })
}
