import { execFile } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

export interface Pipe {
  read: number
  write: number
}

const pipesPerBatch = 32
const run = promisify(execFile)

/**
 * A stock of pipes for the output of runs. Unlike a file, a pipe cannot be truncated by a job that opens /dev/stdout
 * again, and its reader decides how much is stored. Node cannot create pipes, so `mkfifo` creates several at once (5
 * ms). Each is opened and its name removed, so the kernel frees the pipes when the server dies.
 */
export class PipeStock {
  readonly #parentDirectory: string
  readonly #stock: Pipe[] = []
  #making: Promise<void> | undefined

  constructor(parentDirectory: string) {
    this.#parentDirectory = parentDirectory
  }

  /** The caller closes both ends. */
  async take(): Promise<Pipe> {
    for (;;) {
      const pipe = this.#stock.pop()
      if (pipe) return pipe
      this.#making ??= this.#make().finally(() => {
        this.#making = undefined
      })
      await this.#making
    }
  }

  close(): void {
    for (const pipe of this.#stock.splice(0)) closePipe(pipe)
  }

  async #make(): Promise<void> {
    const directory = await mkdtemp(join(this.#parentDirectory, 'pipes-'))
    try {
      const paths = Array.from({ length: pipesPerBatch }, (_, i) => join(directory, String(i)))
      await run('mkfifo', ['-m', '600', ...paths])
      for (const path of paths) this.#stock.push(openPipe(path))
    } finally {
      await rm(directory, { recursive: true })
    }
  }
}

export function closePipe({ read, write }: Pipe): void {
  closeSync(read)
  closeSync(write)
}

/** Opens both ends, because opening one end alone would wait for the other. */
function openPipe(path: string): Pipe {
  const opened: number[] = []
  const open = (flags: number) => {
    const file = openSync(path, flags)
    opened.push(file)
    return file
  }
  try {
    const both = open(constants.O_RDWR)
    const pipe = { read: open(constants.O_RDONLY), write: open(constants.O_WRONLY) }
    closeSync(both)
    return pipe
  } catch (error) {
    for (const file of opened) closeSync(file)
    throw error
  }
}
