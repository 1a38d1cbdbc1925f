import { watch } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { Log } from '../../platform/log.ts'

/**
 * The list of ended runs: one file to which every shim appends the id of its run at the end. One watch on it reports all
 * runs, also those of an earlier server. Only new lines are reported; a server that starts inspects its runs anyway. Any
 * reader empties a list that was read up to `listBytesMax`: without the list, polling finds the ends.
 */
export interface EndedRuns {
  close(): Promise<void>
}

const readBytesMax = 65_536
const listBytesMax = 65_536

export async function watchEndedRuns(path: string, log: Log, onEnded: (runId: string) => void): Promise<EndedRuns> {
  const file = await open(path, 'a+', 0o600)
  let { size: offset } = await file.stat()
  let reading: Promise<void> = Promise.resolve()
  const readOn = async () => {
    // Another reader emptied it.
    if ((await file.stat()).size < offset) offset = 0
    for (;;) {
      const lines = await completeLines(file, offset)
      if (lines === '') return trim()
      offset += Buffer.byteLength(lines)
      for (const runId of lines.trimEnd().split('\n')) onEnded(runId)
    }
  }
  const trim = async () => {
    if (offset < listBytesMax) return
    await file.truncate()
    offset = 0
  }
  const failed = (err: unknown) => log.warn({ err }, 'cannot watch for ended runs; polling meanwhile')
  await trim()
  const watcher = watch(path, { persistent: false }, () => {
    reading = reading.then(readOn).catch(failed)
  })
  watcher.on('error', failed)
  return {
    async close() {
      watcher.close()
      await reading
      await file.close()
    },
  }
}

async function completeLines(file: FileHandle, offset: number): Promise<string> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(readBytesMax), 0, readBytesMax, offset)
  return buffer.subarray(0, buffer.lastIndexOf(10, bytesRead) + 1).toString('latin1')
}
