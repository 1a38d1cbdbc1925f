import { access, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Handle } from '../executor.ts'

/**
 * One file for each container that the engine was asked to create. Earlier versions wrote none, so in a directory that
 * one of them left every run may have a container, until the containers that exist have files too (`complete`). A file,
 * `.orders`, says that this is so; a new directory has it from the beginning. Once the container is made, its file holds
 * its id, which tells it from its copies.
 */

export interface Orders {
  note(handle: Handle): Promise<void>
  noteMade(handle: Handle, id: string): Promise<void>
  /** Whether the engine may have been asked for the container; true also where that cannot be read. */
  mayHave(handle: Handle): Promise<boolean>
  /** Whether the container with this id may be the one that was made. */
  mayBe(handle: Handle, id: string): Promise<boolean>
  forget(handle: Handle): Promise<void>
  isComplete(): boolean
  /** Notes the containers that exist. */
  complete(existing: Iterable<Handle>): Promise<void>
}

export async function openOrders(directory: string): Promise<Orders> {
  const marker = join(directory, '.orders')
  const pathOf = (handle: Handle) => join(directory, `${handle}.order`)
  const isNew = (await make()) !== undefined
  if (isNew) await write(marker)
  let isComplete = isNew || (await errorOf(marker)) === null

  /** undefined: there was one. */
  function make(): Promise<string | undefined> {
    return mkdir(directory, { recursive: true, mode: 0o700 })
  }

  async function note(handle: Handle): Promise<void> {
    await make()
    await write(pathOf(handle), '', 'a')
  }

  return {
    note,
    noteMade: (handle, id) => write(pathOf(handle), id),
    async mayBe(handle, id) {
      const noted = await readFile(pathOf(handle), 'utf8').catch(() => '')
      return noted === '' || noted === id
    },
    mayHave: async (handle) => !isComplete || (await errorOf(pathOf(handle))) !== 'ENOENT',
    forget: (handle) => rm(pathOf(handle), { force: true }),
    isComplete: () => isComplete,
    async complete(existing) {
      for (const handle of existing) await note(handle)
      await write(marker)
      isComplete = true
    },
  }
}

const write = (path: string, text = '', flag = 'w') => writeFile(path, text, { mode: 0o600, flag })

/** The code of the error; null: the file is there. */
const errorOf = (path: string) =>
  access(path).then(
    () => null,
    (error: NodeJS.ErrnoException) => error.code,
  )
