import { access, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readErrorCode } from '../backend/file-errors.ts'
import type { Handle } from '../executor.ts'

/** Keeps one file per container whose creation was requested from the engine. */
export class Orders {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  async note(handle: Handle): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 })
    await writeFile(this.#path(handle), '', { mode: 0o600 })
  }

  /** true: the creation may have been requested. Also true if the file cannot be read. */
  async has(handle: Handle): Promise<boolean> {
    return access(this.#path(handle)).then(
      () => true,
      (error: unknown) => readErrorCode(error) !== 'ENOENT',
    )
  }

  forget(handle: Handle): Promise<void> {
    return rm(this.#path(handle), { force: true })
  }

  #path(handle: Handle): string {
    return join(this.#directory, `${handle}.order`)
  }
}
