import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { findPython } from './python.ts'

/**
 * If `python3` is the script of a version manager, puts its interpreter first in the PATH, because the script takes
 * several times the processor time of a small program.
 */
export default function setup() {
  const { PATH = '' } = process.env
  const found = PATH.split(delimiter)
    .map((folder) => join(folder, 'python3'))
    .find(existsSync)
  if (!found || !isScript(found)) return
  const python = findPython()
  if (python) process.env['PATH'] = [dirname(python), PATH].join(delimiter)
}

function isScript(path: string): boolean {
  const file = openSync(path, 'r')
  const start = Buffer.alloc(2)
  readSync(file, start)
  closeSync(file)
  return start.toString() === '#!'
}
