import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { Env } from '../frame/env.ts'
import { exitCodes, Stop, usageError } from '../frame/exit.ts'
import { withLock } from './lock.ts'

/**
 * A context is a named server, with or without a log-in. Each has a file in `$XDG_CONFIG_HOME/berth/contexts`. Another
 * file has the name of the current context.
 */
export interface Context {
  url: string
  /** Name of the user; null: no log-in. */
  user: string | null
  token: string | null
  /** The log-in by OpenID; null: the context has an API token, or no token. */
  openId: OpenIdLogIn | null
}

/** How a log-in by OpenID is renewed. */
export interface OpenIdLogIn {
  issuer: string
  clientId: string
  scope: string
  /** Which token of the provider the server accepts. */
  accepted: 'access_token' | 'id_token'
  /** null: the user must log in again when the token expires. */
  refreshToken: string | null
  renewAtMs: number
  expiresAtMs: number
}

/** Lower case only, because a context name is a file name, and some file systems ignore case. */
const namePattern = /^[a-z0-9][a-z0-9._-]{0,62}$/

export const isContextName = (name: string): boolean => namePattern.test(name)

const groupAndOthers = 0o077

export class ContextFiles {
  readonly #folder: string | null

  constructor({ XDG_CONFIG_HOME = '', HOME }: Env) {
    const home = isAbsolute(XDG_CONFIG_HOME) ? XDG_CONFIG_HOME : HOME && join(HOME, '.config')
    this.#folder = home ? join(home, 'berth') : null
  }

  list(): string[] {
    if (this.#folder === null) return []
    const files = undefinedIfMissing(() => readdirSync(join(this.#folder ?? '', 'contexts'))) ?? []
    return files.flatMap((file) => (file.endsWith('.json') ? file.slice(0, -'.json'.length) : [])).sort()
  }

  /** Returns the name of the current context; null: none is set. */
  readCurrent(): string | null {
    if (this.#folder === null) return null
    return undefinedIfMissing(() => readFileSync(this.#currentPath(), 'utf8'))?.trim() || null
  }

  /** Reads a context. Throws a Stop if it does not exist, or if other accounts can read its token. */
  read(name: string): Context {
    return this.find(name) ?? this.#refuse(name)
  }

  /** Reads a context; null: it does not exist. */
  find(name: string): Context | null {
    if (this.#folder === null || !isContextName(name)) return null
    const path = this.#path(name)
    const mode = undefinedIfMissing(() => statSync(path).mode)
    if (mode === undefined) return null
    const context = parseContext(readFileSync(path, 'utf8'))
    if (!context) throw usageError(`${path} is not a context`, `remove it with "rm ${path}", and log in again`)
    if (context.token !== null && (mode & groupAndOthers) !== 0)
      throw usageError(`${path} holds a token and is open to other accounts`, `type "chmod 600 ${path}"`)
    return context
  }

  write(name: string, context: Context): void {
    this.#replace(this.#path(name), `${JSON.stringify(context, null, 2)}\n`)
  }

  use(name: string): void {
    this.read(name)
    this.#replace(this.#currentPath(), `${name}\n`)
  }

  remove(name: string): void {
    rmSync(this.#path(name), { force: true })
    if (this.readCurrent() === name) rmSync(this.#currentPath(), { force: true })
  }

  /** Runs `work` under the lock of a context: only one command at a time may renew or end its log-in. */
  withLock<T>(name: string, work: () => Promise<T>): Promise<T> {
    const path = this.#path(name).replace(/json$/, 'lock')
    this.#makeFolder()
    return withLock(path, work)
  }

  #path(name: string): string {
    if (this.#folder === null)
      throw usageError('log-ins need a folder', 'set HOME, or XDG_CONFIG_HOME to an absolute path')
    if (!isContextName(name)) this.#refuse(name)
    return join(this.#folder, 'contexts', `${name}.json`)
  }

  #refuse(name: string): never {
    const names = this.list()
    const next = names.length > 0 ? `the contexts are ${names.join(', ')}` : '"berth login URL" makes a context'
    throw new Stop(exitCodes.notFound, `Context ${name} not found`, next)
  }

  #currentPath = (): string => join(this.#folder ?? '', 'current-context')

  #makeFolder(): void {
    try {
      mkdirSync(join(this.#folder ?? '', 'contexts'), { recursive: true, mode: 0o700 })
    } catch (error) {
      throw usageError(`cannot make ${this.#folder}: ${(error as NodeJS.ErrnoException).code}`, 'set XDG_CONFIG_HOME')
    }
  }

  /** Replaces a file atomically, readable only for this account. */
  #replace(path: string, text: string): void {
    this.#makeFolder()
    const written = `${path}.${process.pid}.new`
    try {
      rmSync(written, { force: true })
      writeFileSync(written, text, { mode: 0o600, flag: 'wx' })
      renameSync(written, path)
    } catch (error) {
      rmSync(written, { force: true })
      throw usageError(`cannot write ${path}: ${(error as NodeJS.ErrnoException).code}`, 'make its folder writable')
    }
  }
}

function parseContext(text: string): Context | null {
  try {
    const { url, user = null, token = null, openId = null } = JSON.parse(text) as Partial<Context>
    return typeof url === 'string' ? { url, user, token, openId } : null
  } catch {
    return null
  }
}

function undefinedIfMissing<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return undefined
  }
}
