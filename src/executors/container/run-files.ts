import type { RunSpec } from '../executor.ts'
import { buildNodeFile } from '../process/launchers.ts'

/** A file of a run in its container; the environment variable `variable` contains its path. */
export interface RunFile {
  path: string
  variable: string
  text: string
}

/**
 * A file directly in the root directory replaces a link of the image; in another directory, a link could lead it into a
 * mounted folder. Every account in the container may read the files; outside, only root can.
 */
const kinds = [
  { path: '/.berth-closure.json', variable: 'BERTH_CLOSURE', textOf: ({ closure }: RunSpec) => closure },
  { path: '/.berth-nodes', variable: 'PSIJ_NODEFILE', textOf: buildNodeFile },
] as const

/** File in which init.sh notes that the command ended, whether TERM came before, and the exit code. */
export const notePath = '/.berth-note'
/** Empty, and every account can write it. */
export const noteFile = { path: notePath, mode: 0o666 }

export const runFileMode = 0o444

export const listRunFiles = (run: RunSpec): RunFile[] =>
  kinds.flatMap(({ path, variable, textOf }) => {
    const text = textOf(run)
    return text === null ? [] : [{ path, variable, text }]
  })
