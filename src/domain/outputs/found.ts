/** Files that an executor finds below the working directory of an ended run. */

export interface FoundOutput {
  /** Relative to the working directory. */
  path: string
  type: 'FILE' | 'LINK' | 'OTHER'
  /** null: the size is known only when the file is read; then `pick` is called again. */
  size: number | null
}

export interface OutputFile {
  path: string
  /** Must be read completely before the next file. */
  content: AsyncIterable<Uint8Array>
}

/** An unreadable file or folder, as a sentence for users. */
export interface Unread {
  unread: string
}

/** Yields the files that `pick` selects. */
export type OutputSource = (pick: (found: FoundOutput) => boolean) => AsyncIterable<OutputFile | Unread>
