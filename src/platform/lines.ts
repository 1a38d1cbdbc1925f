import { appendFile, readFile } from 'node:fs/promises'

/** A file to which lines are only ever added. */
export async function appendLine(path: string, line: string): Promise<void> {
  await appendFile(path, `${line}\n`, { mode: 0o600, flush: true })
}

/** Makes the file when it is not there. */
export const createLines = (path: string): Promise<void> => appendFile(path, '', { mode: 0o600 })

export const readLines = async (path: string): Promise<string[]> => (await readFile(path, 'utf8')).split('\n')
