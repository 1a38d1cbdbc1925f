import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { type Command, InvalidArgumentError } from 'commander'
import { ClientLine } from '../../client/channel/client-line.ts'
import { kinds } from '../../client/channel/frames.ts'
import { OpenForwardDocument } from '../../client/generated/graphql.ts'
import { type Cli, mutate } from '../frame/cli.ts'
import { exitCodes, Stop, usageError } from '../frame/exit.ts'
import { readCount } from '../reading/numbers.ts'
import { openBrowser } from '../showing/browser.ts'
import { announceSession, copyInto, sendAll, toSocketUrl } from '../showing/session-streams.ts'

interface Ports {
  /** The local port; 0: any free port. */
  local: number
  port: number
}

interface Options {
  run?: number
  stdio?: boolean
  open?: boolean
}

export function registerForwardCommand(program: Command, cli: Cli): void {
  program
    .command('forward')
    .argument('<job>')
    .argument('<ports>', 'PORT of the job, or LOCAL:PORT (default: the same port here; 0: a free one)', readPorts)
    .option('--run <number>', 'only if this run is the current one', readCount)
    .option('--stdio', 'one connection over stdin and stdout, for ProxyCommand of ssh')
    .option('--open', 'open the port in a browser')
    .description('lead a port of this machine to a port of a running job, until Ctrl-C')
    .action(async (jobId: string, { local, port }: Ports, { run, stdio, open }: Options) => {
      if (stdio && open) throw usageError('--open cannot be combined with --stdio')
      const { url: path, session } = await mutate(cli, OpenForwardDocument, { jobId, run, port })
      announceSession(cli, session.id, 'the port')
      const forward = new Forward(toSocketUrl(cli, path))
      if (stdio) return forward.carryStdio(cli)
      const at = await forward.listen(local, cli)
      cli.terminal.say(`berth: http://127.0.0.1:${at} leads to port ${port} of ${jobId}; Ctrl-C ends it`)
      if (open) await openBrowser(cli, `http://127.0.0.1:${at}`)
      await forward.ended(cli)
    })
}

function readPorts(given: string): Ports {
  const [, local, port] = /^(?:(\d{1,5}):)?(\d{1,5})$/.exec(given) ?? []
  const ports = { local: Number(local ?? port), port: Number(port) }
  if (!(ports.local <= 65_535 && ports.port >= 1 && ports.port <= 65_535))
    throw new InvalidArgumentError('Expected PORT or LOCAL:PORT, such as 8888 or 9000:8888.')
  return ports
}

/** A port session. Line 0 of its channel is the session itself, and each connection has another line. */
class Forward {
  readonly #url: string
  readonly #session: ClientLine
  #newest = 0

  constructor(url: string) {
    this.#url = url
    this.#session = new ClientLine({ url, take: () => undefined })
  }

  async listen(port: number, cli: Cli): Promise<number> {
    const carry = async (socket: Socket) => {
      const reason = await this.#carry(socket)
      if (reason !== null) cli.terminal.say(`berth: ${reason}`)
    }
    const server = createServer({ allowHalfOpen: true }, (socket) => void carry(socket))
    server.listen(port, '127.0.0.1')
    await once(server, 'listening').catch((error: Error) => {
      this.#session.close()
      throw new Stop(exitCodes.refused, `cannot listen on port ${port}: ${error.message}`, 'choose another: LOCAL:PORT')
    })
    void this.#session.ended.then(() => server.close())
    return (server.address() as AddressInfo).port
  }

  /** Resolves when the session ends, or on Ctrl-C. */
  async ended(cli: Cli): Promise<void> {
    const stop = cli.stdio().onInterrupt(() => this.#session.close())
    const { reason } = await this.#session.ended
    stop()
    if (reason !== null) throw new Stop(exitCodes.unexpected, reason)
  }

  async carryStdio(cli: Cli): Promise<void> {
    const { stdin, stdout } = cli.stdio()
    const reason = await this.#carry(Duplex.from({ readable: stdin, writable: stdout }))
    this.#session.close()
    stdin.destroy()
    if (reason !== null) throw new Stop(exitCodes.unexpected, reason)
  }

  /** Carries the bytes of a connection. Returns why it failed; null: it did not fail. */
  async #carry(socket: Socket | Duplex): Promise<string | null> {
    this.#newest += 1
    const number = this.#newest
    socket.on('error', () => undefined)
    const secret = await this.#session.secret
    if (secret === '') {
      socket.destroy()
      return (await this.#session.ended).reason
    }
    const line = new ClientLine({
      ...{ url: this.#url, number, secret },
      take: (kind, payload) => (kind === kinds.eof ? void socket.end() : copyInto(socket, payload)),
    })
    void this.#session.ended.then(() => line.close())
    socket.on('error', () => line.close())
    void sendAll(socket, line)
    const { reason } = await line.ended
    if (reason !== null) socket.destroy()
    // A browser keeps its side of an idle connection open.
    else if ('destroySoon' in socket) socket.destroySoon()
    else socket.end()
    return reason
  }
}
