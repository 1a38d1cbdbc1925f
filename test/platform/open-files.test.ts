import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { root } from '../support/sources.ts'

test.runIf(process.platform === 'linux')('openFilesMax is the limit of open files of the process', () => {
  const module = pathToFileURL(join(root, 'src/platform/open-files.ts')).href
  const program = `import { openFilesMax } from '${module}'; console.log(openFilesMax())`
  const command = 'ulimit -n 300 && exec "$0" --input-type=module -e "$1"'
  expect(execFileSync('/bin/sh', ['-c', command, process.execPath, program], { encoding: 'utf8' })).toBe('300\n')
})
