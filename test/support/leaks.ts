import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Tokens of runs and users, secrets of webhooks, JWTs. */
const forms = [
  /\bberth_run_[0-9a-z]{26}_[\w-]{43}/g,
  /\bberth_[0-9a-z]{10}[\w-]{43}/g,
  /\bwhsec_[\w+/]{32,}/g,
  /\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{20,}/g,
]

/** Finds the known secrets, and all texts that look like a token. */
export const findSecrets = (text: string, known: readonly string[] = []): string[] => [
  ...known.filter((secret) => text.includes(secret)),
  ...forms.flatMap((form) => text.match(form) ?? []),
]

/** Secrets in the environment of a server. */
export function listSecrets(env: Readonly<Record<string, string>>): string[] {
  const named = Object.entries(env).filter(([name]) => /(TOKEN|SECRET|PASSWORD)$/.test(name))
  const url = env['DATABASE_URL']
  const password = url === undefined ? '' : decodeURIComponent(new URL(url).password)
  return [...named.map(([, value]) => value), password].filter((secret) => secret.length >= 16)
}

/** Larger files contain output of a test. */
const searchedBytesMax = 64 * 1024 ** 2

/** Files that an account without special permissions can read. Running jobs may remove them meanwhile. */
export function* readOpenFiles(path: string): Generator<{ path: string; text: string }, void, void> {
  const stat = statSync(path, { throwIfNoEntry: false })
  try {
    if (stat?.isDirectory() && stat.mode & 0o001)
      for (const name of readdirSync(path)) yield* readOpenFiles(join(path, name))
    if (stat?.isFile() && stat.mode & 0o004 && stat.size <= searchedBytesMax)
      yield { path, text: readFileSync(path, 'latin1') }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

/** Number of times that a new process is read, because it may still execute another program. */
const newLooks = 10
/** Later, each call reads one of this many processes. */
const turns = 10

/**
 * Command lines, which every account can read. Reading those of all processes each time would take most of the time of
 * a test.
 */
export class CommandLines {
  #looks = new Map<string, number>()
  #turn = 0

  read(): string[] {
    const before = this.#looks
    this.#looks = new Map()
    this.#turn++
    return readdirSync('/proc').flatMap((id) => {
      if (!/^\d+$/.test(id)) return []
      const looks = (before.get(id) ?? 0) + 1
      this.#looks.set(id, looks)
      return looks <= newLooks || (Number(id) + this.#turn) % turns === 0 ? readCommandLine(id) : []
    })
  }
}

function readCommandLine(id: string): string[] {
  try {
    return [readFileSync(join('/proc', id, 'cmdline'), 'utf8').replaceAll('\0', ' ')]
  } catch {
    return [] // The process ended.
  }
}

/** Checks after every test that no secret is in the log of the server or in a file that others may read. */
export function checkLeaks(output: string, server: { dataDir: string; env?: Record<string, string> }): void {
  const known = listSecrets(server.env ?? {})
  const leaks = findSecrets(output, known).map((secret) => `the log has ${secret}`)
  for (const { path, text } of readOpenFiles(server.dataDir))
    leaks.push(...findSecrets(text, known).map((secret) => `${path} has ${secret}`))
  if (leaks.length > 0) throw new Error(leaks.join('\n'))
}
