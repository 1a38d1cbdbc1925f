import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Env } from '../frame/env.ts'
import { usageError } from '../frame/exit.ts'

/** `@last` stands for the job that this account submitted last. A file has its id for each server. */

const last = '@last'

function locate({ XDG_STATE_HOME, HOME }: Env): string | null {
  const folder = XDG_STATE_HOME || (HOME && join(HOME, '.local/state'))
  return folder ? join(folder, 'berth', 'last.json') : null
}

async function readAll(path: string): Promise<Record<string, string>> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Record<string, string>
  } catch {
    return {}
  }
}

/** Stores the id for `@last`. Ignores errors, because the job was submitted anyway. */
export async function rememberJob(env: Env, url: string, id: string): Promise<void> {
  const path = locate(env)
  if (path === null) return
  const text = JSON.stringify({ ...(await readAll(path)), [url]: id })
  const written = `${path}.${process.pid}`
  const write = async () => {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await writeFile(written, text, { mode: 0o600 })
    await rename(written, path)
  }
  await write().catch(() => undefined)
}

export async function replaceLast(words: readonly string[], env: Env, readUrl: () => string): Promise<string[]> {
  const end = words.includes('--') ? words.indexOf('--') : words.length
  if (!words.slice(0, end).includes(last)) return [...words]
  const path = locate(env)
  const url = readUrl()
  const id = path === null ? undefined : (await readAll(path))[url]
  if (id === undefined)
    throw usageError(`${last}: no job was submitted to ${url} from here`, '"berth ls" lists your jobs')
  return words.map((word, i) => (word === last && i < end ? id : word))
}
