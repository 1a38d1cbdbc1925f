import ignore from 'ignore'
import { findPathTrouble } from '../snapshots/file-list.ts'
import type { FoundOutput } from './found.ts'

/** Selects the files of a run that become artifacts, and explains why others are skipped. */

export interface OutputLimits {
  bytesMax: number
  filesMax: number
  /** Maximum total size of the contents of a user. */
  userBytesMax: number
}

const namedMax = 20
const nameCharactersMax = 200

/** Maximum number of skipped files that are named for each reason. */
export class Skipped {
  readonly #named: string[] = []
  #count = 0

  add(path: string, why: string): void {
    this.say(`${JSON.stringify(path.slice(0, nameCharactersMax).toWellFormed())} ${why}`)
  }

  say(sentence: string): void {
    this.#count += 1
    if (this.#named.length < namedMax) this.#named.push(sentence)
  }

  /** null: no file was skipped. */
  get text(): string | null {
    const more = this.#count - this.#named.length
    if (this.#count === 0) return null
    return [...this.#named, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
  }
}

/** Selects files in the order in which they are found, up to the limits. */
export function createPick(
  patterns: readonly string[],
  { bytesMax, filesMax }: Pick<OutputLimits, 'bytesMax' | 'filesMax'>,
  skipped: Skipped,
): (found: FoundOutput) => boolean {
  const wanted = ignore({ allowRelativePaths: true }).add([...patterns])
  let bytes = 0
  let files = 0
  return ({ path, type, size }) => {
    if (!wanted.ignores(path)) return false
    if (size === null) return true
    const trouble = findPathTrouble(path) ?? typeTroubles[type]
    if (trouble !== null) skipped.add(path, trouble)
    else if (files >= filesMax) skipped.add(path, `is above the ${filesMax} files of a run`)
    else if (bytes + size > bytesMax)
      skipped.add(path, `has ${size} bytes and does not fit into files.outputsBytesMax, which is ${bytesMax}`)
    else {
      files += 1
      bytes += size
      return true
    }
    return false
  }
}

const typeTroubles = { FILE: null, LINK: 'is a link', OTHER: 'is not a regular file' } as const
