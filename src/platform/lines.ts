import { appendFile, readFile } from 'node:fs/promises'

export async function appendLine(path: string, line: string): Promise<void> {
  await appendFile(path, `${line}\n`, { mode: 0o600, flush: true })
}

export const createFileIfMissing = (path: string): Promise<void> => appendFile(path, '', { mode: 0o600 })

export const readLines = async (path: string): Promise<string[]> => (await readFile(path, 'utf8')).split('\n')
