import { access, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Handle } from '../executor.ts'

/** One file for each container that the engine was asked to create. */

const pathOf = (directory: string, handle: Handle) => join(directory, `${handle}.order`)

export async function noteOrder(directory: string, handle: Handle): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await writeFile(pathOf(directory, handle), '', { mode: 0o600 })
}

export async function isOrdered(directory: string, handle: Handle): Promise<boolean> {
  try {
    await access(pathOf(directory, handle))
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

export const forgetOrder = (directory: string, handle: Handle) => rm(pathOf(directory, handle), { force: true })
