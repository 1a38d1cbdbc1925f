import { randomBytes } from 'node:crypto'
import { linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from './value.ts'

/** The paths of the files with the keys that encrypt secrets: 32 random bytes in base64. */
export interface SecretKeyFiles {
  /** null: `secrets.key` of the data directory, which the first start creates. */
  readonly keyFile: string | null
  readonly oldKeyFile: string | null
}

const keyBytes = 32
const remedy = 'write a new key with: umask 077; openssl rand -base64 32 > FILE'

export function readSecretKeyFiles(
  { keyFile, oldKeyFile }: SecretKeyFiles,
  dataDir: string,
): [Uint8Array, ...Uint8Array[]] {
  const path = keyFile ?? join(dataDir, 'secrets.key')
  if (keyFile === null) makeKeyFile(path)
  return [readKey('secrets.keyFile', path), ...(oldKeyFile === null ? [] : [readKey('secrets.oldKeyFile', oldKeyFile)])]
}

/** Creates the file by a link, which appears at once: no server reads half a key, and the first server wins. */
function makeKeyFile(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })) return
  const made = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`
  writeFileSync(made, `${randomBytes(keyBytes).toString('base64')}\n`, { mode: 0o600, flush: true })
  try {
    linkSync(made, path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(made)
  }
}

function readKey(setting: string, path: string): Uint8Array {
  const refuse = (reason: string, next: string) =>
    new ConfigError([{ path: setting, reason: `${JSON.stringify(path)} ${reason}`, remedy: next }])
  let text: string
  try {
    text = readFileSync(path, 'utf8').trim()
  } catch (error) {
    throw refuse(`cannot be read (${error instanceof Error ? error.message : error})`, remedy)
  }
  if ((statSync(path).mode & 0o007) !== 0) throw refuse('is open to every account', `chmod o= ${path}`)
  const key = Buffer.from(text, 'base64')
  if (key.length !== keyBytes || key.toString('base64') !== text) throw refuse('is not 32 bytes in base64', remedy)
  return key
}
