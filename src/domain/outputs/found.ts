/** Files that an executor finds below the working directory of a run that is over. */

export interface FoundOutput {
  /** Relative to the working directory. */
  path: string
  type: 'FILE' | 'LINK' | 'OTHER'
  /** null: known only when the file is read; `pick` is asked again then. */
  size: number | null
}

export interface OutputFile {
  path: string
  /** Is read to its end before the next file. */
  content: AsyncIterable<Uint8Array>
}

/** Something that could not be read, as a sentence for people. */
export interface Unread {
  unread: string
}

/** Yields the files that `pick` takes. */
export type OutputSource = (pick: (found: FoundOutput) => boolean) => AsyncIterable<OutputFile | Unread>
