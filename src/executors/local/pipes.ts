import { execFile } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/**
 * Pipes for the output of runs. Unlike a file, a pipe cannot be truncated by a job that opens /dev/stdout or
 * /dev/stderr again, and its reader decides how much is kept. Node cannot make pipes, so `mkfifo` makes many names at
 * once (5 ms, once in `pipesPerBatch / 2` runs). Each is opened and its name removed, so the kernel frees the pipes of
 * a server that dies.
 */
export interface Pipe {
  read: number
  write: number
}

export interface PipeStock {
  /** The caller closes both ends. */
  take(): Promise<Pipe>
  close(): void
}

const pipesPerBatch = 32
const run = promisify(execFile)

export function createPipeStock(parentDirectory: string): PipeStock {
  const stock: Pipe[] = []
  let making: Promise<void> | undefined

  async function make(): Promise<void> {
    const directory = await mkdtemp(join(parentDirectory, 'pipes-'))
    try {
      const paths = Array.from({ length: pipesPerBatch }, (_, i) => join(directory, String(i)))
      await run('mkfifo', ['-m', '600', ...paths])
      for (const path of paths) stock.push(openPipe(path))
    } finally {
      await rm(directory, { recursive: true })
    }
  }

  return {
    async take() {
      for (;;) {
        const pipe = stock.pop()
        if (pipe) return pipe
        making ??= make().finally(() => {
          making = undefined
        })
        await making
      }
    },
    close() {
      for (const pipe of stock.splice(0)) closePipe(pipe)
    },
  }
}

export function closePipe({ read, write }: Pipe): void {
  closeSync(read)
  closeSync(write)
}

/** Opening one end alone would wait for the other. */
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
