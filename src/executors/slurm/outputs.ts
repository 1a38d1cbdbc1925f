import { lstat, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { FoundOutput, OutputFile, Unread } from '../../domain/outputs/found.ts'
import { nullIfMissing, nullOnCode } from '../backend/file-errors.ts'
import { readOutputs, Tool, type Workdir } from '../backend/outputs.ts'
import type { RunDirectory } from './run-files.ts'

/**
 * Reads the output files of a run below its working directory, as the owner of the directory of the run. This machine may have
 * another folder at the same path, so the inode must be the one that the node recorded (batch.sh).
 */
export async function* readSlurmOutputs(
  { directory }: RunDirectory,
  pick: (found: FoundOutput) => boolean,
  signal: AbortSignal,
): AsyncGenerator<OutputFile | Unread> {
  const owner = await nullIfMissing(lstat(directory))
  const text = await nullOnCode('EINVAL', nullIfMissing(readlink(join(directory, 'workdir'))))
  const [, inode = '', cwd = ''] = /^(\d+) (\/.*)$/s.exec(text ?? '') ?? []
  if (!owner) return
  if (cwd === '') return yield { unread: 'the run recorded no working directory' }
  const workdir: Workdir = { cwd, account: owner.uid === process.getuid?.() ? null : owner }
  const look = ['find', '-H', cwd, '-maxdepth', '0', '-type', 'd', '-inum', inode, '-printf', '%y 0 \\0']
  const looking = new Tool(workdir, look, signal)
  let isSame = false
  for await (const _ of looking.lines()) isSame = true
  yield* looking.end()
  if (isSame) return yield* readOutputs(workdir, pick, signal)
  yield { unread: `the folder ${JSON.stringify(cwd)} of the node is not visible to the server` }
}
