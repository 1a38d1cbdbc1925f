import { type FSWatcher, watch } from 'node:fs'
import type { Log } from '../../platform/log.ts'
import type { Alarm } from './alarms.ts'
import { readErrorCode } from './file-errors.ts'

interface DirectoryWatch {
  directory: string
  isRelevant(name: string): boolean
  alarm: Alarm
  log: Log
}

/** Rings the alarm when a relevant file of the directory changes; null: the directory must be polled. */
export function watchDirectory({ directory, isRelevant, alarm, log }: DirectoryWatch): FSWatcher | null {
  try {
    const watcher = watch(directory, { persistent: false }, (_, name) => {
      if (name === null || isRelevant(name)) alarm.ring()
    })
    return watcher.on('error', (err) => log.debug({ err, directory }, 'a watch of output ended; polling it'))
  } catch (err) {
    const isMissing = readErrorCode(err) === 'ENOENT'
    if (!isMissing) log.warn({ err, directory }, 'cannot watch the output of a run; polling it')
    return null
  }
}
