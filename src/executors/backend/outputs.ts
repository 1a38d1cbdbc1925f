import { spawn } from 'node:child_process'
import { addAbortSignal, Readable } from 'node:stream'
import type { FoundOutput, OutputFile, Unread } from '../../domain/outputs/found.ts'
import { type Account, switchToAccount } from '../accounts/account.ts'
import { systemPath } from '../process/search-path.ts'
import { readErrorCode } from './file-errors.ts'
import { readTarFiles } from './tar-files.ts'

/**
 * Reads the output files of an ended run, with `find` and `tar` under the account of the job: the server follows no
 * path that a process of that account may have replaced, and reads no file that the job could not read.
 */

/** The working directory of a run, and its account. */
export interface Workdir {
  cwd: string
  account: Pick<Account, 'uid' | 'gid'> | null
}

const thingsMax = 1_000_000
const printedCharactersMax = 16_384
const namedMax = 10

export async function* readOutputs(
  workdir: Workdir,
  pick: (found: FoundOutput) => boolean,
  signal: AbortSignal,
): AsyncGenerator<OutputFile | Unread> {
  const listing = new Tool(
    workdir,
    ['find', '-H', workdir.cwd, '-mindepth', '1', '!', '-type', 'd', '-printf', '%y %s %P\\0'],
    signal,
  )
  const picked = new Map<string, number>()
  let things = 0
  for await (const found of listing.lines()) {
    things += 1
    if (things > thingsMax) break
    if (pick(found)) picked.set(found.path, found.size)
  }
  if (things > thingsMax) yield { unread: `the working directory has more than ${thingsMax} files` }
  yield* listing.end()
  while (picked.size > 0) yield* readFiles(workdir, picked, signal)
}

/** Reads the files and removes them from `picked`. Stops at a file that grew, whose content may never end. */
async function* readFiles(
  workdir: Workdir,
  picked: Map<string, number>,
  signal: AbortSignal,
): AsyncGenerator<OutputFile | Unread> {
  const names = Readable.from(inPieces([...picked.keys()]))
  // Without --hard-dereference, a second name of a file has no content.
  const tar = ['tar', '-C', workdir.cwd, '--no-recursion', '--hard-dereference', '--null', '-c', '-f', '-', '-T', '-']
  const packing = new Tool(workdir, tar, signal, names)
  for await (const { path, type, size, content } of readTarFiles(packing.stdout)) {
    const own = path.replace(/^\.\//, '')
    const grew = size > (picked.get(own) ?? size)
    picked.delete(own)
    if (type === 'FILE' && !grew) yield { path: own, content }
    else yield { unread: `${JSON.stringify(own)} changed while it was read` }
    if (grew) return packing.kill()
  }
  picked.clear()
  yield* packing.end()
}

function* inPieces(paths: readonly string[]): Generator<Buffer> {
  for (const path of paths) yield Buffer.from(`./${path}\0`)
}

/** A program that runs under the account of the job, without the environment of the server. */
export class Tool {
  readonly stdout: Readable
  readonly kill: () => void
  readonly #ended: Promise<Error | null>
  #printed = ''

  constructor({ account }: Workdir, command: readonly string[], signal: AbortSignal, input?: Readable) {
    const [file = '', ...args] = [...switchToAccount(account as Account | null), ...command]
    const child = spawn(file, args, {
      cwd: '/',
      env: { PATH: systemPath, LC_ALL: 'C' },
      stdio: [input ? 'pipe' : 'ignore', 'pipe', 'pipe'],
      signal,
      killSignal: 'SIGKILL',
    })
    const { stdin, stdout, stderr } = child
    this.#ended = new Promise((resolve) => child.once('error', resolve).once('close', () => resolve(null)))
    // A program that waits for a hanging file system survives its signal.
    this.stdout = addAbortSignal(signal, stdout ?? Readable.from([]))
    this.stdout.on('error', () => undefined)
    this.kill = () => void child.kill('SIGKILL')
    stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.#printed = (this.#printed + text).slice(0, printedCharactersMax)
    })
    // The program may end before it has read all names.
    stdin?.on('error', () => undefined)
    if (stdin) input?.pipe(stdin)
  }

  /** Parses the output of `find`: entries `TYPE SIZE PATH` that end with NUL. */
  async *lines(): AsyncGenerator<FoundOutput & { size: number }> {
    let rest: Buffer = Buffer.alloc(0)
    for await (const piece of this.stdout as AsyncIterable<Buffer>) {
      rest = rest.length === 0 ? piece : Buffer.concat([rest, piece])
      for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
        const [, type = '', size = '', path = ''] = /^(.) (\d+) (.*)$/s.exec(rest.toString('utf8', 0, end)) ?? []
        rest = rest.subarray(end + 1)
        yield { path, size: Number(size), type: type === 'f' ? 'FILE' : type === 'l' ? 'LINK' : 'OTHER' }
      }
    }
  }

  /** Waits for the end of the program, and yields the files that its messages complain about. */
  async *end(): AsyncGenerator<OutputFile | Unread> {
    const error = await this.#ended
    if (error && readErrorCode(error) !== 'ENOENT') throw error
    if (error) yield { unread: 'the machine has no GNU find, GNU tar or setpriv' }
    for (const line of this.#printed.split('\n').filter(isComplaint).slice(0, namedMax)) yield { unread: line }
  }
}

const isComplaint = (line: string) => line !== '' && !line.includes('Exiting with failure status')
