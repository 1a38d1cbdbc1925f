import { sleepFor } from '../../client/connection/sleep.ts'
import {
  type ArtifactKind,
  type ArtifactRowFragment,
  ArtifactsDocument,
  OutputsPendingDocument,
} from '../../client/generated/graphql.ts'
import type { Cli } from '../frame/cli.ts'
import { exitCodes, Stop, unknownJob } from '../frame/exit.ts'
import { waitUntilFinal } from '../showing/watch.ts'
import { readEveryNode } from './pages.ts'

/** The files of a job, and when they are available. */

const attempts = 6

export async function readArtifacts(cli: Cli, id: string): Promise<readonly ArtifactRowFragment[]> {
  return readEveryNode(async (page: { first: number; after: string | null }) => {
    const { job } = await cli.connection().request(ArtifactsDocument, { id, ...page }, { attempts, signal: cli.ended })
    if (!job) throw unknownJob(id)
    return job.artifacts
  })
}

/** Finds the newest artifact of these kinds with the name. */
export async function findFile(
  cli: Cli,
  id: string,
  path: string,
  kinds: readonly ArtifactKind[] = ['FILE', 'TEXT'],
): Promise<ArtifactRowFragment> {
  const found = (await readArtifacts(cli, id)).findLast(({ name, kind }) => name === path && kinds.includes(kind))
  if (found) return found
  throw new Stop(exitCodes.notFound, `${path} is not a file of ${id}`, `"berth artifact ls ${id}" lists them`)
}

/** Like `findFile`, but waits for the output files of the job if it lacks the file. */
export async function awaitFile(cli: Cli, id: string, path: string): Promise<ArtifactRowFragment> {
  try {
    return await findFile(cli, id, path)
  } catch (error) {
    if (!(error instanceof Stop)) throw error
    await waitForOutputs(cli, id)
    return findFile(cli, id, path)
  }
}

const pollMs = 500
/** After about this time, the server gives up files that it cannot read. */
const storingMsMax = 30 * 60_000

/** Waits until the output files of the job are stored. */
export async function waitForOutputs(cli: Cli, id: string): Promise<void> {
  for (let waitedMs = 0; ; waitedMs += pollMs) {
    const { job } = await cli.connection().request(OutputsPendingDocument, { id }, { attempts, signal: cli.ended })
    if (!job?.currentRun.outputsPending) return
    if (waitedMs === 0) cli.terminal.say(`waiting for the output files of ${id}, which are stored when it ends`)
    if (waitedMs >= storingMsMax)
      throw new Stop(
        exitCodes.refused,
        `the output files of ${id} are not stored yet`,
        `"berth artifact get ${id} PATH" copies a file that is stored`,
      )
    if (job.stateCategory !== 'FINAL') await waitUntilFinal(cli, id)
    await sleepFor(pollMs, cli.ended)
  }
}
