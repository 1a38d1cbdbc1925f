import { access, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readErrorCode } from '../backend/file-errors.ts'
import type { Handle } from '../executor.ts'

/** Which containers were requested from the engine. */
export interface Orders {
  /** A start begins, and no server has requested its container before. */
  begin(handle: Handle): void
  note(handle: Handle): Promise<void>
  /** true: the creation may have been requested. */
  has(handle: Handle): Promise<boolean>
  forget(handle: Handle): Promise<void>
}

/** Keeps one file per container. */
export class OrderFiles implements Orders {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
  }

  begin(): void {}

  async note(handle: Handle): Promise<void> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 })
    await writeFile(this.#path(handle), '', { mode: 0o600 })
  }

  /** Also true if the file cannot be read. */
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

/** For an engine of several servers: any of them may have requested a container, unless the start began in this one. */
export class SharedOrders implements Orders {
  readonly #known = new Map<Handle, boolean>()

  begin(handle: Handle): void {
    if (!this.#known.has(handle)) this.#known.set(handle, false)
  }

  async note(handle: Handle): Promise<void> {
    this.#known.set(handle, true)
  }

  async has(handle: Handle): Promise<boolean> {
    return this.#known.get(handle) ?? true
  }

  async forget(handle: Handle): Promise<void> {
    this.#known.delete(handle)
  }
}
